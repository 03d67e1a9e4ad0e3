// The history that a lease carries along: counts by UTC day, and the last holders. For people; it decides nothing.
import * as v from "valibot";
import { type Claim, describeClaim } from "./claim.js";
import type { Instant } from "./record.js";

/** What is counted of a lease; the takeovers go by their reason. */
export const leaseCounts = ["acquired", "pushed", "expired", "finished", "retried", "unlocked"] as const;
export type LeaseCount = (typeof leaseCounts)[number];

/** Days that counts are kept. */
export const daysKept = 35;
/** Holders that are kept after they ended. */
export const holdersKept = 8;
/** Longest text and address of a holder that are kept, in UTF-16 units: the record is written at every renewal. */
const longestWho = 100;
const longestUrl = 200;

/** Counts by UTC day (`2026-11-30`). What did not happen is left out. */
export type Days<K extends string> = Record<string, Counts<K>>;
export type Counts<K extends string> = { [P in K]?: number | undefined };

export const daySchema = v.pipe(v.string(), v.regex(/^\d{4}-\d\d-\d\d$/));
export const countSchema = v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)));

const endSchema = v.picklist(["released", "expired", "finished", "retried", "unlocked"]);
export type End = v.InferOutput<typeof endSchema>;

const endedSchema = v.looseObject({
  token: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  /** The claim in words. */
  who: v.string(),
  url: v.optional(v.pipe(v.string(), v.regex(/^https?:\/\//))),
  from: v.pipe(v.string(), v.isoTimestamp()),
  to: v.pipe(v.string(), v.isoTimestamp()),
  end: endSchema,
  /** How often it pushed. */
  pushed: countSchema,
});

/** A holder that ended. */
export type Ended = v.InferOutput<typeof endedSchema>;

const counts = v.looseObject({
  acquired: countSchema,
  pushed: countSchema,
  expired: countSchema,
  finished: countSchema,
  retried: countSchema,
  unlocked: countSchema,
});

/** Fields of a lease record. History that is damaged is forgotten: statistics must not keep anybody from a lease. */
export const tallyFields = {
  days: v.optional(v.fallback(v.record(daySchema, counts), {})),
  recent: v.optional(v.fallback(v.array(endedSchema), [])),
  /** Pushes of the present holder. */
  pushes: v.optional(v.fallback(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), 0)),
};

/** The part of a lease record that the tally reads. */
interface Told {
  token: number;
  ttl: number;
  event: string;
  holder: Claim;
  since: string;
  days?: Days<LeaseCount> | undefined;
  recent?: Ended[] | undefined;
  pushes?: number | undefined;
}

interface SeenTold {
  record: Told;
  writtenAt: Instant;
}

/** The history after an acquisition: the holder before is remembered, and the day counts it. */
export function afterAcquire(
  seen: SeenTold | null,
  reason: "new" | Exclude<End, "unlocked">,
  now: Instant,
): { days: Days<LeaseCount>; recent?: Ended[] } {
  const takeover = reason === "new" || reason === "released" ? [] : [reason];
  const days = countDay(seen?.record.days, now, ["acquired", ...takeover]);
  if (seen === null || reason === "new") return { days };
  // An unlock has told the end of its holder already.
  if (seen.record.event === "unlocked") return { days, recent: seen.record.recent ?? [] };
  return { days, recent: remember(seen, reason, now) };
}

/** The history after a push. */
export function afterPush(seen: SeenTold, now: Instant): { days: Days<LeaseCount>; pushes: number } {
  return { days: countDay(seen.record.days, now, ["pushed"]), pushes: (seen.record.pushes ?? 0) + 1 };
}

/** The history after a person freed the lease. */
export function afterUnlock(seen: SeenTold, now: Instant): { days: Days<LeaseCount>; recent: Ended[] } {
  return { days: countDay(seen.record.days, now, ["unlocked"]), recent: remember(seen, "unlocked", now) };
}

function remember(seen: SeenTold, end: End, now: Instant): Ended[] {
  const { token, holder, since, recent = [], pushes = 0 } = seen.record;
  const ended: Ended = {
    token,
    who: cut(describeClaim(holder)),
    ...(holder.url !== undefined && holder.url.length <= longestUrl ? { url: holder.url } : {}),
    from: since,
    to: new Date(endedAt(seen, end, now)).toISOString(),
    end,
    ...(pushes > 0 ? { pushed: pushes } : {}),
  };
  return [...recent, ended].slice(-holdersKept);
}

/**
 * A release ended its holder when it was written, everything else when its time was up, and at the latest now. A date
 * that makes no sense (a plain git server keeps whatever its writers say) is replaced by now.
 */
function endedAt(seen: SeenTold, end: End, now: Instant): Instant {
  const at = end === "released" ? seen.writtenAt : seen.writtenAt + seen.record.ttl;
  return at <= now && at >= Date.parse(seen.record.since) ? at : now;
}

function cut(text: string): string {
  return text.length > longestWho ? `${text.slice(0, longestWho - 1).toWellFormed()}…` : text;
}

/** The UTC day of an instant. */
export function utcDay(at: Instant): string {
  return new Date(at).toISOString().slice(0, 10);
}

const day = 86_400_000;

/** The day that something counts for: today, or tomorrow if a clock slightly ahead has begun it already. */
export function dayOf(days: Days<string> | undefined, now: Instant): string {
  const tomorrow = utcDay(now + day);
  return days?.[tomorrow] === undefined ? utcDay(now) : tomorrow;
}

/** Counts one of each key; days older than 35, and those of a clock far ahead, are dropped. */
export function countDay<K extends string>(
  days: Days<K> | undefined,
  now: Instant,
  keys: readonly K[],
): Days<K> {
  const today = dayOf(days, now);
  const oldest = utcDay(Date.parse(today) - (daysKept - 1) * day);
  const kept = Object.entries(days ?? {}).filter(([key]) => key >= oldest && key <= today);
  const counted: Counts<K> = { ...days?.[today] };
  for (const key of keys) counted[key] = Math.min((counted[key] ?? 0) + 1, Number.MAX_SAFE_INTEGER);
  return Object.fromEntries([...kept.filter(([key]) => key !== today), [today, counted]]);
}

/** The last days, the newest first, also those on which nothing was counted. */
export function lastDays<K extends string>(
  days: Days<K> | undefined,
  now: Instant,
  many: number,
): { day: string; counts: Counts<K> }[] {
  return Array.from({ length: many }, (_, i) => {
    const key = utcDay(now - i * day);
    return { day: key, counts: days?.[key] ?? {} };
  });
}
