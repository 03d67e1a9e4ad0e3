// The slots of a schedule for `fencepost run`: which are due since the last success, as the lease's record has it.
import { type CatchUpPlan, dueSlots, mostBackfill } from "../protocol/catch-up.js";
import type { LeaseRecord } from "../protocol/lease.js";
import type { Instant } from "../protocol/record.js";
import { parseSchedule, type Schedule } from "../protocol/schedule.js";
import { UsageError } from "./exit.js";

export interface SlotOptions {
  schedule?: string;
  timezone?: string;
  maxBackfill?: number;
}

export interface Slots {
  schedule: Schedule;
  maxBackfill: number;
}

/** @throws UsageError, ScheduleInvalid, TimezoneInvalid */
export function slotsOf(options: SlotOptions): Slots | undefined {
  if (options.schedule === undefined) {
    if (options.maxBackfill === undefined) return undefined;
    throw new UsageError("--max-backfill goes with --schedule CRON. Add it, or leave this out.");
  }
  const schedule = parseSchedule(options.schedule, options.timezone ?? "UTC");
  return { schedule, maxBackfill: options.maxBackfill ?? 1 };
}

export { mostBackfill };

/** One lease may serve several schedules, and each has its own last success. */
export function scheduleKey({ expression, timezone }: Schedule): string {
  return `${expression} ${timezone}`;
}

/** The slots that are due, given the lease's record as it is. */
export function planSlots(
  { schedule, maxBackfill }: Slots,
  record: LeaseRecord | undefined,
  now: Instant,
): CatchUpPlan {
  const last = record?.slots?.[scheduleKey(schedule)];
  return dueSlots({ schedule, lastSuccess: last === undefined ? null : Date.parse(last), now, maxBackfill });
}

/** What the success of a slot adds to the lease's record. */
export function doneSlot({ schedule }: Slots, at: Instant): Record<string, string> {
  return { [scheduleKey(schedule)]: new Date(at).toISOString() };
}
