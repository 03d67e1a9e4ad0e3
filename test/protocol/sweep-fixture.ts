// Drafts and records for the tests of the sweep.
import { type SeenDraft, startDraft } from "../../src/protocol/draft.js";
import { settleDraft } from "../../src/protocol/settle.js";
import { planSweep, type SweepDraft, type SweepPlan, type SweepRequest } from "../../src/protocol/sweep.js";
import { blobA, blobB, claimOf, DraftRef, due, heldRef, minute, nonce, start } from "./draft-fixture.js";

const one = { token: 1, claim: claimOf("1") };

export function draft(path: string, more: Partial<SweepDraft> = {}): SweepDraft {
  return { path, blob: blobA, reading: due, age: 60 * minute, ...more };
}

export function dueAt(at: number): Partial<SweepDraft> {
  return { reading: { state: "pending", due: at } };
}

export function sweep(
  drafts: SweepDraft[],
  refs: DraftRef[] = [],
  more: Partial<SweepRequest> = {},
): SweepPlan {
  const records = new Map(refs.map((ref) => [ref.path, ref.read() as SeenDraft]));
  return planSweep({
    drafts,
    records,
    now: start,
    skew: 0,
    trigger: "clock",
    maxStart: 3,
    maxAttempts: 3,
    ...more,
  });
}

export function ended(path: string, result: Parameters<typeof settleDraft>[2], maxAttempts = 3): DraftRef {
  const ref = heldRef(path);
  ref.apply(
    settleDraft(ref.read(), one, result, { now: start, maxAttempts, random: 0, nonce: nonce() }),
    start,
  );
  return ref;
}

export function started(path: string): DraftRef {
  const ref = new DraftRef(path);
  const ask = { draft: path, blob: blobA, reading: due, now: start, skew: 0, maxAttempts: 3, staleAfter: 0 };
  ref.apply(startDraft(null, { ...ask, nonce: nonce() }), start);
  return ref;
}

export const publish = { result: "published", published: { "refs/heads/main": blobB } } as const;
export const fail = { result: "failed", reason: "x" } as const;
