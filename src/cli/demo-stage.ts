// The stage of the demo: a bare repository, clones, and runs of this very command line, all in a temporary folder.
import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onOut } from "./speak.js";

/** Windows cannot stop and continue a process. There a person declares the third run dead instead. */
export const canFreeze = process.platform !== "win32";

export interface Played {
  pid: number | undefined;
  ended: Promise<{ code: number; stderr: string }>;
  until(pattern: RegExp): Promise<void>;
}

export type Stage = Awaited<ReturnType<typeof openStage>>;

export async function openStage() {
  const folder = await mkdtemp(join(tmpdir(), "fencepost-demo-"));
  const origin = join(folder, "server.git");
  const identity = { NAME: "demo", EMAIL: "demo@example.org" };
  const roles = ["AUTHOR", "COMMITTER"].flatMap((role) =>
    Object.entries(identity).map(([part, value]) => [`GIT_${role}_${part}`, value]),
  );
  // The person's own settings and hooks have no part in the demo.
  const env = {
    ...process.env,
    ...Object.fromEntries(roles),
    GIT_CONFIG_GLOBAL: join(folder, "gitconfig"),
    GIT_CONFIG_NOSYSTEM: "1",
  };
  await writeFile(join(folder, "gitconfig"), "");
  const out = (text: string) => process.stdout.write(`${text}\n`);
  const gitIn = (cwd: string, ...args: string[]) =>
    execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  gitIn(folder, "init", "-q", "--bare", origin);
  gitIn(origin, "symbolic-ref", "HEAD", "refs/heads/main");
  const clone = (name: string) => {
    gitIn(folder, "clone", "-q", origin, name);
    return join(folder, name);
  };
  const seed = clone("seed");
  gitIn(seed, "commit", "-q", "--allow-empty", "-m", "an empty blog");
  gitIn(seed, "push", "-q", "origin", "HEAD:refs/heads/main");
  const show = (text: string) => {
    for (const line of text.trimEnd().split("\n")) out(`   ${onOut.dim("|")} ${line}`);
  };
  const children = new Set<number>();

  /** Plays a command; quietly where the story shows it later. */
  function run(cwd: string, args: string[], quietly = false): Played {
    const shown = args.map((arg) =>
      arg === process.execPath ? "node" : / /.test(arg) ? JSON.stringify(arg) : arg,
    );
    const line = shown.join(" ").replace(/ -e ".*$/s, " -e …");
    out(`   ${onOut.bold(`$ fencepost ${line}`)}`);
    const child = spawn(process.execPath, [process.argv[1] ?? "", ...args], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: canFreeze,
    });
    if (child.pid) children.add(child.pid);
    let stdout = "";
    let stderr = "";
    let wake = () => {};
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
      wake();
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
      wake();
    });
    const ended = new Promise<{ code: number; stderr: string }>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => {
        if (child.pid) children.delete(child.pid);
        if (!quietly) show(stderr);
        resolve({ code: code ?? 1, stderr });
        wake();
      });
    });
    const until = (pattern: RegExp) =>
      new Promise<void>((resolve, reject) => {
        wake = () => {
          if (pattern.test(stdout + stderr)) resolve();
          else if (child.exitCode !== null) reject(new Error(`the demo's run ended early:\n${stderr}`));
        };
        wake();
      });
    return { pid: child.pid, ended, until };
  }

  return {
    folder,
    origin,
    clone,
    run,
    show,
    git: (...args: string[]) => gitIn(origin, ...args),
    token: () =>
      Number(/#(\d+)/.exec(gitIn(origin, "log", "-1", "--format=%s", "fencepost/lease/blog"))?.[1]),
    title: (text: string) => out(`\n${onOut.bold(onOut.cyan(text))}`),
    tell: (text: string) => out(`   ${text}`),
    evidence(what: string | undefined, ...args: string[]) {
      if (what) out(`   ${onOut.dim(`git ${args[0]}: ${what}`)}`);
      show(gitIn(origin, ...args));
    },
    async close() {
      for (const pid of children)
        try {
          process.kill(canFreeze ? -pid : pid, "SIGKILL");
        } catch {
          // It has ended by itself.
        }
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}
