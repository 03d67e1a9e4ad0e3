// Counters beside a lease: runs that were skipped and late pushes that were refused, by UTC day.
import * as v from "valibot";
import { oneLine } from "./claim.js";
import { longestChain } from "./lease.js";
import { type RecordName, recordName } from "./names.js";
import {
  decodeRecord,
  encodeRecord,
  envelope,
  format,
  type Instant,
  type Oid,
  type Versioned,
} from "./record.js";
import { countDay, countSchema, type Days, daySchema } from "./tally.js";

const token = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

const statsSchema = v.looseObject({
  ...envelope,
  kind: v.literal("stats"),
  event: v.picklist(["skipped_overlap", "superseded"]),
  days: v.record(daySchema, v.looseObject({ skipped_overlap: countSchema, superseded: countSchema })),
  /** Skips in a row, all of which met the same holder. */
  row: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  /** The lease's token that the last skip ran into. */
  token: v.optional(token),
});

export type StatsRecord = v.InferOutput<typeof statsSchema>;
export type StatsCount = StatsRecord["event"];

/** A stats record together with what its store knows about it. */
export interface SeenStats {
  record: StatsRecord;
  oid: Oid;
  writtenAt: Instant;
}

/** A write to be made only if `expected` is still the tip. */
export interface StatsWrite {
  record: StatsRecord;
  expected: Oid | null;
  /** Begin a new root commit, to keep the history short. */
  root: boolean;
}

export function statsRecordName(lease: string): RecordName {
  return recordName("stats", lease);
}

/** @throws RecordInvalid */
export function readStats(seen: Versioned | null): SeenStats | null {
  if (seen === null) return null;
  return { record: decodeRecord("stats", statsSchema, seen), oid: seen.oid, writtenAt: seen.writtenAt };
}

/**
 * The commit message of a stats record. One that its readers would refuse is never written.
 * @throws ValiError
 */
export function statsMessage(record: StatsRecord): string {
  return encodeRecord(sentence(record), v.parse(statsSchema, record));
}

function sentence(r: StatsRecord): string {
  // The day of the write is the latest one, since nothing later is ever kept.
  const today = r.days[Object.keys(r.days).sort().at(-1) ?? ""]?.[r.event] ?? 0;
  const row = r.event === "skipped_overlap" ? `, ${r.row} in a row` : "";
  return oneLine(`stats ${r.name}: ${today} ${r.event} today${row}`);
}

export interface CountRequest {
  lease: string;
  /** The store's time of the read. */
  now: Instant;
  nonce: string;
  /** Never start a new root: for a server that takes fast-forwards only. */
  keepChain?: boolean;
}

/** Counts a run that was skipped. `token`: the lease's token that it ran into; another one than before starts a new row. */
export function countSkip(seen: SeenStats | null, ask: CountRequest & { token: number }): StatsWrite {
  const row = seen?.record.token === ask.token ? seen.record.row + 1 : 1;
  return count(seen, ask, "skipped_overlap", { row, token: ask.token });
}

/** Counts a late push that was refused. The row of skips stays as it is. */
export function countSuperseded(seen: SeenStats | null, ask: CountRequest): StatsWrite {
  return count(seen, ask, "superseded", { row: seen?.record.row ?? 0 });
}

function count(
  seen: SeenStats | null,
  ask: CountRequest,
  event: StatsCount,
  row: { row: number; token?: number },
): StatsWrite {
  const root = seen === null || (seen.record.depth >= longestChain && ask.keepChain !== true);
  const days: Days<StatsCount> = countDay<StatsCount>(seen?.record.days, ask.now, [event]);
  const record: StatsRecord = {
    ...seen?.record,
    fencepost: format,
    kind: "stats",
    name: ask.lease,
    event,
    days,
    ...row,
    previous: seen?.oid ?? null,
    depth: root ? 1 : (seen?.record.depth ?? 0) + 1,
    nonce: ask.nonce,
  };
  return { record, expected: seen?.oid ?? null, root };
}
