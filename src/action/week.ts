// The last seven days of a lease in numbers: one table for people, one flat object for metrics, and what they advise.
import { formatDuration } from "../protocol/duration.js";
import type { SeenLease } from "../protocol/lease.js";
import type { Instant } from "../protocol/record.js";
import type { SeenStats, StatsCount } from "../protocol/stats.js";
import { type Counts, type LeaseCount, lastDays, leaseCounts } from "../protocol/tally.js";
import { table } from "./markdown.js";

export interface Counted {
  /** The store's time. */
  now: Instant;
  /** The lease as it was seen last. */
  seen: SeenLease | null;
  stats: SeenStats | null;
}

type Count = LeaseCount | StatsCount;
export type Week = { day: string; counts: Record<Count, number> }[];

const takeovers = ["expired", "finished", "retried", "unlocked"] as const;
const daysShown = 7;

/** The last seven days, the newest first. */
export function lastWeek({ now, seen, stats }: Counted): Week {
  const skips = lastDays<StatsCount>(stats?.record.days, now, daysShown);
  return lastDays<LeaseCount>(seen?.record.days, now, daysShown).map(({ day, counts }, i) => ({
    day,
    counts: complete({ ...counts, ...skips[i]?.counts }),
  }));
}

function complete(counts: Counts<Count>): Record<Count, number> {
  const all = [...leaseCounts, "skipped_overlap", "superseded"] as const;
  return Object.fromEntries(all.map((key) => [key, counts[key] ?? 0])) as Record<Count, number>;
}

export function totals(week: Week): Record<Count, number> {
  const sum = complete({});
  for (const { counts } of week) for (const key of Object.keys(sum) as Count[]) sum[key] += counts[key];
  return sum;
}

/** Counters of the last seven days under flat names; every name is always there. */
export function metrics(view: Counted): Record<string, number> {
  const sum = totals(lastWeek(view));
  return {
    "scheduled.skipped_overlap": sum.skipped_overlap,
    "lease.acquired": sum.acquired,
    "lease.takeover.expired": sum.expired,
    "lease.takeover.finished": sum.finished,
    "lease.takeover.retried": sum.retried,
    "lease.takeover.unlocked": sum.unlocked,
    "push.pushed": sum.pushed,
    "push.superseded": sum.superseded,
  };
}

/** A day a line, and all of them together below. */
export function weekTable(week: Week): string {
  const head = ["Day (UTC)", "Acquired", "Pushed", "Skipped (overlap)", "Takeovers", "Late pushes refused"];
  const rows = week.map(({ day, counts }) => [day, ...cells(counts)]);
  return table(head, [...rows, ["7 days", ...cells(totals(week))].map((cell) => `**${cell}**`)]);
}

function cells(counts: Record<Count, number>): string[] {
  const { acquired, pushed, skipped_overlap: skipped, superseded } = counts;
  const share = skipped > 0 ? ` (${Math.round((100 * skipped) / (acquired + skipped))} %)` : "";
  const taken = takeovers.filter((reason) => counts[reason] > 0);
  const sum = taken.reduce((all, reason) => all + counts[reason], 0);
  const reasons = taken.map((reason) => `${counts[reason]} ${reason}`).join(", ");
  return [
    String(acquired),
    String(pushed),
    `${skipped}${share}`,
    taken.length > 1 ? `${sum}: ${reasons}` : reasons || "0",
    String(superseded),
  ];
}

/** A warning when this many runs in a row were skipped because of one holder; null below the threshold. 0 turns it off. */
export function skipAlarm(row: number, threshold: number): string | null {
  if (threshold <= 0 || row < threshold) return null;
  return row === 1
    ? "A run was skipped because the lease was held."
    : `${row} runs in a row were skipped because the same holder has the lease.`;
}

/** How many takeovers after an expiry within the week are no coincidence. */
const manyExpired = 2;
/** A schedule is too dense when half of at least so many runs are skipped. */
const manyRuns = 8;

/** What the numbers advise; sentences without anybody's text. */
export function weekAdvice(week: Week, ttl: number | undefined): string[] {
  const { acquired, expired, skipped_overlap: skipped } = totals(week);
  const advice: string[] = [];
  if (expired >= manyExpired)
    advice.push(
      `${expired} holders of the last 7 days let the lease expire. Their runners died, or slept or hung longer than the TTL${ttl === undefined ? "" : ` of ${formatDuration(ttl)}`}. If their runs were alive, raise \`ttl\`.`,
    );
  if (acquired + skipped >= manyRuns && skipped >= acquired)
    advice.push(
      `${skipped} of ${acquired + skipped} runs of the last 7 days were skipped. The schedule is closer than the job is long: run it less often, or make the job shorter.`,
    );
  return advice;
}
