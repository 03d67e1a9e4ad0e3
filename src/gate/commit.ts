// A publish without git: the commit is made by GitHub's API, and branch and fences move in one `updateRefs`.

import { type BranchTip, lookAnswer, lookRequest } from "../github/publish.js";
import {
  historyAnswer,
  historyRequest,
  type RefUpdate,
  updateRefsEchoes,
  updateRefsRequest,
} from "../github/queries.js";
import { TokenRegressed } from "../protocol/lease.js";
import { refOf } from "../protocol/names.js";
import { type Instant, type Oid, RecordInvalid, type Versioned } from "../protocol/record.js";
import type { GithubAccess } from "../store/github.js";
import { type Calls, type Settled, type Setup, startCalls, tries } from "../store/github-calls.js";
import { type Memory, makeCommit } from "../store/github-commits.js";
import { StoreMisconfigured, StoreRefused } from "../store/store.js";
import { type Content, checkFiles, makeUserCommit } from "./commit-objects.js";
import type { Fence } from "./fence.js";

export interface CommitRequest extends Content {
  /** At least one. */
  fences: readonly [Fence, ...Fence[]];
  /** A full ref. It is made if it does not exist. */
  branch: string;
  /** The tip that the change was made from (null: no branch). With another one there, the branch has moved. */
  base?: Oid | null | undefined;
  /** When the branch has moved while the commit was made: lay the files over the new tip, or give up. */
  onMoved: "rebuild" | "fail";
  /** Rounds at the most. */
  attempts: number;
  signal?: AbortSignal | undefined;
}

export type CommitResult =
  /** `written`: the records that moved with the branch, in the order of the fences. `rebuilt`: on a tip that had moved. */
  | { outcome: "pushed"; commit: Oid; written: Versioned[]; rebuilt: boolean }
  /** The branch has all of it already. */
  | { outcome: "unchanged"; commit: Oid }
  | { outcome: "superseded"; why: string; fence: Fence; commit: Oid | null }
  /** `commit`: what was made, if anything. Nothing refers to it, and GitHub keeps it for a while. */
  | { outcome: "moved" | "refused" | "broken" | "unavailable"; why: string; commit: Oid | null };

interface Look {
  now: Instant;
  repositoryId: string;
  records: (Versioned | null)[];
  /** Of each record, the write before it. */
  before: (Versioned | null)[];
  branch: BranchTip | null;
}

interface Progress {
  /** The user's commit, once it is made. */
  commit: Oid | null;
  /** A write was sent, and whether it took effect is not known. */
  open: boolean;
}

/** What was sent: a commit on a tip, and the records that say so. */
interface Sent {
  base: Oid | null;
  commit: Oid;
  records: Versioned[];
}

/**
 * Publishes one commit behind its fences. With text files alone: one query, a tree, a commit, one commit for each fence,
 * and the write.
 * @throws NameInvalid for a path, TypeError for files that make no sense, before anything is asked
 */
export async function commitBehindFence(
  { setup, memory }: GithubAccess,
  request: CommitRequest,
): Promise<CommitResult> {
  if ("files" in request.change) checkFiles(request.change.files);
  const progress: Progress = { commit: null, open: false };
  try {
    return await rounds(setup, memory, request, progress);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const { commit, open } = progress;
    // A write whose answer was lost may have taken effect, whatever GitHub says of a later request.
    if (open) return { outcome: "unavailable", why, commit };
    if (error instanceof RecordInvalid || error instanceof TokenRegressed)
      return { outcome: "broken", why, commit };
    if (error instanceof StoreRefused || error instanceof StoreMisconfigured)
      return { outcome: "refused", why, commit };
    return { outcome: "unavailable", why, commit };
  }
}

async function rounds(
  setup: Setup,
  memory: Memory,
  request: CommitRequest,
  progress: Progress,
): Promise<CommitResult> {
  const calls = startCalls(setup, "write to", { signal: request.signal });
  const { fences } = request;
  let sent: Sent | undefined;
  let first: Oid | null | undefined;
  let said: Said = { words: "", certainty: "none" };
  let refusals = 0;
  for (let round = 1; round <= request.attempts + 1; round++) {
    if (round > 1) await calls.pause(Math.min(round - 1, 5));
    const look = await lookAt(setup, calls, request);
    const tip = look.branch?.oid ?? null;
    if (round === 1) first = tip;
    const there = sent !== undefined && (await arrived(setup, calls, request, sent, look));
    if (sent && there === true)
      return { outcome: "pushed", commit: sent.commit, written: sent.records, rebuilt: sent.base !== first };
    if (there === "unknown")
      throw new Error("Others have written since, and nothing there shows whether this was published.");
    progress.open = false;
    for (const [i, fence] of fences.entries()) {
      const seen = look.records[i] ?? null;
      fence.check(seen);
      if (!fence.isMine(seen))
        return { outcome: "superseded", why: fence.lost(seen, look.now), fence, commit: progress.commit };
    }
    const { commit } = progress;
    const expected = sent === undefined ? request.base : sent.base;
    const moved = expected !== undefined && tip !== expected;
    const same =
      sent && !moved && look.records.every((seen, i) => sent?.records[i]?.parents[0] === seen?.oid);
    // The same tips are there, and a definite no, again and again: that is a rule, and not a race.
    refusals = same && said.certainty !== "none" ? refusals + 1 : 0;
    if (refusals >= tries) return { outcome: "refused", why: ruleWords(setup, request, said.words), commit };
    if (moved && (request.onMoved === "fail" || request.base !== undefined))
      return {
        outcome: "moved",
        why: `${request.branch} moved to ${tip?.slice(0, 10) ?? "nothing"}`,
        commit,
      };
    if (round > request.attempts) {
      const outcome = moved ? "moved" : "unavailable";
      const why = moved
        ? `${request.branch} moved ${request.attempts} times while it was being published`
        : `GitHub did not say whether it was published (${said.words})`;
      return { outcome, why, commit };
    }
    // On the same tips the very same commits go again, which is harmless.
    if (!same) {
      const made: Oid | "unchanged" =
        sent && !moved ? sent.commit : await makeUserCommit(calls, request, look.branch);
      if (made === "unchanged") return { outcome: "unchanged", commit: tip as Oid };
      progress.commit = made;
      sent = { base: tip, commit: made, records: await makeRecords(calls, memory, request, look, made) };
    }
    said = await write(setup, calls, request, look, sent as Sent);
    progress.open = said.certainty !== "definite";
    if (said.certainty === "done")
      return {
        outcome: "pushed",
        commit: (sent as Sent).commit,
        written: (sent as Sent).records,
        rebuilt: (sent as Sent).base !== first,
      };
  }
  throw new Error("a publish that did not end");
}

async function lookAt(setup: Setup, calls: Calls, { fences, branch }: CommitRequest): Promise<Look> {
  const names = fences.map(({ record }) => record);
  return calls.read(lookRequest(setup.place, names, branch), (data, date) => {
    if (date === null) throw new TypeError("no Date header in the answer");
    const { repositoryId, tips, branch: found } = lookAnswer(data, names);
    return {
      now: date,
      repositoryId,
      records: tips,
      before: tips.map((tip) => tip?.before ?? null),
      branch: found,
    };
  });
}

async function makeRecords(
  calls: Calls,
  memory: Memory,
  { fences, branch }: CommitRequest,
  { records, now }: Look,
  commit: Oid,
): Promise<Versioned[]> {
  const made: Versioned[] = [];
  for (const [i, fence] of fences.entries()) {
    const seen = records[i] as Versioned;
    const next = { message: fence.succeed(seen, { [branch]: commit }, now) };
    const record = await makeCommit(calls, memory, { name: fence.record, expected: seen.oid, next });
    if (record.kind === "failed" || record.commit === null)
      throw new Error(
        `GitHub did not make the record's commit (${record.kind === "failed" ? record.words : ""}).`,
      );
    made.push(record.commit);
  }
  return made;
}

/** What the write's answer said: it is done, a no of some kind, or nothing. */
interface Said {
  certainty: "done" | "definite" | "answered" | "none";
  words: string;
}

async function write(
  setup: Setup,
  calls: Calls,
  request: CommitRequest,
  look: Look,
  sent: Sent,
): Promise<Said> {
  const updates: RefUpdate[] = [
    { name: request.branch, before: sent.base, after: sent.commit, force: false },
    ...sent.records.map((record) => ({
      name: refOf(setup.place.prefix, record.name),
      before: record.parents[0] ?? null,
      after: record.oid,
      force: false,
    })),
  ];
  const nonce = setup.chance.nonce();
  const answer: Settled = await calls.graphql(updateRefsRequest(look.repositoryId, updates, nonce));
  if (answer.kind === "ok" && updateRefsEchoes(answer.data, nonce)) return { certainty: "done", words: "" };
  if (answer.kind === "no") return { certainty: "definite", words: answer.words };
  if (answer.kind === "unknown")
    return { certainty: answer.answered ? "answered" : "none", words: answer.words };
  return { certainty: "none", words: "an answer without what was asked for" };
}

/**
 * Whether a write that was sent took effect. Branch and records moved together or not at all, so one of them that is
 * provably ours answers for all, also when somebody wrote on top since. A chain that reaches neither our record nor the
 * one before it, after a new root, is no answer.
 */
async function arrived(
  setup: Setup,
  calls: Calls,
  { fences }: CommitRequest,
  sent: Sent,
  look: Look,
): Promise<boolean | "unknown"> {
  if (look.branch?.oid === sent.commit && sent.base !== sent.commit) return true;
  const ours = sent.records[0] as Versioned;
  const tip = look.records[0];
  if (!tip || tip.oid === ours.parents[0]) return false;
  if (tip.oid === ours.oid || look.before[0]?.oid === ours.oid) return true;
  const request = historyRequest(setup.place, fences[0].record, 100, null);
  const { records } = await calls.read(request, (data) => historyAnswer(fences[0].record, data));
  const chain = records.map(({ oid }) => oid);
  if (chain.includes(ours.oid)) return true;
  return chain.includes(ours.parents[0] as Oid) ? false : "unknown";
}

function ruleWords({ place }: Setup, { branch }: CommitRequest, words: string): string {
  return `GitHub refused ${tries} times to move ${branch} together with its record, though both were where they were expected: ${words}. A rule of the repository may protect the branch: let the owner of this token bypass it; or it may cover ${place.prefix}/**: exclude that. Files under .github/workflows need a token with the permission "Workflows".`;
}
