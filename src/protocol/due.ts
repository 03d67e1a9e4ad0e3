// Due dates: the instant that a date in front matter or in a file name stands for.
import { quote } from "./names.js";
import type { Instant } from "./record.js";
import { instantOf } from "./zone.js";

/** A due date that cannot be read, or needs a zone that nobody gave. */
export class DueInvalid extends Error {
  override name = "DueInvalid";
}

/** `2026-11-30`, `2013/7/13 20:46:25`, `2015-11-17 16:16:01 -0600`, `2026-11-30T09:00:00.000Z`. */
const shape =
  /^(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:[Tt ]\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:\s*(Z|z|UTC|GMT|[+-]\d{2}:?\d{2}))?)?$/;

/**
 * The instant of a due date, or null where there is none (absent, null or empty).
 * A date alone means any time of that day, so it is due from the day's first moment.
 * @param given text, or a date as a TOML parser gives it.
 * @param timezone the zone of dates that name none.
 * @throws DueInvalid, TimezoneInvalid
 */
export function parseDue(given: unknown, timezone: string | undefined): Instant | null {
  if (given === undefined || given === null) return null;
  const text = (given instanceof Date ? given.toISOString() : String(given)).trim();
  if (text === "") return null;
  const found = shape.exec(text);
  const wall = found && wallOf(found);
  if (!found || wall === null)
    throw new DueInvalid(`the date ${quote(text)} cannot be read. A good one: 2026-11-30T09:00:00+09:00`);
  const offset = found[8];
  if (offset !== undefined) return wall - offsetOf(offset);
  if (timezone === undefined)
    throw new DueInvalid(
      `the date ${quote(text)} names no time zone. Set \`timezone\`, or write it as ${text.slice(0, 10)}T09:00:00+09:00`,
    );
  return instantOf(wall, timezone);
}

function wallOf(found: RegExpExecArray): number | null {
  const [year, month, date, hour, minute, second] = [1, 3, 4, 5, 6, 7].map((i) => Number(found[i] ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const wall = Date.UTC(year, month - 1, date, hour, minute, second);
  const back = new Date(wall);
  const real =
    back.getUTCFullYear() === year && back.getUTCMonth() === month - 1 && back.getUTCDate() === date;
  return real && hour < 24 && minute < 60 && second < 60 ? wall : null;
}

function offsetOf(zone: string): number {
  const parts = /^([+-])(\d{2}):?(\d{2})$/.exec(zone);
  if (!parts) return 0;
  return (parts[1] === "-" ? -1 : 1) * (Number(parts[2]) * 60 + Number(parts[3])) * 60_000;
}
