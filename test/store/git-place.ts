// A folder with a bare repository in it, and git settings that come from nowhere else.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemChance } from "../../src/chance.js";
import { type Clock, systemClock } from "../../src/clock.js";
import type { Remote } from "../../src/git/remote.js";
import { gitStore } from "../../src/store/git.js";
import type { Store } from "../../src/store/store.js";

/** Nothing here has to outlive a power failure. */
const unsynced = "[core]\n\tfsync = none\n";

export interface GitPlace {
  folder: string;
  /** The bare repository. */
  origin: string;
  git(cwd: string, ...args: string[]): string;
  /** The commit at a ref of the bare repository, or "". */
  tip(ref: string): string;
  /** Installs a hook in the bare repository: a shell script, which may use `$FOLDER`. */
  hook(name: string, script: string): void;
  /** Writes an executable shell script into the folder and returns its path. */
  script(name: string, text: string): string;
  /** Sets the user's own git settings. */
  settings(text: string): void;
  /** The lines of a file in the folder; none if there is no such file. */
  lines(file: string): string[];
  store(remote: Remote): Store;
  /** What stands in the folder for temporary files. */
  temporary(): string[];
  /** The command lines of programs that work in the folder. */
  processes(): string[];
  dispose(): Promise<void>;
}

/** A clock that stands still, and whose waits are real but short. */
function stillClock(wall = Date.UTC(2026, 2, 1, 12)): Clock {
  return {
    read: () => ({ wall, monotonic: 0 }),
    sleep: (ms, signal) => systemClock.sleep(ms / 20, signal),
  };
}

export function gitPlace(): GitPlace {
  const before = { ...process.env };
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "fp-place-")));
  const temp = join(folder, "temp");
  const home = join(folder, "home");
  const origin = join(folder, "origin.git");
  mkdirSync(temp);
  mkdirSync(home);
  const settings = (text: string) => writeFileSync(join(home, "settings"), `${unsynced}${text}`);
  settings("");
  for (const key of Object.keys(process.env)) if (key.startsWith("GIT_")) delete process.env[key];
  Object.assign(process.env, {
    HOME: home,
    TMPDIR: temp,
    GIT_CONFIG_GLOBAL: join(home, "settings"),
    GIT_CONFIG_NOSYSTEM: "1",
  });
  const git = (cwd: string, ...args: string[]) =>
    execFileSync("git", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
  git(folder, "init", "--quiet", "--bare", "--initial-branch=main", origin);
  const executable = (path: string, text: string) => {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, `#!/bin/sh\nFOLDER='${folder}'\n${text}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const stores: Store[] = [];
  return {
    folder,
    origin,
    git,
    tip: (ref) => git(origin, "for-each-ref", "--format=%(objectname)", ref),
    hook: (name, script) => executable(join(origin, "hooks", name), script),
    script: (name, text) => executable(join(folder, name), text),
    settings,
    lines: (file) => {
      const path = join(folder, file);
      return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
    },
    store(remote) {
      const store = gitStore({ remote, prefix: "fencepost", clock: stillClock(), chance: systemChance });
      stores.push(store);
      return store;
    },
    temporary: () => readdirSync(temp),
    processes: () =>
      execFileSync("ps", ["-axww", "-o", "args="], { encoding: "utf8" })
        .split("\n")
        .filter((line) => line.includes(folder)),
    async dispose() {
      await Promise.all(stores.map((store) => store.close()));
      for (const key of Object.keys(process.env)) if (!(key in before)) delete process.env[key];
      Object.assign(process.env, before);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
