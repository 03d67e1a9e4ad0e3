// Cron schedules: the slots of one, by enumeration where there are few and by arithmetic where there are many.
import { Cron, CronPattern } from "croner";
import { quote } from "./names.js";
import type { Instant } from "./record.js";
import { checkTimezone, offsetAt } from "./zone.js";

/** A cron expression that cannot be used; the message says why. */
export class ScheduleInvalid extends Error {
  override name = "ScheduleInvalid";
}

export interface Schedule {
  /** The five fields, with one space between. */
  expression: string;
  timezone: string;
  cron: Cron;
  pattern: CronPattern;
}

const minute = 60_000;
const day = 86_400_000;
/** Between two looks at a zone's offset. */
const step = 4 * day;

/**
 * Reads a schedule: exactly five fields, as GitHub writes them (numbers, names such as MON and JAN, `*` `,` `-` `/`).
 * Of the clocks going forward and back: a fixed time that is skipped comes at the first time after, and one that occurs
 * twice comes once; an interval has no skipped and both repeated times (Vixie cron's rules; of GitHub's,
 * only the first is documented).
 * https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#schedule
 * @throws ScheduleInvalid, TimezoneInvalid
 */
export function parseSchedule(given: string, timezone = "UTC"): Schedule {
  checkTimezone(timezone);
  const parts = given.trim().split(/\s+/);
  const invalid = (why: string) =>
    new ScheduleInvalid(`The schedule ${quote(given)} ${why}. A good one: 0 9 * * 1-5`);
  if (parts.length !== 5)
    throw invalid(`has ${given.trim() === "" ? 0 : parts.length} fields; it takes five`);
  const odd = parts.find((part) => !/^(?:[\d*,/-]|(?<![A-Za-z])[A-Za-z]{3}(?![A-Za-z]))+$/.test(part));
  if (odd !== undefined)
    throw invalid(`has a field ${quote(odd)}; a field takes numbers, names, * , - and /`);
  const expression = parts.join(" ").toUpperCase();
  const rules = { mode: "5-part", sloppyRanges: true, fixedTimeRule: "no-wildcard" } as const;
  let read: Pick<Schedule, "cron" | "pattern">;
  try {
    read = {
      cron: new Cron(expression, { ...rules, timezone, paused: true }),
      pattern: new CronPattern(expression, timezone, rules),
    };
  } catch (error) {
    const { message } = error as Error;
    throw invalid(`cannot be read: ${message.replace(/^CronPattern: /, "").replace(/\.$/, "")}`);
  }
  if (read.cron.nextRun(new Date(0)) === null) throw invalid("never comes");
  return { expression, timezone, ...read };
}

/** The slots after `after` and up to and including `upTo`, the oldest first. About 0.1 ms each. */
export function slotsBetween({ cron }: Schedule, after: Instant, upTo: Instant): Instant[] {
  if (upTo <= after) return [];
  const slots: Instant[] = [];
  let next = cron.nextRun(new Date(after));
  while (next !== null && next.getTime() <= upTo) {
    slots.push(next.getTime());
    next = cron.nextRun(next);
  }
  return slots;
}

/** The newest slots after `after` and up to and including `upTo`, at most `most` of them, the oldest first. */
export function newestSlots({ cron }: Schedule, after: Instant, upTo: Instant, most: number): Instant[] {
  // The library looks strictly before its reference. Slots lie on whole seconds.
  const newest = cron
    .previousRuns(most, new Date(Math.floor(upTo / 1000) * 1000 + 1000))
    .map((slot) => slot.getTime());
  return newest.filter((slot) => slot > after && slot <= upTo).reverse();
}

/**
 * How many slots lie after `after` and up to and including `upTo`. Exact.
 * Where the zone's clocks run evenly, slots are counted by whole days: O(days), some microseconds each, whatever the
 * schedule. The slots of fixed times are enumerated around each change of the clocks: O(slots that it skips or repeats).
 */
export function countSlots(schedule: Schedule, after: Instant, upTo: Instant): number {
  let counted = 0;
  let from = after;
  for (const { at, by } of clockChanges(schedule.timezone, after - day, upTo + day)) {
    const margin = schedule.pattern.isFixedTime ? by + minute : 0;
    const before = Math.min(Math.max(at - margin - 1, from), upTo);
    const behind = Math.min(Math.max(at + margin - 1, from), upTo);
    counted += countEven(schedule, from, before) + slotsBetween(schedule, before, behind).length;
    from = Math.max(behind, from);
  }
  return counted + countEven(schedule, from, upTo);
}

/** The slots of a span in which the clocks run evenly. */
function countEven({ pattern, timezone }: Schedule, after: Instant, upTo: Instant): number {
  if (upTo <= after) return 0;
  const offset = offsetAt(timezone, upTo);
  return slotsUntil(pattern, after + offset, upTo + offset);
}

/** Slots after one time and up to another of a clock that never changes. */
function slotsUntil(pattern: CronPattern, after: number, upTo: number): number {
  const [first, last] = [Math.floor(after / day), Math.floor(upTo / day)];
  let days = 0;
  for (let each = first; each < last; each++) if (isDayOf(pattern, each)) days++;
  const part = (at: number) => (isDayOf(pattern, Math.floor(at / day)) ? slotsOfDay(pattern, at) : 0);
  return days * total(pattern.hour) * total(pattern.minute) + part(upTo) - part(after);
}

/** Slots from midnight up to and including a time of the same day. */
function slotsOfDay(pattern: CronPattern, at: number): number {
  const minutes = Math.floor((((at % day) + day) % day) / minute);
  const hour = Math.floor(minutes / 60);
  const whole = total(pattern.hour.slice(0, hour)) * total(pattern.minute);
  return whole + (pattern.hour[hour] ? total(pattern.minute.slice(0, (minutes % 60) + 1)) : 0);
}

/** POSIX: where both kinds of day are given, either will do. */
function isDayOf(pattern: CronPattern, dayNumber: number): boolean {
  const date = new Date(dayNumber * day);
  if (!pattern.month[date.getUTCMonth()]) return false;
  const ofMonth = Boolean(pattern.day[date.getUTCDate() - 1]);
  const ofWeek = Boolean(pattern.dayOfWeek[date.getUTCDay()]);
  if (pattern.starDOM) return pattern.starDOW || ofWeek;
  return pattern.starDOW ? ofMonth : ofMonth || ofWeek;
}

function total(values: number[]): number {
  return values.reduce((sum, value) => sum + (value ? 1 : 0), 0);
}

/**
 * When a zone's clocks change, and by how many milliseconds either way. Two changes within one step would be taken for one
 * or none; no zone has made two less than a week apart since 1970 (America/Boa_Vista, October 2000).
 */
function clockChanges(timezone: string, from: Instant, to: Instant): { at: Instant; by: number }[] {
  if (timezone === "UTC") return [];
  const changes: { at: Instant; by: number }[] = [];
  let known = offsetAt(timezone, from);
  for (let start = from; start < to; start += step) {
    const end = Math.min(start + step, to);
    const offset = offsetAt(timezone, end);
    if (offset === known) continue;
    changes.push({ at: changeBetween(timezone, start, end), by: Math.abs(offset - known) });
    known = offset;
  }
  return changes;
}

/** The first instant of the new offset. */
function changeBetween(timezone: string, start: Instant, end: Instant): Instant {
  const before = offsetAt(timezone, start);
  let [low, high] = [start, end];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(timezone, middle) === before) low = middle;
    else high = middle;
  }
  return high;
}
