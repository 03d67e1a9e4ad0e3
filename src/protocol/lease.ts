// The lease protocol: values in, decisions out. No I/O, no clock.
import * as v from "valibot";
import { type Claim, claimSchema, describeClaim, isEarlierAttempt, oneLine, sameClaim } from "./claim.js";
import { formatDuration } from "./duration.js";
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
import { type DoneSlots, withSlots } from "./slots.js";
import { afterAcquire, afterPush, afterUnlock, tallyFields } from "./tally.js";

const leaseSchema = v.looseObject({
  ...envelope,
  kind: v.literal("lease"),
  event: v.picklist(["acquired", "renewed", "pushed", "released", "unlocked"]),
  /** The fencing token: rises by one each time the lease changes hands, and never goes back. */
  token: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  state: v.picklist(["held", "released"]),
  /** Milliseconds. */
  ttl: v.pipe(v.number(), v.integer(), v.minValue(1)),
  holder: claimSchema,
  /** When the holder acquired, on the store's clock. */
  since: v.pipe(v.string(), v.isoTimestamp()),
  /** Ref by ref, the commits that the holder's last push put there. */
  published: v.optional(v.record(v.string(), v.string())),
  unlock: v.optional(v.looseObject({ by: v.string(), reason: v.string() })),
  ...tallyFields,
  /** Schedule by schedule, the nominal time of the newest slot that succeeded under this lease. */
  slots: v.optional(v.record(v.string(), v.pipe(v.string(), v.isoTimestamp()))),
});

export type LeaseRecord = v.InferOutput<typeof leaseSchema>;

/** A lease record together with what its store knows about it. */
export interface SeenLease {
  record: LeaseRecord;
  oid: Oid;
  writtenAt: Instant;
}

/** A write that the rules allow, to be made only if `expected` is still the tip. */
export interface LeaseWrite {
  record: LeaseRecord;
  expected: Oid | null;
  /** Begin a new root commit, to keep the history short. */
  root: boolean;
}

/** What makes a claim the holder: proven by the record, never by memory alone. */
export interface Holding {
  lease: string;
  token: number;
  claim: Claim;
  /** The last known tip of the lease's ref. */
  oid: Oid;
  record: LeaseRecord;
  writtenAt: Instant;
}

/** After this many writes the next acquire starts from a new root commit. */
export const longestChain = 500;

/** A lease record or chain that went backwards. The only safe thing is to stop. */
export class TokenRegressed extends Error {
  override name = "TokenRegressed";
}

/** @throws RecordInvalid */
export function readLease(seen: Versioned | null): SeenLease | null {
  if (seen === null) return null;
  return { record: decodeRecord("lease", leaseSchema, seen), oid: seen.oid, writtenAt: seen.writtenAt };
}

export function leaseRecordName(lease: string): RecordName {
  return recordName("lease", lease);
}

/**
 * The commit message of a lease record. A record that its readers would refuse is never written: it would hold the
 * lease for ever.
 * @throws ValiError
 */
export function leaseMessage(record: LeaseRecord): string {
  return encodeRecord(sentence(record), v.parse(leaseSchema, record));
}

function sentence(r: LeaseRecord): string {
  const head = oneLine(`lease ${r.name} #${r.token}`);
  const who = describeClaim(r.holder);
  switch (r.event) {
    case "acquired":
      return `${head} acquired by ${who} for ${formatDuration(r.ttl)}`;
    case "renewed":
      return `${head} renewed by ${who} for ${formatDuration(r.ttl)}`;
    case "pushed":
      return oneLine(`${head} pushed ${publishedWords(r.published ?? {})} by ${who}`);
    case "released":
      return `${head} released by ${who}`;
    case "unlocked":
      return oneLine(`${head} unlocked by ${r.unlock?.by ?? "?"}: ${r.unlock?.reason ?? "?"}`);
  }
}

function publishedWords(published: Record<string, Oid>): string {
  const words = Object.entries(published).map(
    ([ref, oid]) => `${ref.replace(/^refs\/(heads|tags)\//, "")} ${oid.slice(0, 10)}`,
  );
  return words.length > 4 ? `${words.slice(0, 4).join(", ")} and ${words.length - 4} more` : words.join(", ");
}

/** Allowance for clocks that differ, where the store stamps nothing: the smaller of 30 s and a third of the TTL. */
export function defaultSkew(ttl: number): number {
  return Math.min(30_000, Math.floor(ttl / 3));
}

/** When a lease ends without renewal, on the clock that stamped it. */
export function expiresAt(seen: SeenLease): Instant {
  return seen.writtenAt + seen.record.ttl;
}

export interface AcquireRequest {
  lease: string;
  claim: Claim;
  ttl: number;
  /** The store's time of the read. */
  now: Instant;
  /** Milliseconds by which the clock that stamped the record may differ from `now`'s. 0 where the store stamps. */
  skew: number;
  /** How long this challenger itself has seen the same tip, by its monotonic clock. */
  unchangedFor?: number;
  /** The holder's run is known to have finished. */
  holderFinished?: boolean;
  /** Never start a new root: for a server that takes fast-forwards only. */
  keepChain?: boolean;
  /** The highest token of this lease that this process has seen. */
  witness?: number;
  nonce: string;
}

/** Why a lease was free to take. */
export type GrantReason = "new" | "released" | "expired" | "finished" | "retried";

export type AcquireDecision =
  | { outcome: "grant"; reason: GrantReason; write: LeaseWrite }
  | { outcome: "refuse"; holding: SeenLease; expiresAt: Instant };

/**
 * Whether a claim may take the lease, and with which write.
 * @throws TokenRegressed when the record is older than one that was seen before.
 */
export function acquire(seen: SeenLease | null, ask: AcquireRequest): AcquireDecision {
  checkWitness(ask.lease, seen, ask.witness ?? 0);
  const reason = freeBecause(seen, ask);
  if (seen !== null && reason === null)
    return { outcome: "refuse", holding: seen, expiresAt: expiresAt(seen) };
  const root = seen === null || (seen.record.depth >= longestChain && ask.keepChain !== true);
  const record: LeaseRecord = {
    fencepost: format,
    kind: "lease",
    name: ask.lease,
    token: (seen?.record.token ?? 0) + 1,
    state: "held",
    ttl: ask.ttl,
    holder: ask.claim,
    since: new Date(ask.now).toISOString(),
    ...(seen?.record.slots ? { slots: seen.record.slots } : {}),
    event: "acquired",
    previous: seen?.oid ?? null,
    depth: root ? 1 : (seen?.record.depth ?? 0) + 1,
    nonce: ask.nonce,
    ...afterAcquire(seen, reason ?? "new", ask.now),
  };
  return { outcome: "grant", reason: reason ?? "new", write: { record, expected: seen?.oid ?? null, root } };
}

function freeBecause(seen: SeenLease | null, ask: AcquireRequest): GrantReason | null {
  if (seen === null) return "new";
  if (seen.record.state === "released") return "released";
  if (ask.holderFinished === true) return "finished";
  if (isEarlierAttempt(seen.record.holder, ask.claim)) return "retried";
  // A challenger that itself watched the tip stand still for the whole TTL needs nobody's clock
  // (the rule of Kubernetes' leader election); a one-shot challenger has to compare clocks.
  if ((ask.unchangedFor ?? 0) >= seen.record.ttl) return "expired";
  if (ask.now >= expiresAt(seen) + ask.skew) return "expired";
  return null;
}

/** The rule of fail-stop: a lease that vanished or whose token fell is never taken. */
export function checkWitness(lease: string, seen: SeenLease | null, witness: number): void {
  const found = seen?.record.token ?? 0;
  if (found >= witness) return;
  throw new TokenRegressed(
    `The lease ${quote(lease)} went backwards: token ${witness} was seen before, and now ${
      found === 0 ? "its record is gone" : `it says ${found}`
    }. Nothing was written. Put its branch back to its last good commit before anything runs again.`,
  );
}

/** What tells one acquisition from every other. */
export interface Ownership {
  token: number;
  claim: Pick<Claim, "id">;
}

/** Whether the record still belongs to this holding: same token, same claim, not released. */
export function isMine(seen: SeenLease | null, holding: Ownership): seen is SeenLease {
  return (
    seen !== null &&
    seen.record.state === "held" &&
    seen.record.token === holding.token &&
    sameClaim(seen.record.holder, holding.claim)
  );
}

/** `slots`: what it completes, beside what the record says already. */
type Successor = { nonce: string; slots?: DoneSlots } & (
  | { event: "renewed" | "released" }
  /** `now`: the store's time as far as the holder knows it; without it the push counts for the day of the write before. */
  | { event: "pushed"; published: Record<string, Oid>; now?: Instant }
);

/** The write that follows a record of mine, or null when the record is not mine. A push is a renewal too. */
export function succeed(seen: SeenLease | null, holding: Ownership, next: Successor): LeaseWrite | null {
  if (!isMine(seen, holding)) return null;
  const { published: _, unlock: __, ...kept } = seen.record;
  const record: LeaseRecord = {
    ...kept,
    state: next.event === "released" ? "released" : "held",
    event: next.event,
    previous: seen.oid,
    depth: seen.record.depth + 1,
    nonce: next.nonce,
    ...withSlots(seen.record.slots, next.slots),
    ...(next.event === "pushed"
      ? { published: next.published, ...afterPush(seen, next.now ?? seen.writtenAt) }
      : {}),
  };
  return { record, expected: seen.oid, root: false };
}

export interface UnlockRequest {
  lease: string;
  /** The token that the person saw. */
  token: number;
  by: string;
  reason: string;
  /** The store's time of the read. */
  now: Instant;
  nonce: string;
}

export type UnlockDecision =
  | { outcome: "unlock"; write: LeaseWrite }
  | { outcome: "absent" }
  | { outcome: "free"; seen: SeenLease }
  | { outcome: "moved-on"; seen: SeenLease };

/** Frees a lease by force, for people: the token that they saw must still be the lease's, and it advances. */
export function unlock(seen: SeenLease | null, ask: UnlockRequest): UnlockDecision {
  if (seen === null) return { outcome: "absent" };
  if (seen.record.token !== ask.token) return { outcome: "moved-on", seen };
  if (seen.record.state === "released") return { outcome: "free", seen };
  const { published: _, pushes: __, ...kept } = seen.record;
  const record: LeaseRecord = {
    ...kept,
    ...afterUnlock(seen, ask.now),
    token: seen.record.token + 1,
    state: "released",
    event: "unlocked",
    unlock: { by: ask.by, reason: ask.reason },
    previous: seen.oid,
    depth: seen.record.depth + 1,
    nonce: ask.nonce,
  };
  return { outcome: "unlock", write: { record, expected: seen.oid, root: false } };
}
