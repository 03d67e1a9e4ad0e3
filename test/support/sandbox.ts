// A folder of its own for one test: a bare repository, clones, a clean git environment, and the bundled command line.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const bundle = fileURLToPath(new URL("../../dist/cli/index.js", import.meta.url));

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export interface Running {
  child: ChildProcess;
  ended: Promise<Ended>;
  /** What standard error says so far. */
  said(): string;
  /** Resolves when standard output or standard error has matched. */
  until(pattern: RegExp): Promise<void>;
}

export interface Sandbox {
  folder: string;
  /** The bare repository that holds main and the leases. */
  origin: string;
  env: NodeJS.ProcessEnv;
  git(cwd: string, ...args: string[]): string;
  /** A clone with an identity; further arguments go to `git clone`. */
  clone(name: string, ...args: string[]): string;
  /** Commits a file in a clone and returns the commit. */
  commit(clone: string, file: string, content?: string): string;
  /** The oid of a ref of the bare repository, or "". */
  tip(ref: string): string;
  /** Starts the command line. In its own process group, so that the whole of it can be stopped or killed. */
  start(args: string[], options?: { cwd?: string; env?: NodeJS.ProcessEnv; node?: string }): Running;
  cli(args: string[], options?: { cwd?: string; env?: NodeJS.ProcessEnv; node?: string }): Promise<Ended>;
  dispose(): void;
}

export function sandbox(): Sandbox {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "fp-test-")));
  const home = join(folder, "home");
  const temp = join(folder, "tmp");
  for (const path of [home, temp]) mkdirSync(path);
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: home,
    TMPDIR: temp,
    LANG: "C.UTF-8",
    GIT_CONFIG_GLOBAL: join(home, "gitconfig"),
    GIT_CONFIG_NOSYSTEM: "1",
  };
  writeFileSync(join(home, "gitconfig"), "[init]\n\tdefaultBranch = main\n");
  const origin = join(folder, "origin.git");
  const groups: number[] = [];

  const git = (cwd: string, ...args: string[]) =>
    execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();

  git(folder, "init", "--quiet", "--bare", "-b", "main", origin);
  git(origin, "config", "uploadpack.allowFilter", "true");
  git(origin, "config", "uploadpack.allowAnySHA1InWant", "true");

  const box: Sandbox = {
    folder,
    origin,
    env,
    git,
    clone(name, ...args) {
      const path = join(folder, name);
      const from = args.some((arg) => arg.includes("://")) ? [] : [origin];
      git(folder, "clone", "--quiet", ...args, ...from, path);
      git(path, "config", "user.name", "Writer");
      git(path, "config", "user.email", "writer@example.org");
      return path;
    },
    commit(clone, file, content = `${file}\n`) {
      writeFileSync(join(clone, file), content);
      git(clone, "add", "--", file);
      git(clone, "commit", "--quiet", "-m", `add ${file}`);
      return git(clone, "rev-parse", "HEAD");
    },
    tip(ref) {
      return git(origin, "for-each-ref", "--format=%(objectname)", ref);
    },
    start(args, options = {}) {
      const child = spawn(options.node ?? process.execPath, [bundle, ...args], {
        cwd: options.cwd ?? folder,
        env: { ...env, ...options.env },
        stdio: ["ignore", "pipe", "pipe"],
        detached: true,
      });
      if (child.pid) groups.push(child.pid);
      let stdout = "";
      let stderr = "";
      const waiting = new Set<() => void>();
      const wake = () => {
        for (const check of waiting) check();
      };
      child.stdout.on("data", (chunk) => {
        stdout += chunk;
        wake();
      });
      child.stderr.on("data", (chunk) => {
        stderr += chunk;
        wake();
      });
      const ended = new Promise<Ended>((resolve) =>
        child.on("close", (code, signal) => {
          resolve({ code: code ?? (signal ? 255 : 0), stdout, stderr });
          wake();
        }),
      );
      const until = (pattern: RegExp) =>
        new Promise<void>((resolve, reject) => {
          const check = () => {
            if (!pattern.test(stdout) && !pattern.test(stderr)) {
              if (child.exitCode === null && child.signalCode === null) return;
              waiting.delete(check);
              return reject(new Error(`ended without ${pattern}:\n${stdout}${stderr}`));
            }
            waiting.delete(check);
            resolve();
          };
          waiting.add(check);
          check();
        });
      return { child, ended, said: () => stderr, until };
    },
    cli: (args, options) => box.start(args, options).ended,
    dispose() {
      for (const pid of groups)
        try {
          process.kill(-pid, "SIGKILL");
        } catch {
          // Nobody is left in that group.
        }
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  const seed = box.clone("seed");
  box.commit(seed, "README");
  git(seed, "push", "--quiet", "origin", "HEAD:main");
  return box;
}

/** The record at the tip of a lease, as JSON. */
export function leaseRecord(box: Sandbox, ref: string): Record<string, unknown> {
  const message = box.git(box.origin, "log", "-1", "--format=%B", ref);
  return JSON.parse(message.slice(message.indexOf("\n\n")));
}

/** A path for the lease branch of a plain name. */
export const leaseRef = (name: string) => `refs/heads/fencepost/lease/${name}`;
