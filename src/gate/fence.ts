// Fences: the records that must move with the branch, so that the server itself refuses who no longer holds them.
import type { Chance } from "../chance.js";
import { describeDraft } from "../draft/describe.js";
import { describeHolding } from "../lease/describe.js";
import {
  type DraftRecord,
  draftMessage,
  draftRecordName,
  isMyDraft,
  readDraftRecord,
} from "../protocol/draft.js";
import {
  checkWitness,
  type Holding,
  isMine,
  leaseMessage,
  leaseRecordName,
  type Ownership,
  readLease,
  succeed,
} from "../protocol/lease.js";
import { quote, type RecordName } from "../protocol/names.js";
import type { Instant, Oid, Versioned } from "../protocol/record.js";
import { settleDraft } from "../protocol/settle.js";

/** One record that moves in the same transaction as the branch. */
export interface Fence {
  record: RecordName;
  /** What is held. */
  of: "lease" | "draft";
  /** The lease's or the draft's name, and the token under which it is held. */
  name: string;
  token: number;
  /** The record is no older than what was seen before. @throws RecordInvalid, TokenRegressed */
  check(seen: Versioned | null): void;
  /** Whether the record is still the pusher's. @throws RecordInvalid */
  isMine(seen: Versioned | null): seen is Versioned;
  /** The message of the record that says what was pushed. Only for a record that is mine. */
  succeed(seen: Versioned, published: Record<string, Oid>, now: Instant): string;
  /** Why a push was refused whose record is not mine (any more), in one or two sentences, the first without its capital. */
  lost(seen: Versioned | null, now: Instant): string;
}

/** A lease as the fence: it stays held, and its record says what was pushed. `slots`: what this push completes. */
export function leaseFence(
  lease: string,
  owner: Ownership,
  chance: Chance,
  slots?: Record<string, string>,
): Fence {
  const { token } = owner;
  return {
    record: leaseRecordName(lease),
    of: "lease",
    name: lease,
    token,
    check: (seen) => checkWitness(lease, readLease(seen), token),
    isMine: (seen): seen is Versioned => isMine(readLease(seen), owner),
    succeed: (seen, published, now) => {
      const next = {
        event: "pushed",
        nonce: chance.nonce(),
        published,
        now,
        ...(slots ? { slots } : {}),
      } as const;
      const write = succeed(readLease(seen), owner, next);
      if (write === null) throw new Error("a lease that was mine has no successor");
      return leaseMessage(write.record);
    },
    lost: (seen, now) => {
      const found = readLease(seen);
      const by = found ? `The lease is now: ${describeHolding(found, now)}.` : "Its record is gone.";
      return `token ${token} of ${quote(lease)} no longer holds the lease. ${by}`;
    },
  };
}

/** A draft as the fence: with the push it is published, so that no second push for the same claim can follow. */
export function draftFence(draft: string, owner: Ownership, chance: Chance): Fence {
  const { token } = owner;
  return {
    record: draftRecordName(draft),
    of: "draft",
    name: draft,
    token,
    check: (seen) => void readDraftRecord(seen),
    isMine: (seen): seen is Versioned => isMyDraft(readDraftRecord(seen), owner),
    succeed: (seen, published, now) => {
      const ask = { now, maxAttempts: 1, random: 0, nonce: chance.nonce() };
      const result = { result: "published", published } as const;
      const write = settleDraft(readDraftRecord(seen), owner, result, ask);
      if (write === null) throw new Error("a draft that was mine has no successor");
      return draftMessage(write.record);
    },
    lost: (seen, now) => {
      const found = readDraftRecord(seen);
      const by = found ? `It is now: ${describeDraft(found, now)}.` : "Its record is gone.";
      return `token ${token} no longer holds the draft ${quote(draft)}. ${by}`;
    },
  };
}

/** The holding that a push wrote, when a lease was its fence. */
export function pushedHolding(written: readonly Versioned[]): Holding | undefined {
  const versioned = written.find((each) => each.name.startsWith("lease/"));
  const seen = versioned && readLease(versioned);
  if (!seen) return undefined;
  return { lease: seen.record.name, token: seen.record.token, claim: seen.record.holder, ...seen };
}

/** The record that a push wrote, when a draft was its fence. */
export function pushedDraft(written: readonly Versioned[]): DraftRecord | undefined {
  const versioned = written.find((each) => each.name.startsWith("draft/"));
  return versioned && readDraftRecord(versioned)?.record;
}
