// Which TTL would fit, by how long a lease was held so far.
import { formatDuration } from "../protocol/duration.js";
import type { SeenLease } from "../protocol/lease.js";

export interface TtlAdvice {
  /** Complete holds that were seen. */
  holds: number;
  /** The longest of them, the TTL now, and the range that fits: 1.5 to 2 times the longest. Milliseconds. */
  worst: number;
  ttl: number;
  least: number;
  most: number;
  verdict: "fits" | "short" | "long";
}

/** Below this a TTL is all allowance and no lease. Milliseconds. */
const shortest = 60_000;

/** @param chain newest first. Null while no hold is complete. */
export function adviseTtl(chain: readonly SeenLease[]): TtlAdvice | null {
  const [newest] = chain;
  const lengths = chain
    .filter(({ record }) => record.event === "released")
    .map(({ record, writtenAt }) => Math.max(0, writtenAt - Date.parse(record.since)));
  if (newest === undefined || lengths.length === 0) return null;
  const { ttl } = newest.record;
  const worst = Math.max(...lengths);
  const [least, most] = [Math.max(shortest, worst * 1.5), Math.max(shortest, worst * 2)];
  const verdict = ttl < least ? "short" : ttl > Math.max(most, 15 * shortest) ? "long" : "fits";
  return { holds: lengths.length, worst, ttl, least, most, verdict };
}

export function describeAdvice({ holds, worst, ttl, least, most, verdict }: TtlAdvice): string {
  const seen = `the longest of ${holds} holds took ${formatDuration(worst)}, and the TTL is ${formatDuration(ttl)}`;
  // Whole minutes, upwards: nobody needs it finer.
  const [from, to] = [least, most].map((ms) => formatDuration(Math.ceil(ms / 60_000) * 60_000));
  const range = from === to ? from : `${from} to ${to}`;
  switch (verdict) {
    case "fits":
      return `${seen}, which fits`;
    case "short":
      return `${seen}: without a heartbeat such a run would be taken over; use --ttl ${range}`;
    case "long":
      return `${seen}: after a crash others wait that long; --ttl ${range} would do`;
  }
}
