// How a draft's attempt ends: published, tried again later, dead, or redriven by a person.
import { type Claim, oneLine } from "./claim.js";
import { changeDraft, type DraftWrite, isMyDraft, type SeenDraft } from "./draft.js";
import type { Ownership } from "./lease.js";
import type { Instant, Oid } from "./record.js";

export interface Backoff {
  /** Milliseconds after the first failure, before jitter. It doubles with each further one. */
  first: number;
  /** The most that it grows to. Milliseconds. */
  most: number;
}

export const defaultBackoff: Backoff = { first: 5 * 60_000, most: 6 * 3_600_000 };

/**
 * Milliseconds to wait after the nth failure: exponential, capped, and between half and all of that by chance
 * (half jitter, as pg-boss and AWS's "Exponential Backoff And Jitter" do), so that drafts that failed together do not return together.
 * @param attempts 1 or more.
 * @param random 0 up to, but not including, 1.
 */
export function backoffDelay(attempts: number, random: number, backoff: Backoff = defaultBackoff): number {
  const whole = Math.min(backoff.most, backoff.first * 2 ** Math.min(30, Math.max(0, attempts - 1)));
  return Math.round(whole / 2 + (whole / 2) * random);
}

/** How an attempt ended. `unchanged`: a push was asked for, and there was nothing to push. */
export type AttemptResult =
  | { result: "published"; published: Record<string, Oid> }
  | { result: "unchanged" }
  | { result: "failed"; reason: string }
  | { result: "cancelled"; reason?: string }
  /** The lease was lost, which says more about runners than about the draft. It may be tried again at once. */
  | { result: "lost"; reason: string };

export interface SettleRequest {
  /** The store's time. */
  now: Instant;
  /** 1 or more. */
  maxAttempts: number;
  /** 0 up to, but not including, 1. */
  random: number;
  backoff?: Backoff;
  nonce: string;
}

/** Longest reason that a record keeps, in characters. */
const longestReason = 500;

/**
 * The write that ends an attempt, or null when the record is not mine (any more): a late end changes nothing.
 * The write for `published` belongs into the same transaction as the push.
 */
export function settleDraft(
  seen: SeenDraft | null,
  holding: Ownership,
  result: AttemptResult,
  ask: SettleRequest,
): DraftWrite | null {
  if (!isMyDraft(seen, holding)) return null;
  if (result.result === "published")
    return changeDraft(seen, ask.nonce, {
      event: "published",
      state: "published",
      published: result.published,
      reason: undefined,
      notBefore: undefined,
    });
  const reason = shortened(reasonOf(result));
  const { attempts } = seen.record;
  const lost = seen.record.lost + (result.result === "lost" ? 1 : 0);
  if (attempts >= ask.maxAttempts)
    return changeDraft(seen, ask.nonce, { event: "dead", state: "dead", lost, reason, notBefore: undefined });
  if (result.result === "lost")
    return changeDraft(seen, ask.nonce, { event: "lost", state: "pending", lost, reason });
  const notBefore = new Date(ask.now + backoffDelay(attempts, ask.random, ask.backoff)).toISOString();
  const event = result.result === "cancelled" ? "released" : "failed";
  return changeDraft(seen, ask.nonce, { event, state: "pending", reason, notBefore });
}

function reasonOf(result: Exclude<AttemptResult, { result: "published" }>): string {
  switch (result.result) {
    case "unchanged":
      return "it was to push, and there was nothing to push";
    case "failed":
    case "lost":
      return result.reason;
    case "cancelled":
      return result.reason ?? "cancelled";
  }
}

function shortened(reason: string): string {
  const points = [...oneLine(reason)];
  if (points.length === 0) return "no reason given";
  return points.length > longestReason ? `${points.slice(0, longestReason).join("")}…` : points.join("");
}

export interface RedriveRequest {
  /** Who asks. */
  by: string;
  reason: string;
  nonce: string;
}

export type RedriveDecision =
  | { outcome: "redriven"; write: DraftWrite }
  /** No record of such a draft. */
  | { outcome: "unknown" }
  | { outcome: "not_dead"; state: SeenDraft["record"]["state"]; holder?: Claim };

/** Takes a draft out of the dead letters, for people: pending at once, with all its attempts back, and who asked and why on record. */
export function redriveDraft(seen: SeenDraft | null, ask: RedriveRequest): RedriveDecision {
  if (seen === null) return { outcome: "unknown" };
  const { state, holder } = seen.record;
  if (state !== "dead")
    return { outcome: "not_dead", state, ...(state === "held" && holder ? { holder } : {}) };
  const write = changeDraft(seen, ask.nonce, {
    event: "redriven",
    state: "pending",
    attempts: 0,
    lost: 0,
    notBefore: undefined,
    redrive: { by: oneLine(ask.by), reason: shortened(ask.reason) },
  });
  return { outcome: "redriven", write };
}

export type UnlockDraftDecision =
  | { outcome: "unlocked"; write: DraftWrite; was: SeenDraft }
  /** No record of such a draft. */
  | { outcome: "unknown" }
  | { outcome: "not_held"; seen: SeenDraft }
  /** It has another token than the person saw. */
  | { outcome: "moved_on"; seen: SeenDraft };

/**
 * Frees a draft by force, for people: pending at once, the attempt counted as lost. What its holder still pushes is
 * refused, since its record has moved. @param ask `token`: the one that the person saw
 */
export function unlockDraft(
  seen: SeenDraft | null,
  ask: { token: number; by: string; reason: string; nonce: string },
): UnlockDraftDecision {
  if (seen === null) return { outcome: "unknown" };
  if (seen.record.token !== ask.token) return { outcome: "moved_on", seen };
  if (seen.record.state !== "held") return { outcome: "not_held", seen };
  const write = changeDraft(seen, ask.nonce, {
    event: "lost",
    state: "pending",
    lost: seen.record.lost + 1,
    reason: shortened(`unlocked by ${ask.by}: ${ask.reason}`),
    notBefore: undefined,
  });
  return { outcome: "unlocked", write, was: seen };
}
