// Durations as people write them: `90s`, `15m`, `1h30m`.
import parse from "parse-duration";
import { quote } from "./names.js";

/** A duration that cannot be read, or is out of range. */
export class DurationInvalid extends Error {
  override name = "DurationInvalid";
}

export interface DurationRange {
  /** Milliseconds. */
  least: number;
  most: number;
}

/**
 * Milliseconds of a duration such as `90s`, `15m` or `1h30m` (units ms, s, m, h, d).
 * @param option names the option or input in the error.
 * @throws DurationInvalid when it cannot be read or lies outside the range.
 */
export function parseDuration(option: string, given: string, range: DurationRange): number {
  const shape = /^(\d+(\.\d+)?(ms|s|m|h|d))+$/;
  const value = shape.test(given.trim()) ? parse(given.trim()) : null;
  if (value === null || !Number.isFinite(value))
    throw new DurationInvalid(`${option}: ${quote(given)} is not a duration. Good ones: 90s, 15m, 1h30m`);
  if (value < range.least || value > range.most)
    throw new DurationInvalid(
      `${option}: ${quote(given)} is out of range; it takes ${formatDuration(range.least)} to ${formatDuration(range.most)}. A good one: 15m`,
    );
  return Math.round(value);
}

/** A duration in words, of at most two neighbouring units, rounded: `15m`, `1h30m`, `2d4h`, `400ms`. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return "an unknown time";
  const whole = Math.max(0, Math.round(ms));
  if (whole < 1000) return whole === 0 ? "0s" : `${whole}ms`;
  const seconds = Math.round(whole / 1000);
  const parts = (
    [
      ["d", 86_400],
      ["h", 3600],
      ["m", 60],
      ["s", 1],
    ] as const
  ).map(([unit, size], i, all) => {
    const above = all[i - 1]?.[1];
    return [Math.floor((above ? seconds % above : seconds) / size), unit] as const;
  });
  const first = parts.findIndex(([n]) => n > 0);
  return parts
    .slice(first, first + 2)
    .filter(([n]) => n > 0)
    .map(([n, unit]) => `${n}${unit}`)
    .join("");
}
