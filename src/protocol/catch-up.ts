// Catch-up: which missed slots of a schedule still run, and how many are dropped.
import type { Instant } from "./record.js";
import { countSlots, newestSlots, type Schedule } from "./schedule.js";

/** One nominal time of a schedule. */
export interface Slot {
  at: Instant;
  /** Names the slot for good, whoever runs it and however late. */
  key: string;
}

export interface CatchUpRequest {
  schedule: Schedule;
  /** The nominal time of the newest slot that succeeded; null before the first ever. */
  lastSuccess: Instant | null;
  now: Instant;
  /** The most slots to run: 1 (only the newest) to {@link mostBackfill}. */
  maxBackfill: number;
}

export interface CatchUpPlan {
  /** The newest slots that are due, the oldest of them first. */
  run: Slot[];
  /** Slots that are due and too many: older than those that run. */
  dropped: number;
  /** `run.length + dropped`. */
  due: number;
  /** Every slot so far is done. Cron does fire twice, and early. */
  nothingDue: boolean;
}

export const mostBackfill = 1000;

/**
 * The slots that are due: after the last success, up to and including now. The newest `maxBackfill` run.
 * The first run ever has no past to catch up with: only the newest slot is due, and nothing is dropped.
 * A last success in the future (clocks that went backwards) means that nothing is due.
 * The time this takes grows with the days since the last success and not with the slots: see {@link countSlots}.
 * @throws RangeError when `maxBackfill` is out of range.
 */
export function dueSlots({ schedule, lastSuccess, now, maxBackfill }: CatchUpRequest): CatchUpPlan {
  if (!Number.isInteger(maxBackfill) || maxBackfill < 1 || maxBackfill > mostBackfill)
    throw new RangeError(
      `max-backfill is ${maxBackfill}; it takes a whole number from 1 (only the newest slot) to ${mostBackfill}`,
    );
  const first = lastSuccess === null;
  const after = lastSuccess ?? Number.NEGATIVE_INFINITY;
  const run = newestSlots(schedule, after, now, first ? 1 : maxBackfill);
  const due = first || run.length < maxBackfill ? run.length : countSlots(schedule, after, now);
  return {
    run: run.map((at) => ({ at, key: slotKey(schedule, at) })),
    dropped: due - run.length,
    due,
    nothingDue: due === 0,
  };
}

/** The idempotency key of a slot: `0 9 * * 1-5 Asia/Tokyo 2026-11-30T00:00Z`. The time is UTC, so a repeated hour has two. */
export function slotKey({ expression, timezone }: Schedule, at: Instant): string {
  return `${expression} ${timezone} ${new Date(at).toISOString().replace(/:\d\d\.\d+Z$/, "Z")}`;
}

/** What became of a slot that was to run. `nothing_due`: another run had done it already. */
export type SlotOutcome = "started" | "skipped_overlap" | "nothing_due";

/** Where every slot that was due ended: the four others add up to `due`. */
export interface CatchUpCounts {
  due: number;
  started: number;
  skipped_overlap: number;
  nothing_due: number;
  dropped: number;
}

/**
 * The counts of a plan that was carried out.
 * @param outcomes one for each slot of `plan.run`.
 * @throws RangeError when there are more or fewer.
 */
export function countCatchUp(plan: CatchUpPlan, outcomes: readonly SlotOutcome[]): CatchUpCounts {
  if (outcomes.length !== plan.run.length)
    throw new RangeError(`${plan.run.length} slots were to run, and ${outcomes.length} outcomes were given.`);
  const counts = { due: plan.due, started: 0, skipped_overlap: 0, nothing_due: 0, dropped: plan.dropped };
  for (const outcome of outcomes) counts[outcome]++;
  return counts;
}
