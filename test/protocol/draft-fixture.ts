// A draft's ref in memory, so that tests write and read records as a store does.
import type { Claim } from "../../src/protocol/claim.js";
import type { DraftReading } from "../../src/protocol/conventions/convention.js";
import {
  claimDraft,
  type DraftClaimRequest,
  type DraftWrite,
  draftMessage,
  draftRecordName,
  readDraftRecord,
  type SeenDraft,
} from "../../src/protocol/draft.js";
import type { Versioned } from "../../src/protocol/record.js";

export const minute = 60_000;
export const ttl = 15 * minute;
export const start = Date.parse("2026-11-30T00:00:00Z");
export const blobA = "a".repeat(40);
export const blobB = "b".repeat(40);
export const due: DraftReading = { state: "pending", due: null };
export const published: DraftReading = { state: "not_pending" };

let made = 0;

export function nonce(): string {
  return `nonce-${String(++made).padStart(6, "0")}`;
}

export function claimOf(name: string, more: Partial<Claim> = {}): Claim {
  return {
    id: `claim-${name}`.padEnd(10, "-"),
    repository: "octo/blog",
    runId: name,
    runAttempt: 1,
    ...more,
  };
}

/** One ref. It refuses a write over a tip that has moved, and checks each record as a store's reader would. */
export class DraftRef {
  private tip: Versioned | null = null;
  readonly history: SeenDraft[] = [];

  constructor(readonly path: string) {}

  read(): SeenDraft | null {
    return readDraftRecord(this.tip);
  }

  /** Whether the write was applied. */
  apply(write: DraftWrite | null, now: number): boolean {
    if (write === null || write.expected !== (this.tip?.oid ?? null)) return false;
    this.tip = {
      name: draftRecordName(this.path),
      oid: (++made).toString(16).padStart(40, "0"),
      writtenAt: now,
      parents: write.root || write.expected === null ? [] : [write.expected],
      message: draftMessage(write.record),
    };
    this.history.push(this.read() as SeenDraft);
    return true;
  }

  prune(): void {
    this.tip = null;
  }
}

export function ask(path: string, more: Partial<DraftClaimRequest> = {}): DraftClaimRequest {
  return {
    draft: path,
    blob: blobA,
    reading: due,
    claim: claimOf("1"),
    ttl,
    now: start,
    skew: 0,
    maxAttempts: 3,
    nonce: nonce(),
    ...more,
  };
}

/** A ref whose draft this claim holds. */
export function heldRef(path: string, more: Partial<DraftClaimRequest> = {}): DraftRef {
  const ref = new DraftRef(path);
  claimOn(ref, more);
  return ref;
}

/** Claims, and fails the test when the claim is refused. */
export function claimOn(ref: DraftRef, more: Partial<DraftClaimRequest> = {}): SeenDraft {
  const request = ask(ref.path, more);
  const decision = claimDraft(ref.read(), request);
  if (decision.outcome !== "grant") throw new Error(`refused: ${decision.standing.is}`);
  ref.apply(decision.write, request.now);
  return ref.read() as SeenDraft;
}
