// A Postgres server of one test: in a temporary folder, on a socket there, as a user that it accepts.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";

export interface Postgres {
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ rowCount: number | null; rows: Record<string, unknown>[] }>;
  stop(): Promise<void>;
}

/** The folder of its programs, or null where there is none. */
export function findPostgres(): string | null {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  return (
    versions.map((version) => join(debian, version, "bin")).find((bin) => existsSync(join(bin, "initdb"))) ??
    null
  );
}

export async function startPostgres(bin: string): Promise<Postgres> {
  const folder = mkdtempSync(join(tmpdir(), "fp-postgres-"));
  const data = join(folder, "data");
  // It refuses to run as root.
  const owner = process.getuid?.() === 0 ? ids("postgres") : null;
  if (owner) chownSync(folder, owner.uid, owner.gid);
  chmodSync(folder, 0o700);
  const options = { ...(owner ?? {}), cwd: folder, env: { PATH: process.env.PATH, LANG: "C.UTF-8" } };
  const made = spawnSync(
    join(bin, "initdb"),
    ["-D", data, "-U", "test", "--auth=trust", "--no-sync"],
    options,
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const settings = ["-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"];
  const server = spawn(join(bin, "postgres"), ["-D", data, ...settings], { ...options, stdio: "ignore" });
  const ended = new Promise<void>((resolve) => server.on("close", () => resolve()));
  const pool = new pg.Pool({ host: folder, user: "test", database: "postgres" });
  pool.on("error", () => {});
  for (let tries = 0; ; tries++) {
    try {
      await pool.query("SELECT 1");
      break;
    } catch (error) {
      if (tries > 200 || server.exitCode !== null) throw error;
      await delay(50);
    }
  }
  return {
    query: (text, values) => pool.query(text, values),
    async stop() {
      await pool.end();
      server.kill("SIGINT");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function ids(user: string): { uid: number; gid: number } {
  const id = (flag: string) => Number(spawnSync("id", [flag, user], { encoding: "utf8" }).stdout);
  return { uid: id("-u"), gid: id("-g") };
}
