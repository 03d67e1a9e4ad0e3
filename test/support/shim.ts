// Puts a program named `git` before the real one: to see what git is called with, and to weaken single guards.
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Sandbox } from "./sandbox.js";

export interface Shim {
  /** The PATH that finds the shim first. */
  env: { PATH: string };
  /** Every call so far, an argument a line, calls separated by an empty line. */
  calls(): string;
}

/**
 * `rewrite` is JavaScript over `args` (an array of strings), run before each call of git. The shim is for tests of
 * what a guard is good for: with the guard rewritten away, the late write must come through.
 */
export function gitShim(box: Sandbox, rewrite = ""): Shim {
  const folder = join(box.folder, `shim-${Math.random().toString(36).slice(2)}`);
  const log = join(folder, "calls");
  mkdirSync(folder);
  writeFileSync(log, "");
  const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const program = join(folder, "git");
  writeFileSync(
    program,
    `#!${process.execPath}
const { spawnSync } = require("node:child_process");
const { appendFileSync } = require("node:fs");
let args = process.argv.slice(2);
${rewrite}
appendFileSync(${JSON.stringify(log)}, args.join("\\n") + "\\n\\n");
const done = spawnSync(${JSON.stringify(real)}, args, { stdio: "inherit" });
process.exit(done.status ?? 255);
`,
  );
  chmodSync(program, 0o755);
  return { env: { PATH: `${folder}:${box.env.PATH}` }, calls: () => readFileSync(log, "utf8") };
}
