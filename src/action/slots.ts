// The slots of a schedule that a job works on: those due since the last success, as the lease's record has it.
import { type CatchUpPlan, dueSlots } from "../protocol/catch-up.js";
import type { LeaseRecord } from "../protocol/lease.js";
import type { Instant } from "../protocol/record.js";
import { parseSchedule, type Schedule } from "../protocol/schedule.js";
import type { DoneSlots } from "../protocol/slots.js";
import type { SlotInputs } from "./rules.js";

export interface SlotPlan extends CatchUpPlan {
  /** What the lease's record shall say when all of these have succeeded. */
  done: DoneSlots;
}

export function planSlots(inputs: SlotInputs, record: LeaseRecord, now: Instant): SlotPlan {
  const schedule = parseSchedule(inputs.schedule, inputs.timezone);
  const key = scheduleKey(schedule);
  const last = record.slots?.[key];
  const lastSuccess = last === undefined ? null : Date.parse(last);
  const plan = dueSlots({ schedule, lastSuccess, now, maxBackfill: inputs.maxBackfill });
  const newest = plan.run.at(-1);
  return { ...plan, done: newest ? { [key]: new Date(newest.at).toISOString() } : {} };
}

/** One lease may serve several schedules, and each has its own last success. */
function scheduleKey({ expression, timezone }: Schedule): string {
  return `${expression} ${timezone}`;
}

/** As the output `slots` has them. */
export function slotsJson({ run }: Pick<CatchUpPlan, "run">): string {
  return JSON.stringify(run.map(({ at, key }) => ({ slot: new Date(at).toISOString(), key })));
}
