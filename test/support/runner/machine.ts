// The machine of one job: fresh folders, a bare environment, and a tracking id for its processes.
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { RunOptions } from "./options.js";
import { killOrphans, type Orphan, trackingVariable } from "./orphans.js";

export interface Machine {
  workspace: string;
  temp: string;
  toolCache: string;
  /** Of the Node that runs JavaScript actions. */
  node: string;
  /** What every process inherits. */
  env: Record<string, string>;
  killProcesses(): Promise<Orphan[]>;
  /** Ends every process and removes every folder. */
  dispose(): Promise<void>;
}

export async function startMachine(repository: string, options: RunOptions): Promise<Machine> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "fencepost-runner-")));
  const name = repository.split("/").at(-1) ?? repository;
  const at = { home: join(root, "home"), temp: join(root, "_temp"), toolCache: join(root, "toolcache") };
  const workspace = join(root, "work", name, name);
  for (const folder of [...Object.values(at), workspace]) await mkdir(folder, { recursive: true });
  const trackingId = `github_${randomUUID()}`;
  const killProcesses = () => killOrphans(trackingId);
  return {
    workspace,
    temp: at.temp,
    toolCache: at.toolCache,
    node: options.node ?? nodeOfPackage(),
    env: {
      PATH: process.env.PATH ?? "",
      LANG: process.env.LANG ?? "C.UTF-8",
      HOME: at.home,
      ...options.env,
      [trackingVariable]: trackingId,
    },
    killProcesses,
    async dispose() {
      await killProcesses();
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function nodeOfPackage(): string {
  return join(dirname(createRequire(import.meta.url).resolve("node/package.json")), "bin", "node");
}
