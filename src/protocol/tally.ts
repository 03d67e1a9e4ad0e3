// What happened to a lease, day by day and holder by holder, carried in its record so that a summary costs no request.
import * as v from "valibot";
import { type Claim, describeClaim } from "./claim.js";
import type { Instant } from "./record.js";

const count = v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)));
const day = v.pipe(v.string(), v.regex(/^\d{4}-\d{2}-\d{2}$/));

/** Counts of one UTC day. A takeover is counted by its reason beside the acquisition that it was. */
export const leaseDaysSchema = v.record(
  day,
  v.object({
    acquired: count,
    pushed: count,
    expired: count,
    finished: count,
    retried: count,
    unlocked: count,
  }),
);
export type LeaseDays = v.InferOutput<typeof leaseDaysSchema>;
export type LeaseCount = keyof LeaseDays[string];

/** How a holder's time ended. */
export const ends = ["released", "expired", "finished", "retried", "unlocked"] as const;
export type End = (typeof ends)[number];

export const recentSchema = v.array(
  v.looseObject({
    token: v.number(),
    who: v.string(),
    url: v.optional(v.string()),
    from: v.pipe(v.string(), v.isoTimestamp()),
    to: v.pipe(v.string(), v.isoTimestamp()),
    end: v.picklist(ends),
  }),
);
export type Recent = v.InferOutput<typeof recentSchema>;

/** Days that are kept, the present one included. */
export const keptDays = 35;
/** Holders that are kept. */
const keptHolders = 8;

/** The UTC day of an instant: `2026-11-30`. */
export function dayOf(at: Instant): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** One more on that day; days that are too old are dropped. */
export function addToDay<C extends string>(
  days: Record<string, { [name in C]?: number | undefined }> | undefined,
  at: Instant,
  ...names: C[]
): Record<string, { [name in C]?: number }> {
  const today = dayOf(at);
  const oldest = dayOf(at - (keptDays - 1) * 86_400_000);
  const kept = Object.entries(days ?? {}).filter(([key]) => key >= oldest && key <= today);
  const next = Object.fromEntries(kept) as Record<string, { [name in C]?: number }>;
  const counts = { ...next[today] } as { [name in C]?: number };
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return { ...next, [today]: counts };
}

/** The holders that ended, with one more. */
export function addHolder(
  recent: Recent | undefined,
  holder: { token: number; claim: Claim; since: string; until: Instant; end: End },
): Recent {
  const { token, claim, since, until, end } = holder;
  const last = {
    token,
    who: describeClaim(claim).slice(0, 120),
    ...(claim.url ? { url: claim.url } : {}),
    from: since,
    to: new Date(until).toISOString(),
    end,
  };
  return [...(recent ?? []), last].slice(-keptHolders);
}

/** The sums of the last so many days, the present one included. */
export function sumDays<C extends string>(
  days: Record<string, { [name in C]?: number | undefined }> | undefined,
  now: Instant,
  most: number,
  names: readonly C[],
): Record<C, number> {
  const oldest = dayOf(now - (most - 1) * 86_400_000);
  const sums = Object.fromEntries(names.map((name) => [name, 0])) as Record<C, number>;
  for (const [key, counts] of Object.entries(days ?? {}))
    if (key >= oldest && key <= dayOf(now)) for (const name of names) sums[name] += counts[name] ?? 0;
  return sums;
}
