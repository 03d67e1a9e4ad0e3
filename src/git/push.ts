// One atomic `git push` with expected oids, and what its porcelain lines say.
import type { Oid } from "../protocol/record.js";
import type { PrivateRepository } from "./private.js";
import type { GitReply } from "./program.js";
import { destination } from "./remote.js";

/** One ref of a push. */
export interface RefUpdate {
  ref: string;
  /** The new oid; null removes the ref. */
  to: Oid | null;
  /** The oid that must be there (null: nothing may be there). Absent: only a fast-forward is allowed. */
  expected?: Oid | null;
}

export interface RefLine {
  ref: string;
  /** git's flag: " " moved, "+" forced, "-" removed, "*" new, "=" was so already, "!" rejected. */
  flag: string;
  /** What follows: `abc..def`, `[rejected] (stale info)`. */
  summary: string;
}

export interface PushReply {
  reply: GitReply;
  lines: RefLine[];
}

/**
 * Pushes all updates or none. The oid that is expected is always written out: `--force-with-lease` without one is
 * defeated by any fetch in between. There is no form of this without `--atomic`.
 */
export async function pushAtomically(
  repository: PrivateRepository,
  updates: readonly RefUpdate[],
  signal?: AbortSignal,
): Promise<PushReply> {
  const leases = updates
    .filter((u) => u.expected !== undefined)
    .map((u) => `--force-with-lease=${u.ref}:${u.expected ?? ""}`);
  const specs = updates.map((u) => `${u.to ?? ""}:${u.ref}`);
  const reply = await repository.run(
    ["push", "--atomic", "--porcelain", "--no-verify", "--no-signed", ...leases, destination, ...specs],
    { signal },
  );
  return { reply, lines: parsePorcelain(reply.stdout.toString("utf8")) };
}

/** The lines that say why a push was rejected, without those that only follow from the others. */
export function rejections(lines: readonly RefLine[]): RefLine[] {
  const rejected = lines.filter((line) => line.flag === "!");
  const causes = rejected.filter((line) => !/atomic (push|transaction) fail/.test(line.summary));
  return causes.length > 0 ? causes : rejected;
}

export function parsePorcelain(output: string): RefLine[] {
  return output
    .split("\n")
    .map((line) => /^([ +\-*=!])\t[^\t]*?:([^\t]+)\t(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, flag = "", ref = "", summary = ""]) => ({ flag, ref, summary }));
}
