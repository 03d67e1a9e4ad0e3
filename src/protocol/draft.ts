// A draft's record: what it says, and what may follow what. Values in, decisions out. No I/O, no clock.
import * as v from "valibot";
import { type Claim, claimSchema, describeClaim, oneLine, sameClaim } from "./claim.js";
import { formatDuration } from "./duration.js";
import { longestChain, type Ownership, TokenRegressed } from "./lease.js";
import { quote, type RecordName, recordName } from "./names.js";
import {
  decodeRecord,
  encodeRecord,
  envelope,
  format,
  type Instant,
  type Oid,
  type Versioned,
} from "./record.js";
import { draftStanding, isStarting, type ReadyReason, type Standing, type View } from "./standing.js";

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const fields = v.looseObject({
  ...envelope,
  kind: v.literal("draft"),
  event: v.picklist([
    "started",
    "claimed",
    "renewed",
    "published",
    "failed",
    "released",
    "lost",
    "dead",
    "redriven",
  ]),
  state: v.picklist(["held", "pending", "published", "dead"]),
  /** The fencing token: rises by one with each claim, and never goes back. 0 or the floor before the first claim. */
  token: count,
  /** The blob that the attempts below belong to. Another blob at the tip is new work. */
  fingerprint: v.pipe(v.string(), v.regex(/^[0-9a-f]{40,64}$/)),
  /** Claims of this content so far. */
  attempts: count,
  /** How many of them ended with a lost lease, which says more about runners than about the draft. */
  lost: count,
  /** Milliseconds. With `holder` and `since`: of the current claim, or of the last one. */
  ttl: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  holder: v.optional(claimSchema),
  /** When the holder claimed, on the store's clock. */
  since: v.optional(v.pipe(v.string(), v.isoTimestamp())),
  /** Not to be tried again before this time. */
  notBefore: v.optional(v.pipe(v.string(), v.isoTimestamp())),
  /** Why the last attempt failed. */
  reason: v.optional(v.string()),
  /** Where a person can see the last attempt. */
  run: v.optional(v.string()),
  /** Ref by ref, the commits that published it. */
  published: v.optional(v.record(v.string(), v.string())),
  redrive: v.optional(v.looseObject({ by: v.string(), reason: v.string() })),
});

const draftSchema = v.pipe(
  fields,
  v.check(
    (r) => r.state !== "held" || (r.token > 0 && r.holder !== undefined && r.ttl !== undefined),
    "a held draft has a token, a holder and a ttl",
  ),
);

export type DraftRecord = v.InferOutput<typeof fields>;

/** A draft's record together with what its store knows about it. */
export interface SeenDraft {
  record: DraftRecord;
  oid: Oid;
  writtenAt: Instant;
}

/** A write that the rules allow, to be made only if `expected` is still the tip. */
export interface DraftWrite {
  record: DraftRecord;
  expected: Oid | null;
  /** Begin a new root commit, to keep the history short. */
  root: boolean;
}

/** What makes a claim the draft's holder: proven by the record, never by memory alone. */
export interface DraftHolding extends SeenDraft {
  draft: string;
  token: number;
  claim: Claim;
}

/** After this many attempts a draft is dead. */
export const defaultMaxAttempts = 3;

/** @throws RecordInvalid */
export function readDraftRecord(seen: Versioned | null): SeenDraft | null {
  if (seen === null) return null;
  return { record: decodeRecord("draft", draftSchema, seen), oid: seen.oid, writtenAt: seen.writtenAt };
}

/** The record of the draft at a path of the repository. */
export function draftRecordName(path: string): RecordName {
  return recordName("draft", path);
}

/**
 * The commit message of a draft's record. A record that its readers would refuse is never written.
 * @throws ValiError
 */
export function draftMessage(record: DraftRecord): string {
  return encodeRecord(sentence(record), v.parse(draftSchema, record));
}

function sentence(r: DraftRecord): string {
  const head = `draft ${r.name} #${r.token}`;
  const who = r.holder ? describeClaim(r.holder) : "nobody";
  const why = r.reason ?? "no reason given";
  switch (r.event) {
    case "started":
      return oneLine(`${head} started by a sweep`);
    case "claimed":
      return oneLine(`${head} claimed by ${who} for ${formatDuration(r.ttl ?? 0)} (attempt ${r.attempts})`);
    case "renewed":
      return oneLine(`${head} renewed by ${who} for ${formatDuration(r.ttl ?? 0)}`);
    case "published":
      return oneLine(`${head} published${shortRefs(r.published ?? {})} by ${who}`);
    case "failed":
      return oneLine(`${head} failed (attempt ${r.attempts}), again after ${r.notBefore ?? "now"}: ${why}`);
    case "released":
      return oneLine(`${head} released by ${who}: ${why}`);
    case "lost":
      return oneLine(`${head} lost by ${who}`);
    case "dead":
      return oneLine(`${head} dead after ${r.attempts} attempts, ${r.lost} of them lost: ${why}`);
    case "redriven":
      return oneLine(`${head} redriven by ${r.redrive?.by ?? "?"}: ${r.redrive?.reason ?? "?"}`);
  }
}

function shortRefs(published: Record<string, Oid>): string {
  const refs = Object.entries(published);
  return refs
    .map(([ref, oid]) => ` ${ref.replace(/^refs\/(heads|tags)\//, "")} ${oid.slice(0, 10)}`)
    .join(",");
}

export interface DraftClaimRequest extends View {
  draft: string;
  claim: Claim;
  /** Milliseconds. */
  ttl: number;
  /** For a draft without a record: the highest token of any draft whose record was pruned. */
  floor?: number;
  /** The highest token of this draft that this process has seen. */
  witness?: number;
  nonce: string;
}

export type DraftClaimDecision =
  | { outcome: "grant"; reason: ReadyReason; attempt: number; write: DraftWrite }
  | { outcome: "refuse"; standing: Exclude<Standing, { is: "ready" }> };

/**
 * Whether a claim may work on a draft, and with which write. The attempt is counted here, at the start, so that a draft
 * that kills its runner is counted too. A draft that a sweep started may be claimed by anyone.
 * @throws TokenRegressed when the record is older than one that was seen before.
 */
export function claimDraft(seen: SeenDraft | null, ask: DraftClaimRequest): DraftClaimDecision {
  checkDraftWitness(ask.draft, seen, ask.witness ?? 0);
  const standing = draftStanding(seen, { ...ask, challenger: ask.claim });
  if (standing.is !== "ready") return { outcome: "refuse", standing };
  const before = carried(seen, ask.blob, standing.reason);
  const attempt = before.attempts + 1;
  const root = seen === null || seen.record.depth >= longestChain;
  const record: DraftRecord = {
    ...follow(seen, ask.draft, ask.nonce, root),
    ...before,
    event: "claimed",
    state: "held",
    token: (seen?.record.token ?? Math.max(ask.floor ?? 0, ask.witness ?? 0)) + 1,
    fingerprint: ask.blob,
    attempts: attempt,
    ttl: ask.ttl,
    holder: ask.claim,
    since: new Date(ask.now).toISOString(),
    ...(ask.claim.url === undefined ? {} : { run: ask.claim.url }),
  };
  const write = { record, expected: seen?.oid ?? null, root };
  return { outcome: "grant", reason: standing.reason, attempt, write };
}

/** The rule of fail-stop: a draft whose token fell is never taken. A record that is gone was pruned; the floor covers it. */
function checkDraftWitness(draft: string, seen: SeenDraft | null, witness: number): void {
  if (seen === null || seen.record.token >= witness) return;
  throw new TokenRegressed(
    `The draft ${quote(draft)} went backwards: token ${witness} was seen before, and now it says ${seen.record.token}. Nothing was written. Put its branch back to its last good commit before anything runs again.`,
  );
}

/** What a record keeps of the attempts so far: nothing for new content. */
function carried(seen: SeenDraft | null, blob: Oid, reason: ReadyReason) {
  if (seen === null || seen.record.fingerprint !== blob) return { attempts: 0, lost: 0 };
  const { attempts, lost, reason: why, run } = seen.record;
  return {
    attempts,
    lost: reason === "expired" || reason === "finished" || reason === "retried" ? lost + 1 : lost,
    ...(why === undefined ? {} : { reason: why }),
    ...(run === undefined ? {} : { run }),
  };
}

/** The part of a record that ties it to the one it replaces. */
function follow(seen: SeenDraft | null, draft: string, nonce: string, root: boolean) {
  const depth = root ? 1 : (seen?.record.depth ?? 0) + 1;
  return {
    fencepost: format,
    kind: "draft",
    name: draft,
    previous: seen?.oid ?? null,
    depth,
    nonce,
  } as const;
}

export interface StartRequest extends View {
  draft: string;
  /** Milliseconds for which a start that nobody claimed is left alone. */
  staleAfter: number;
  floor?: number;
  nonce: string;
}

/**
 * The write that remembers that a sweep started a run for this draft, so that the next sweep does not start another
 * before `staleAfter`. Null when the draft is not ready (any more), or another sweep started it.
 * It takes no token: the run that it starts has to claim.
 */
export function startDraft(seen: SeenDraft | null, ask: StartRequest): DraftWrite | null {
  const standing = draftStanding(seen, ask);
  if (standing.is !== "ready" || isStarting(seen, ask, ask.staleAfter)) return null;
  const record: DraftRecord = {
    ...follow(seen, ask.draft, ask.nonce, seen === null),
    ...carried(seen, ask.blob, standing.reason),
    event: "started",
    state: "pending",
    token: seen?.record.token ?? ask.floor ?? 0,
    fingerprint: ask.blob,
  };
  return { record, expected: seen?.oid ?? null, root: seen === null };
}

/** Whether the record is still this holding's: held, same token, same claim. */
export function isMyDraft(
  seen: SeenDraft | null,
  holding: Ownership,
): seen is SeenDraft & { record: { holder: Claim; ttl: number } } {
  return (
    seen !== null &&
    seen.record.state === "held" &&
    seen.record.token === holding.token &&
    seen.record.holder !== undefined &&
    sameClaim(seen.record.holder, holding.claim)
  );
}

/** The write that keeps a draft for another TTL, or null when the record is not mine. */
export function renewDraft(seen: SeenDraft | null, holding: Ownership, nonce: string): DraftWrite | null {
  if (!isMyDraft(seen, holding)) return null;
  return changeDraft(seen, nonce, { event: "renewed" });
}

/** A write over an existing record that changes some of its fields; `undefined` removes one. */
export function changeDraft(
  seen: SeenDraft,
  nonce: string,
  to: { event: DraftRecord["event"] } & { [K in keyof DraftRecord]?: DraftRecord[K] | undefined },
): DraftWrite {
  const merged = { ...seen.record, ...to, previous: seen.oid, depth: seen.record.depth + 1, nonce };
  const record = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
  return { record: record as DraftRecord, expected: seen.oid, root: false };
}
