// The repository that a hook runs in: its settings and objects, with two git processes and without a list of its refs.
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type GitReply, git, lastWords } from "../../git/program.js";
import { type RawObject, readObjects } from "../../git/records.js";
import { parseEntries, readSettings, type Settings, settingPattern } from "./settings.js";

/** Where git says that the repository and the objects of the push are; our own calls of git usually forget it. */
function here(env: NodeJS.ProcessEnv): Record<string, string> {
  const names = ["DIR", "OBJECT_DIRECTORY", "ALTERNATE_OBJECT_DIRECTORIES", "QUARANTINE_PATH", "COMMON_DIR"];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = env[`GIT_${name}`];
      return value === undefined ? [] : [[`GIT_${name}`, value]];
    }),
  );
}

const run = (args: readonly string[], call: { input?: string } = {}): Promise<GitReply> =>
  git({ ...call, args, env: here(process.env) });

/** The folder of the repository. */
export const gitFolder = () => resolve(process.env.GIT_DIR ?? ".");

export async function settingsHere(): Promise<Settings> {
  const reply = await run(["config", "--null", "--get-regexp", settingPattern]);
  // 1: there is none.
  if (reply.code > 1) throw new Error(`its settings could not be read: ${lastWords(reply.stderr)}`);
  return readSettings(parseEntries(reply.stdout.toString("utf8")));
}

export function objectsHere(names: readonly string[]): Promise<(RawObject | null)[]> {
  return readObjects({ run }, names);
}

/**
 * Whether refs can be removed now. `git pack-refs` shows the hook a removal of each ref that it has just packed, and
 * `verify` looks like one; a real one holds the lock of the packed refs (files backend).
 */
export function removing(folder: string): boolean {
  return existsSync(join(folder, "packed-refs.lock")) || existsSync(join(folder, "reftable"));
}

/** Whether a ref has a file of its own (files backend). */
export const isLoose = (folder: string, ref: string) => existsSync(join(folder, ref));

/** Lines of the packed refs: `<oid> <ref>`. */
export function packedRefs(folder: string): Set<string> {
  try {
    return new Set(readFileSync(join(folder, "packed-refs"), "utf8").split("\n"));
  } catch {
    return new Set();
  }
}
