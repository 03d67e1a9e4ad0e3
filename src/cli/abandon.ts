// Gives back what a signal cut short: the write that took it may have arrived, though its reply was not waited for.
import { readDraftOn, settleOnStore } from "../draft/claim.js";
import { readOne, succeedLease } from "../lease/lease.js";
import type { Claim } from "../protocol/claim.js";
import type { Interrupt } from "./interrupt.js";
import type { Place } from "./place.js";

/** How long that may take, in milliseconds: after it, what was taken ends by itself. */
const limit = 10_000;

/** Takes something by `work`. An interrupt in the middle of it undoes what came of it, if anything did. */
export async function undone<T>(
  interrupt: Interrupt,
  work: Promise<T>,
  undo: () => Promise<void>,
): Promise<T> {
  return work.catch(async (error) => {
    if (interrupt.name !== undefined) await undo().catch(() => {});
    throw error;
  });
}

export async function abandonLease({ ports }: Place, lease: string, claim: Claim): Promise<void> {
  const signal = AbortSignal.timeout(limit);
  const seen = await readOne(ports.store, lease, { signal });
  if (seen === null || seen.record.holder.id !== claim.id) return;
  await succeedLease(ports, { lease, token: seen.record.token, claim, ...seen }, "released", { signal });
}

export async function abandonDraft(
  { ports }: Place,
  draft: string,
  claim: Claim,
  { maxAttempts, reason }: { maxAttempts: number; reason: string },
): Promise<void> {
  const signal = AbortSignal.timeout(limit);
  const seen = await readDraftOn(ports.store, draft, { signal });
  if (seen === null || seen.record.holder?.id !== claim.id) return;
  const holding = { draft, token: seen.record.token, claim, ...seen };
  await settleOnStore(ports, holding, { result: "cancelled", reason }, { maxAttempts, signal });
}
