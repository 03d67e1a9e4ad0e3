// The fenced push: the branch moves only if the lease moves in the same atomic transaction.
import type { Chance } from "../chance.js";
import type { Clock } from "../clock.js";
import type { Clone } from "../git/clone.js";
import { type PrivateRepository, privateRepository, remoteTips } from "../git/private.js";
import { lastWords } from "../git/program.js";
import { pushAtomically, type RefUpdate } from "../git/push.js";
import { commitRecord, type RawCommit, readCommits, writeEmptyTree } from "../git/records.js";
import { findRefusal, type Refusal } from "../git/refusal.js";
import { destination, type Remote } from "../git/remote.js";
import {
  checkWitness,
  type Holding,
  isMine,
  leaseMessage,
  leaseRecordName,
  type Ownership,
  readLease,
  type SeenLease,
  succeed,
  TokenRegressed,
} from "../protocol/lease.js";
import { refOf } from "../protocol/names.js";
import { type Instant, type Oid, RecordInvalid } from "../protocol/record.js";
import { uploadLfs } from "./lfs.js";
import { type OnMoved, replay } from "./moved.js";
import { type Rescue, rescue } from "./rescue.js";

/** A further ref that moves in the same push: a tag, or a branch. */
export interface FurtherRef {
  ref: string;
  oid: Oid;
}

export interface PushRequest {
  clone: Clone;
  remote: Remote;
  prefix: string;
  lease: string;
  owner: Ownership;
  /** The commit to publish. */
  head: Oid;
  /** A full ref. */
  branch: string;
  further: readonly FurtherRef[];
  /** Replace the branch, whatever its history, if it is still at this oid (null: absent). Absent: fast-forward only. */
  replaces?: Oid | null | undefined;
  onMoved: OnMoved;
  /** Rounds at the most, of which each may meet a branch that moved, a lost reply, or a heartbeat in between. */
  attempts: number;
  clock: Clock;
  chance: Chance;
  /** The store's time, for the date of the lease commit. */
  now: () => Instant;
  /** Where a bundle goes when the rescue ref is refused too. */
  bundleFolder: string;
  say: (progress: string) => void;
}

export type PushResult =
  | { outcome: "pushed"; commit: Oid; holding: Holding; replayed: boolean }
  | { outcome: "unchanged"; commit: Oid }
  | { outcome: "moved"; why: string; rescue: Rescue }
  | { outcome: "superseded"; by: SeenLease | null; rescue: Rescue }
  | { outcome: "refused"; refusal: Refusal; rescue: Rescue }
  /** The lease's record cannot be trusted: rubbish, of a newer format, or gone backwards. */
  | { outcome: "broken"; why: string; rescue: Rescue }
  /** The outcome stayed unknown, or the server could not be reached. */
  | { outcome: "unavailable"; why: string; rescue: Rescue };

type Failure = Exclude<PushResult, { outcome: "pushed" | "unchanged" }>;
type WithoutRescue<F> = F extends unknown ? Omit<F, "rescue"> : never;
type Verdict = Exclude<PushResult, Failure> | WithoutRescue<Failure>;

/** What the remote shows in one look. */
interface Look {
  leaseTip: Oid | null;
  lease: SeenLease | null;
  branchTip: Oid | null;
  tips: Map<string, Oid>;
}

/** A lease commit that was sent, and may or may not have arrived. */
interface Sent {
  commit: RawCommit;
  holding: Holding;
  head: Oid;
}

/**
 * Publishes `head` behind the fence and checks the outcome against the remote. The user's clone is only read: the
 * push goes out from a private repository that borrows its objects.
 */
export async function fencedPush(request: PushRequest): Promise<PushResult> {
  const repository = await privateRepository(request.remote, request.clone);
  try {
    const tree = await writeEmptyTree(repository);
    const progress = { head: request.head, branchTip: null as Oid | null };
    const verdict = await rounds(request, repository, tree, progress).catch(broken);
    if (verdict.outcome === "pushed" || verdict.outcome === "unchanged") return verdict;
    request.say(`${verdict.outcome}: keeping the commits`);
    return { ...verdict, rescue: await rescue(repository, request, progress.branchTip) } as Failure;
  } finally {
    await repository.remove();
  }
}

/** Keeps the commits of a run that failed without a push: its lease was lost while it worked. */
export async function keepCommits(request: PushRequest, base: Oid | null): Promise<Rescue> {
  const repository = await privateRepository(request.remote, request.clone);
  try {
    return await rescue(repository, request, base);
  } finally {
    await repository.remove();
  }
}

/** Whatever goes wrong, the commits are kept before anything is said. */
function broken(error: unknown): Verdict {
  const why = error instanceof Error ? error.message : String(error);
  if (error instanceof RecordInvalid || error instanceof TokenRegressed) return { outcome: "broken", why };
  return { outcome: "unavailable", why };
}

async function rounds(
  request: PushRequest,
  repository: PrivateRepository,
  tree: Oid,
  progress: { head: Oid; branchTip: Oid | null },
): Promise<Verdict> {
  const { clock, chance, owner, onMoved, say } = request;
  let sent: Sent | undefined;
  let why = "";
  let uploaded: Oid | undefined;
  for (let attempt = 1; attempt <= request.attempts; attempt++) {
    if (attempt > 1) await clock.sleep(Math.min(100 * 2 ** attempt, 5000) * (0.5 + chance.random()));
    const look = await lookAt(request, repository);
    if ("failed" in look) {
      const refusal = findRefusal(look.failed);
      if (refusal && sent === undefined) return { outcome: "refused", refusal };
      why = `the remote could not be read: ${lastWords(look.failed)}`;
      say(`${why}; trying again`);
      continue;
    }
    progress.branchTip = look.branchTip;
    if (sent && (await arrived(repository, request, sent, look))) return pushed(sent, request);
    checkWitness(request.lease, look.lease, owner.token);
    if (!isMine(look.lease, owner)) return { outcome: "superseded", by: look.lease };
    const ready = await standing(request, repository, look, progress.head);
    if (ready === "unchanged") return { outcome: "unchanged", commit: progress.head };
    if (ready === "moved") {
      why = `${request.branch} moved to ${look.branchTip?.slice(0, 10) ?? "nothing"}`;
      if (request.replaces !== undefined || onMoved.how === "fail") return { outcome: "moved", why };
      say(`${why}; ${onMoved.how === "rebase" ? "rebasing" : "regenerating"} on it`);
      const next = await replay(repository, request, progress.head, look.branchTip as Oid);
      if ("why" in next) return { outcome: "moved", why: next.why };
      progress.head = next.head;
      if (next.head === look.branchTip) return { outcome: "unchanged", commit: next.head };
    }
    if (uploaded !== progress.head) {
      const lfs = await uploadLfs(repository, request, progress.head, look.branchTip, say);
      if (lfs) return { outcome: "refused", refusal: lfs };
      uploaded = progress.head;
    }
    sent = await nextLease(request, repository, tree, look.lease, sent, progress.head);
    say(
      `pushing ${progress.head.slice(0, 10)} to ${request.branch} with lease commit ${sent.commit.oid.slice(0, 10)}`,
    );
    const { reply, lines } = await pushAtomically(repository, updates(request, sent));
    if (reply.code === 0) return confirm(request, repository, sent);
    const refusal = findRefusal(reply.stderr, lines);
    if (refusal) return { outcome: "refused", refusal };
    why = lines.find((line) => line.flag === "!")?.summary ?? lastWords(reply.stderr);
    say(`not accepted (${why}); reading the remote again`);
  }
  // A last look: the last push may have arrived although its reply did not.
  const look = await lookAt(request, repository);
  if ("failed" in look) return { outcome: "unavailable", why };
  if (sent && (await arrived(repository, request, sent, look))) return pushed(sent, request);
  if (!isMine(look.lease, owner)) return { outcome: "superseded", by: look.lease };
  const moved = (await standing(request, repository, look, progress.head)) === "moved";
  const tries = `${why}, after ${request.attempts} attempts`;
  return moved ? { outcome: "moved", why: tries } : { outcome: "unavailable", why: tries };
}

async function lookAt(
  request: PushRequest,
  repository: PrivateRepository,
): Promise<Look | { failed: string }> {
  const leaseRef = refOf(request.prefix, leaseRecordName(request.lease));
  const refs = [leaseRef, request.branch, ...request.further.map((f) => f.ref)];
  const seen = await remoteTips(repository, refs);
  if ("failed" in seen) return { failed: seen.failed.stderr };
  const leaseTip = seen.tips.get(leaseRef) ?? null;
  let commit: RawCommit | null = null;
  if (leaseTip !== null) {
    [commit = null] = await readCommits(repository, [leaseTip]);
    if (commit === null) {
      const fetched = await fetchInto(repository, ["--depth=1"], leaseRef, "refs/fencepost/lease");
      if (fetched !== null) return { failed: fetched };
      [commit = null] = await readCommits(repository, ["refs/fencepost/lease"]);
    }
  }
  const name = leaseRecordName(request.lease);
  const versioned = commit && { ...commit, name, writtenAt: commit.committedAt };
  const branchTip = seen.tips.get(request.branch) ?? null;
  return { leaseTip: commit?.oid ?? null, lease: readLease(versioned), branchTip, tips: seen.tips };
}

/** Fetches one remote ref; null, or what git complained about. */
async function fetchInto(
  repository: PrivateRepository,
  flags: readonly string[],
  from: string,
  to: string,
): Promise<string | null> {
  const quiet = ["--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];
  const reply = await repository.run(["fetch", ...quiet, ...flags, destination, `+${from}:${to}`]);
  return reply.code === 0 ? null : reply.stderr;
}

/** How `head` stands to what the remote shows. */
async function standing(
  request: PushRequest,
  repository: PrivateRepository,
  look: Look,
  head: Oid,
): Promise<"ready" | "unchanged" | "moved"> {
  const done = look.branchTip === head && request.further.every((f) => look.tips.get(f.ref) === f.oid);
  if (done) return "unchanged";
  if (request.replaces !== undefined) return look.branchTip === request.replaces ? "ready" : "moved";
  if (look.branchTip === null) return "ready";
  const ancestor = await repository.run(["merge-base", "--is-ancestor", look.branchTip, head]);
  return ancestor.code === 0 ? "ready" : "moved";
}

/** The lease commit to send: the very same one as before while nothing changed, so that sending it twice is harmless. */
async function nextLease(
  request: PushRequest,
  repository: PrivateRepository,
  tree: Oid,
  lease: SeenLease,
  before: Sent | undefined,
  head: Oid,
): Promise<Sent> {
  if (before && before.head === head && before.commit.parents[0] === lease.oid) return before;
  const further = request.further.map((f) => [f.ref, f.oid] as const);
  const published = Object.fromEntries([[request.branch, head], ...further]);
  const [now, nonce] = [request.now(), request.chance.nonce()];
  const next = succeed(lease, request.owner, { event: "pushed", nonce, published, now });
  if (next === null) throw new Error("a lease that was mine has no successor");
  const commit = await commitRecord(repository, tree, lease.oid, leaseMessage(next.record), now);
  const { token, holder } = next.record;
  const holding = { lease: request.lease, token, claim: holder, oid: commit.oid, record: next.record };
  return { commit, head, holding: { ...holding, writtenAt: commit.committedAt } };
}

function updates(request: PushRequest, sent: Sent): RefUpdate[] {
  const branch: RefUpdate = { ref: request.branch, to: sent.head };
  if (request.replaces !== undefined) branch.expected = request.replaces;
  const leaseRef = refOf(request.prefix, leaseRecordName(request.lease));
  const lease = { ref: leaseRef, to: sent.commit.oid, expected: sent.commit.parents[0] ?? null };
  return [branch, ...request.further.map((f) => ({ ref: f.ref, to: f.oid })), lease];
}

/** git reported success. A look that shows otherwise is a fault of the server, and never passed over. */
async function confirm(request: PushRequest, repository: PrivateRepository, sent: Sent): Promise<Verdict> {
  const look = await lookAt(request, repository);
  if ("failed" in look || (await arrived(repository, request, sent, look))) return pushed(sent, request);
  const why = `git reported the push as done, but ${request.remote.label} does not show it; look at it before anything runs again`;
  return { outcome: "unavailable", why };
}

/**
 * Whether a push that was sent took effect. Branch and lease moved together or not at all, so the lease's chain
 * answers for both, also when somebody wrote on top since.
 */
async function arrived(
  repository: PrivateRepository,
  request: PushRequest,
  sent: Sent,
  look: Look,
): Promise<boolean> {
  if (look.leaseTip === sent.commit.oid) return true;
  if (look.leaseTip === null || look.leaseTip === sent.commit.parents[0]) return false;
  const leaseRef = refOf(request.prefix, leaseRecordName(request.lease));
  const failed = await fetchInto(repository, ["--depth=600"], leaseRef, "refs/fencepost/lease");
  if (failed !== null) return false;
  const chain = await repository.output(["rev-list", "refs/fencepost/lease", "--"]);
  return chain.split("\n").includes(sent.commit.oid);
}

function pushed(sent: Sent, request: PushRequest): Verdict {
  return {
    outcome: "pushed",
    commit: sent.head,
    holding: sent.holding,
    replayed: sent.head !== request.head,
  };
}
