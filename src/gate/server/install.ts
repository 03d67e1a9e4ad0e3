// Puts the gate into a bare repository on this machine, and looks at one: never over somebody else's hook.
import { spawnSync } from "node:child_process";
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { git, gitOutput } from "../../git/program.js";
import { type HookName, hookAt, hookText, type Layout, layoutOf, versionQuestion } from "./hook.js";
import { parseEntries, readSettings, type Settings, settingPattern } from "./settings.js";

/** A repository that a gate can be in. */
export interface Guarded {
  folder: string;
  layout: Layout;
}

export async function findGuarded(path: string): Promise<Guarded> {
  const answer = await gitOutput({
    cwd: path,
    args: ["rev-parse", "--git-common-dir", "--git-path", "hooks"],
  });
  const [folder = ".", hooks = "hooks"] = answer.split("\n").map((line) => resolve(path, line));
  return { folder, layout: layoutOf(folder, hooks) };
}

/** Hooks of somebody else that stand where ours would go. */
export function foreignHooks({ layout }: Guarded): { name: HookName; file: string }[] {
  return layout.hooks.filter(({ file }) => hookAt(file) === "foreign");
}

/**
 * Writes the program and its hooks; what is ours already is replaced, and what calls us already is left alone.
 * @returns the hooks that were written.
 */
export function installGate({ folder, layout }: Guarded, program: Buffer, node: string): string[] {
  const owner = statSync(folder);
  const written: string[] = [];
  replace(layout.gate, program, 0o644);
  for (const { name, file } of layout.hooks) {
    const there = hookAt(file);
    if (there === "chained") continue;
    makeFolder(dirname(file));
    // Node resolves what a hook imports from the folder that it really is in.
    const [from, to] = [dirname(file), dirname(layout.gate)].map((path) => realpathSync(path));
    const text = hookText(name, from as string, join(to as string, basename(layout.gate)), node);
    if (there === "ours") replace(file, text, 0o755);
    // Fails where somebody else's came into being meanwhile.
    else writeOwned(file, text, 0o755, "wx");
    written.push(file);
  }
  return written;

  /** Whole or not at all, since a push may be starting it. */
  function replace(file: string, content: Buffer | string, mode: number): void {
    makeFolder(dirname(file));
    writeOwned(`${file}.new`, content, mode, "w");
    renameSync(`${file}.new`, file);
  }

  function writeOwned(file: string, content: Buffer | string, mode: number, flag: "w" | "wx"): void {
    writeFileSync(file, content, { mode, flag });
    chmodSync(file, mode);
    own(file);
  }

  function makeFolder(path: string): void {
    if (mkdirSync(path, { recursive: true }) !== undefined) own(path);
  }

  /** Installed by root, it still is of the user that git runs as. */
  function own(path: string): void {
    if (process.getuid?.() === 0) chownSync(path, owner.uid, owner.gid);
  }
}

export interface Setting {
  pattern: string;
  lease?: string | undefined;
  fence?: string | undefined;
  drafts?: boolean | undefined;
}

/** Protects a pattern in the repository's own settings. */
export async function protect(
  { folder }: Guarded,
  { pattern, lease, fence, drafts }: Setting,
): Promise<void> {
  const set = (key: string, value: string) =>
    gitOutput({
      cwd: folder,
      args: ["config", "--local", "--replace-all", `fencepost.${pattern}.${key}`, value],
    });
  if (lease !== undefined) await set("lease", lease);
  if (fence !== undefined) await set("fence", fence);
  if (drafts !== undefined) await set("drafts", String(drafts));
}

export interface HookState {
  name: HookName;
  file: string;
  state: "in place" | "chained" | "absent" | "foreign" | "broken";
  version?: string;
}

export interface Inspection {
  settings: Settings;
  hooks: HookState[];
  /** `transaction`: late writes are refused in the transaction itself. `push`: before it. `off`: not at all. */
  enforced: "transaction" | "push" | "off";
  problems: string[];
}

/** `program`: what this version would install. */
export async function inspectGate(guarded: Guarded, program: Buffer): Promise<Inspection> {
  const { folder, layout } = guarded;
  const entries = await settingsOf(folder);
  const settings = readSettings(entries);
  const hooks = layout.hooks.map(({ name, file }) => stateOf(name, file));
  const active = new Set(
    hooks.filter((hook) => hook.version !== undefined || hook.state === "chained").map((h) => h.name),
  );
  // Only a ref shows whether two patterns disagree about it, and a pattern without wildcards is one.
  const asked = settings.own.map(({ pattern }) => settings.ruleOf(pattern));
  const disagreed = asked.flatMap((rule) => (rule && "problem" in rule ? [rule.problem] : []));
  const problems = [...new Set([...settings.problems, ...disagreed])];
  if (settings.own.length + settings.general.length === 0)
    problems.push("nothing is protected: fencepost gate install --protect refs/heads/main --lease NAME");
  for (const { name, file, state } of hooks) {
    if (state === "absent") problems.push(`there is no ${name} hook: fencepost gate install`);
    if (state === "foreign") problems.push(`${file} is somebody else's, and does not call the gate`);
    if (state === "broken") problems.push(`${file} cannot be started: ${why(file)}`);
  }
  if (hooks.some(({ state }) => state === "in place" || state === "broken") && !sameAs(layout.gate, program))
    problems.push("the program in the repository is not the one of this version: fencepost gate install");
  const version = await gitOutput({ args: ["version"] });
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number);
  const transactions = major > 2 || (major === 2 && minor >= 28);
  if (!transactions) problems.push(`${version.trim()} knows no reference-transaction hook; 2.28 does`);
  const value = (key: string) => entries.findLast(([name]) => name === key)?.[1]?.toLowerCase();
  if (value("receive.advertiseatomic") === "false")
    problems.push("receive.advertiseAtomic is false, so nobody can push behind the fence");
  if (settings.allow.length > 0 && value("receive.advertisepushoptions") !== "true")
    problems.push("fencepost.allow needs receive.advertisePushOptions = true, or nobody can use it");
  const enforced =
    active.has("reference-transaction") && transactions
      ? "transaction"
      : active.has("pre-receive")
        ? "push"
        : "off";
  return { settings, hooks, enforced, problems };
}

async function settingsOf(folder: string) {
  const pattern = `${settingPattern}|^receive\\.advertise`;
  const reply = await git({ cwd: folder, args: ["config", "--null", "--get-regexp", pattern] });
  return parseEntries(reply.stdout.toString("utf8"));
}

/** A hook is asked through the same door as git would use. */
function stateOf(name: HookName, file: string): HookState {
  const found = hookAt(file);
  const windows = process.platform === "win32";
  // Somebody else's hook may do anything, so it is looked at and not run.
  if (found === "chained" && !windows && !isExecutable(file)) return { name, file, state: "broken" };
  if (found !== "ours") return { name, file, state: found };
  const [command, ...args] = windows ? [process.execPath, file] : [file];
  const reply = spawnSync(command as string, [...args, versionQuestion], {
    encoding: "utf8",
    timeout: 20_000,
  });
  if (reply.status !== 0) return { name, file, state: "broken" };
  return { name, file, state: "in place", version: reply.stdout.trim() };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function why(file: string): string {
  if (!isExecutable(file)) return "it is not executable, so git ignores it";
  const [start = ""] = readFileSync(file, "utf8").split("\n");
  return `look whether ${start.slice(2)} is there, and Node 20.3 or newer`;
}

function sameAs(file: string, program: Buffer): boolean {
  try {
    return readFileSync(file).equals(program);
  } catch {
    return false;
  }
}
