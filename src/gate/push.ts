// The fenced push: the branch moves only if its fences, a lease or a draft, move in the same atomic transaction.
import type { Chance } from "../chance.js";
import type { Clock } from "../clock.js";
import type { Clone } from "../git/clone.js";
import { bound, type PrivateRepository, privateRepository } from "../git/private.js";
import { lastWords } from "../git/program.js";
import { type PushReply, pushAtomically, type RefUpdate, rejections } from "../git/push.js";
import { commitRecord, type RawCommit, writeEmptyTree } from "../git/records.js";
import { findRefusal, type Refusal } from "../git/refusal.js";
import type { Remote } from "../git/remote.js";
import { formatDuration } from "../protocol/duration.js";
import { TokenRegressed } from "../protocol/lease.js";
import { refOf } from "../protocol/names.js";
import { type Instant, type Oid, RecordInvalid, type Versioned } from "../protocol/record.js";
import { arrived, type Sent } from "./arrived.js";
import type { Fence } from "./fence.js";
import { uploadLfs } from "./lfs.js";
import { holdings, type Look, lookAt } from "./look.js";
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
  /** At least one. The first one names the rescue, and its chain answers for the whole push. */
  fences: readonly [Fence, ...Fence[]];
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
  /** The store's time, for the date of the records' commits. */
  now: () => Instant;
  /** Where a bundle goes when the rescue ref is refused too. */
  bundleFolder: string;
  /** Ends the push. Then it is `unavailable`, and the commits are kept within a minute more. */
  signal?: AbortSignal | undefined;
  say: (progress: string) => void;
}

export type PushResult =
  /** `written`: the records that moved with the branch, in the order of the fences. */
  | { outcome: "pushed"; commit: Oid; written: Versioned[]; replayed: boolean }
  | { outcome: "unchanged"; commit: Oid }
  | { outcome: "moved"; why: string; rescue: Rescue }
  /** The fence that is not the pusher's (any more), and its record as it is. */
  | { outcome: "superseded"; fence: Fence; seen: Versioned | null; rescue: Rescue }
  | { outcome: "refused"; refusal: Refusal; rescue: Rescue }
  /** A fence's record cannot be trusted: rubbish, of a newer format, or gone backwards. */
  | { outcome: "broken"; why: string; rescue: Rescue }
  /** The outcome stayed unknown, or the server could not be reached. */
  | { outcome: "unavailable"; why: string; rescue: Rescue };

type Failure = Exclude<PushResult, { outcome: "pushed" | "unchanged" }>;
type WithoutRescue<F> = F extends unknown ? Omit<F, "rescue"> : never;
type Verdict = Exclude<PushResult, Failure> | WithoutRescue<Failure>;

/**
 * Publishes `head` behind the fence and checks the outcome against the remote. The user's clone is only read: the
 * push goes out from a private repository that borrows its objects.
 */
export async function fencedPush(request: PushRequest): Promise<PushResult> {
  const since = request.clock.read().monotonic;
  const repository = await privateRepository(request.remote, request.clone);
  try {
    const progress = { head: request.head, branchTip: null as Oid | null };
    const verdict = await rounds(request, bound(repository, request.signal), progress).catch((error) =>
      request.signal?.aborted ? givenUp(request.clock.read().monotonic - since) : broken(error),
    );
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

function givenUp(after: number): Verdict {
  const seconds = Math.round(after / 1000) * 1000;
  const why = `given up after ${formatDuration(seconds)}; whether it arrived is not known until it is read again`;
  return { outcome: "unavailable", why };
}

async function rounds(
  request: PushRequest,
  repository: PrivateRepository,
  progress: { head: Oid; branchTip: Oid | null },
): Promise<Verdict> {
  const { clock, chance, fences, onMoved, say, signal } = request;
  const tree = await writeEmptyTree(repository);
  let sent: Sent | undefined;
  let why = "";
  let uploaded: Oid | undefined;
  for (let attempt = 1; attempt <= request.attempts; attempt++) {
    if (attempt > 1) await clock.sleep(Math.min(100 * 2 ** attempt, 5000) * (0.5 + chance.random()), signal);
    const look = await lookAt(request, repository);
    if ("failed" in look) {
      const refusal = findRefusal(look.failed);
      if (refusal && sent === undefined) return { outcome: "refused", refusal };
    } else progress.branchTip = look.branchTip;
    const mine = await settle(request, repository, sent, look);
    if ("outcome" in mine) return mine;
    if ("unknown" in mine || "failed" in look) {
      why = "unknown" in mine ? mine.unknown : why;
      say(`${why}; trying again`);
      continue;
    }
    const ready = await standing(request, repository, look, progress.head);
    if (ready === "unchanged") return { outcome: "unchanged", commit: progress.head };
    if (ready === "moved") {
      why = `${request.branch} moved to ${look.branchTip?.slice(0, 10) ?? "nothing"}`;
      if (request.replaces !== undefined || onMoved.how === "fail") return { outcome: "moved", why };
      say(`${why}; ${onMoved.how === "rebase" ? "rebasing" : "regenerating"} on it`);
      const next = await replay(repository, request, progress.head, look.branchTip as Oid);
      if ("why" in next) return { outcome: "moved", why: next.why };
      progress.head = next.head;
      const after = await standing(request, repository, look, next.head);
      if (after === "unchanged") return { outcome: "unchanged", commit: next.head };
    }
    if (uploaded !== progress.head) {
      const lfs = await uploadLfs(repository, request, progress.head, look.branchTip, say);
      if (lfs) return { outcome: "refused", refusal: lfs };
      uploaded = progress.head;
    }
    sent = await nextRecords(request, repository, tree, mine.records, look, sent, progress.head);
    const moved = sent.commits.map((commit, i) => `${fences[i]?.record} ${commit.oid.slice(0, 10)}`);
    say(`pushing ${progress.head.slice(0, 10)} to ${request.branch} with ${moved.join(" and ")}`);
    const answer = await pushAtomically(repository, updates(request, sent));
    if (answer.reply.code === 0) return confirm(request, repository, sent);
    const final = await settleNo(request, repository, sent, answer);
    if (final) return final;
    const [cause] = rejections(answer.lines);
    why = cause ? `${cause.summary} for ${cause.ref}` : lastWords(answer.reply.stderr);
    say(`not accepted (${why}); reading the remote again`);
  }
  // A last look: the last push may have arrived although its reply did not.
  const look = await lookAt(request, repository);
  const mine = await settle(request, repository, sent, look);
  if ("outcome" in mine) return mine;
  if ("unknown" in mine || "failed" in look) return { outcome: "unavailable", why };
  const moved = (await standing(request, repository, look, progress.head)) === "moved";
  const tries = `${why}, after ${request.attempts} attempts`;
  return moved ? { outcome: "moved", why: tries } : { outcome: "unavailable", why: tries };
}

/** What a look settles: the push arrived, or a fence is lost. Else the records as the pusher's own, or why nothing is known. */
async function settle(
  request: PushRequest,
  repository: PrivateRepository,
  sent: Sent | undefined,
  look: Look | { failed: string },
): Promise<Verdict | { records: Versioned[] } | { unknown: string }> {
  if ("failed" in look) return { unknown: `the remote could not be read: ${lastWords(look.failed)}` };
  const there = sent !== undefined && (await arrived(repository, request, sent, look));
  if (sent && there === true) return pushed(sent, request);
  if (there === "unknown") return { unknown: "the remote does not show whether the last push arrived" };
  for (const [i, fence] of request.fences.entries()) fence.check(look.records[i] ?? null);
  const mine = holdings(request.fences, look);
  return "fence" in mine ? { outcome: "superseded", ...mine } : mine;
}

/** The end of a push that was definitely turned down. Words alone decide nothing: a look must show that no fence moved. */
async function settleNo(
  request: PushRequest,
  repository: PrivateRepository,
  sent: Sent,
  answer: PushReply,
): Promise<Verdict | null> {
  const no = turnedDown(request, answer);
  if (no === null) return null;
  const mine = await settle(request, repository, sent, await lookAt(request, repository));
  if ("outcome" in mine) return mine;
  if ("unknown" in mine) return null;
  const still = mine.records.every((record, i) => record.oid === sent.commits[i]?.parents[0]);
  return still ? no : null;
}

function turnedDown(request: PushRequest, { reply, lines }: PushReply): Verdict | null {
  const refusal = findRefusal(reply.stderr, lines);
  if (refusal) return { outcome: "refused", refusal };
  const causes = rejections(lines);
  const further = causes.every(
    ({ ref, summary }) =>
      request.further.some((f) => f.ref === ref) && /\((non-fast-forward|fetch first)\)/.test(summary),
  );
  const refs = causes.map(({ ref }) => ref).join(" and ");
  if (!further || refs === "") return null;
  return { outcome: "moved", why: `${refs} has commits there that would be lost` };
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

/** The records to send: the very same commits as before while nothing changed, so that sending them twice is harmless. */
async function nextRecords(
  request: PushRequest,
  repository: PrivateRepository,
  tree: Oid,
  records: readonly Versioned[],
  { branchTip }: Look,
  before: Sent | undefined,
  head: Oid,
): Promise<Sent> {
  const same = before?.head === head && records.every((r, i) => before.commits[i]?.parents[0] === r.oid);
  if (before && same) return before;
  const published = Object.fromEntries([
    [request.branch, head],
    ...request.further.map((f) => [f.ref, f.oid] as const),
  ]);
  const commits: RawCommit[] = [];
  for (const [i, fence] of request.fences.entries()) {
    const seen = records[i] as Versioned;
    const now = request.now();
    const message = fence.succeed(seen, published, now);
    commits.push(await commitRecord(repository, tree, seen.oid, message, now));
  }
  return { commits, head, from: branchTip };
}

function updates(request: PushRequest, sent: Sent): RefUpdate[] {
  const branch: RefUpdate = { ref: request.branch, to: sent.head };
  if (request.replaces !== undefined) branch.expected = request.replaces;
  const fences = request.fences.map((fence, i) => ({
    ref: refOf(request.prefix, fence.record),
    to: sent.commits[i]?.oid ?? null,
    expected: sent.commits[i]?.parents[0] ?? null,
  }));
  return [branch, ...request.further.map((f) => ({ ref: f.ref, to: f.oid })), ...fences];
}

/** git reported success. A look that shows otherwise is a fault of the server, and never passed over. */
async function confirm(request: PushRequest, repository: PrivateRepository, sent: Sent): Promise<Verdict> {
  const shown = async () => {
    const look = await lookAt(request, repository);
    return "failed" in look ? "unknown" : arrived(repository, request, sent, look);
  };
  if ((await shown().catch(() => "unknown")) !== false) return pushed(sent, request);
  const why = `git reported the push as done, but ${request.remote.label} does not show it; look at it before anything runs again`;
  return { outcome: "unavailable", why };
}

function pushed(sent: Sent, request: PushRequest): Verdict {
  const written = sent.commits.map((commit, i) => ({
    ...commit,
    name: (request.fences[i] as Fence).record,
    writtenAt: commit.committedAt,
  }));
  return { outcome: "pushed", commit: sent.head, written, replayed: sent.head !== request.head };
}
