// Time zones: what a wall clock shows at an instant, and the instant at which it shows a time.
import { quote } from "./names.js";
import type { Instant } from "./record.js";

/** A name that is no time zone of the IANA database. */
export class TimezoneInvalid extends Error {
  override name = "TimezoneInvalid";
}

const day = 86_400_000;

/** One formatter per zone: making one takes a hundred times as long as using it. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(timezone: string): Intl.DateTimeFormat {
  const known = formatters.get(timezone);
  if (known) return known;
  try {
    const made = new Intl.DateTimeFormat("en-US", { timeZone: timezone, timeZoneName: "longOffset" });
    formatters.set(timezone, made);
    return made;
  } catch {
    throw new TimezoneInvalid(`${quote(timezone)} is not a time zone. Good ones: Asia/Tokyo, UTC`);
  }
}

/** The time zone as given. @throws TimezoneInvalid */
export function checkTimezone(given: string): string {
  formatter(given);
  return given;
}

/** Milliseconds that the zone's clocks are ahead of UTC at an instant. @throws TimezoneInvalid */
export function offsetAt(timezone: string, at: Instant): number {
  const shown = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(formatter(timezone).format(at));
  if (!shown?.[1]) return 0;
  const seconds = Number(shown[2]) * 3600 + Number(shown[3]) * 60 + Number(shown[4] ?? 0);
  return (shown[1] === "-" ? -seconds : seconds) * 1000;
}

/**
 * The instant at which the zone's clocks show a time.
 * A time that occurs twice means the first; one that was skipped means as much later as the clocks were put forward
 * (the "compatible" rule of ECMAScript's Temporal and of RFC 5545).
 * @param wall the shown time, in milliseconds, as if it were UTC.
 * @throws TimezoneInvalid
 */
export function instantOf(wall: number, timezone: string): Instant {
  const before = offsetAt(timezone, wall - day);
  const after = offsetAt(timezone, wall + day);
  const fitting = [wall - before, wall - after].filter((at) => at + offsetAt(timezone, at) === wall);
  return fitting.length > 0 ? Math.min(...fitting) : wall - before;
}
