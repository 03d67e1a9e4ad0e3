// Whether a push that was sent took effect, by what the remote shows.
import type { PrivateRepository } from "../git/private.js";
import type { RawCommit } from "../git/records.js";
import { refOf } from "../protocol/names.js";
import type { Oid } from "../protocol/record.js";
import { fetchInto, type Look } from "./look.js";
import type { PushRequest } from "./push.js";

/** Records that were sent with a head, and may or may not have arrived. */
export interface Sent {
  commits: RawCommit[];
  head: Oid;
  /** Where the branch was when they were sent first. */
  from: Oid | null;
}

/**
 * Branch and fences moved together or not at all, so the first fence's chain answers for all, also when somebody wrote
 * on top since. Where it cannot, after a new root or a failed fetch, the branch is the second witness. A look that
 * neither can answer is `unknown`, never a no.
 */
export async function arrived(
  repository: PrivateRepository,
  request: PushRequest,
  sent: Sent,
  look: Look,
): Promise<boolean | "unknown"> {
  const tip = look.records[0]?.oid;
  const [commit] = sent.commits;
  if (commit === undefined || tip === commit.parents[0]) return false;
  if (tip === commit.oid) return true;
  const chain = tip === undefined ? [] : await chainOf(repository, request);
  if (chain.includes(commit.oid)) return true;
  if (chain.some((oid) => oid === commit.parents[0])) return false;
  if (await onBranch(repository, request, sent, look)) return true;
  return tip === undefined ? false : "unknown";
}

/** The first fence's records back to its root; none when they cannot be fetched. */
async function chainOf(repository: PrivateRepository, request: PushRequest): Promise<Oid[]> {
  const ref = refOf(request.prefix, request.fences[0].record);
  const failed = await fetchInto(repository, ["--depth=600"], ref, "refs/fencepost/fence-0");
  if (failed !== null) return [];
  return (await repository.output(["rev-list", "refs/fencepost/fence-0", "--"])).split("\n");
}

async function onBranch(
  repository: PrivateRepository,
  request: PushRequest,
  sent: Sent,
  look: Look,
): Promise<boolean> {
  // Where it was before, it shows nothing.
  if (sent.from === sent.head || look.branchTip === null) return false;
  if (look.branchTip === sent.head) return true;
  if (request.replaces !== undefined) return false;
  const failed = await fetchInto(repository, [], request.branch, "refs/fencepost/branch");
  if (failed !== null) return false;
  const within = await repository.run(["merge-base", "--is-ancestor", sent.head, look.branchTip]);
  return within.code === 0;
}
