// Counters beside a lease: skips and refused late pushes, day by day.
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
import { addToDay } from "./tally.js";

const count = v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)));

const statsSchema = v.looseObject({
  ...envelope,
  kind: v.literal("stats"),
  event: v.picklist(["skipped", "superseded"]),
  days: v.record(
    v.pipe(v.string(), v.regex(/^\d{4}-\d{2}-\d{2}$/)),
    v.object({ skipped_overlap: count, superseded: count }),
  ),
  /** Skips in a row: all of them ran into the lease under the same token. */
  row: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  token: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
});

export type StatsRecord = v.InferOutput<typeof statsSchema>;

export interface SeenStats {
  record: StatsRecord;
  oid: Oid;
  writtenAt: Instant;
}

export interface StatsWrite {
  record: StatsRecord;
  expected: Oid | null;
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

/** @throws ValiError for a record that its readers would refuse. */
export function statsMessage(record: StatsRecord): string {
  const newest = Object.keys(record.days).sort().at(-1) ?? "";
  const { skipped_overlap = 0, superseded = 0 } = record.days[newest] ?? {};
  const row = record.row > 1 ? `, ${record.row} in a row` : "";
  const sentence = `stats ${record.name}: ${skipped_overlap} skipped_overlap${row}, ${superseded} superseded on ${newest}`;
  return encodeRecord(oneLine(sentence), v.parse(statsSchema, record));
}

export interface CountRequest {
  lease: string;
  /** The lease's token that the skip ran into, or under which the late push was made. */
  token: number;
  /** The store's time. */
  now: Instant;
  nonce: string;
}

/** One more skip. The row goes on while the lease has not changed hands. */
export function countSkip(seen: SeenStats | null, ask: CountRequest): StatsWrite {
  const row = seen && seen.record.token === ask.token ? seen.record.row + 1 : 1;
  return counted(seen, ask, "skipped_overlap", { event: "skipped", row, token: ask.token });
}

/** One more push that came too late and was refused. */
export function countSuperseded(seen: SeenStats | null, ask: CountRequest): StatsWrite {
  const { row = 0, token = 0 } = seen?.record ?? {};
  return counted(seen, ask, "superseded", { event: "superseded", row, token });
}

function counted(
  seen: SeenStats | null,
  ask: CountRequest,
  name: "skipped_overlap" | "superseded",
  fields: Pick<StatsRecord, "event" | "row" | "token">,
): StatsWrite {
  const root = seen === null || seen.record.depth >= longestChain;
  const record: StatsRecord = {
    ...seen?.record,
    fencepost: format,
    kind: "stats",
    name: ask.lease,
    days: addToDay(seen?.record.days, ask.now, name),
    previous: seen?.oid ?? null,
    depth: root ? 1 : (seen?.record.depth ?? 0) + 1,
    nonce: ask.nonce,
    ...fields,
  };
  return { record, expected: seen?.oid ?? null, root };
}
