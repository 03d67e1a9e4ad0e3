// One look at what a fenced push is about to change: the branch, the further refs, and the records of its fences.
import { type PrivateRepository, remoteTips } from "../git/private.js";
import { type RawCommit, readCommits } from "../git/records.js";
import { destination } from "../git/remote.js";
import { refOf } from "../protocol/names.js";
import type { Oid, Versioned } from "../protocol/record.js";
import type { Fence } from "./fence.js";
import type { PushRequest } from "./push.js";

/** What the remote shows in one look. */
export interface Look {
  /** The records of the fences, in order. */
  records: (Versioned | null)[];
  branchTip: Oid | null;
  tips: Map<string, Oid>;
}

/** The records as the pusher's own, or the first fence that is not. */
export function holdings(
  fences: PushRequest["fences"],
  look: Look,
): { records: Versioned[] } | { fence: Fence; seen: Versioned | null } {
  const records: Versioned[] = [];
  for (const [i, fence] of fences.entries()) {
    const seen = look.records[i] ?? null;
    if (!fence.isMine(seen)) return { fence, seen };
    records.push(seen);
  }
  return { records };
}

export async function lookAt(
  request: PushRequest,
  repository: PrivateRepository,
): Promise<Look | { failed: string }> {
  const refs = request.fences.map((fence) => refOf(request.prefix, fence.record));
  const seen = await remoteTips(repository, [...refs, request.branch, ...request.further.map((f) => f.ref)]);
  if ("failed" in seen) return { failed: seen.failed.stderr };
  const records: (Versioned | null)[] = [];
  for (const [i, fence] of request.fences.entries()) {
    const ref = refs[i] as string;
    const found = await recordAt(repository, seen.tips.get(ref) ?? null, ref, `refs/fencepost/fence-${i}`);
    if (found !== null && "failed" in found) return found;
    records.push(found && { ...found, name: fence.record, writtenAt: found.committedAt });
  }
  return { records, branchTip: seen.tips.get(request.branch) ?? null, tips: seen.tips };
}

async function recordAt(
  repository: PrivateRepository,
  tip: Oid | null,
  ref: string,
  local: string,
): Promise<RawCommit | { failed: string } | null> {
  if (tip === null) return null;
  const [here = null] = await readCommits(repository, [tip]);
  if (here !== null) return here;
  const failed = await fetchInto(repository, ["--depth=1"], ref, local);
  if (failed !== null) return { failed };
  return (await readCommits(repository, [local]))[0] ?? null;
}

/** Fetches one remote ref; null, or what git complained about. */
export async function fetchInto(
  repository: PrivateRepository,
  flags: readonly string[],
  from: string,
  to: string,
): Promise<string | null> {
  const quiet = ["--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];
  const reply = await repository.run(["fetch", ...quiet, ...flags, destination, `+${from}:${to}`]);
  return reply.code === 0 ? null : reply.stderr;
}
