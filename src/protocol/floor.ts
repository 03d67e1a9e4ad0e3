// The floor under the tokens of drafts: the highest token of any record that was pruned, so that no token comes back.
import * as v from "valibot";
import { type RecordName, recordName } from "./names.js";
import { decodeRecord, encodeRecord, envelope, format, type Oid, type Versioned } from "./record.js";

/** No lease can have this name, so this is nobody's fence. */
const floorName = "drafts/";

const floorSchema = v.looseObject({
  ...envelope,
  kind: v.literal("floor"),
  token: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
});

export type FloorRecord = v.InferOutput<typeof floorSchema>;

export interface SeenFloor {
  record: FloorRecord;
  oid: Oid;
}

export const floorRecordName: RecordName = recordName("fence", floorName);

/** @throws RecordInvalid */
export function readFloor(seen: Versioned | null): SeenFloor | null {
  return seen && { record: decodeRecord("fence", floorSchema, seen), oid: seen.oid };
}

/** The write that raises the floor, or null when it is that high already. It never falls. */
export function raiseFloor(
  seen: SeenFloor | null,
  token: number,
  nonce: string,
): { expected: Oid | null; message: string } | null {
  if (token <= (seen?.record.token ?? 0)) return null;
  const record: FloorRecord = {
    fencepost: format,
    kind: "floor",
    name: floorName,
    token,
    event: "raised",
    previous: seen?.oid ?? null,
    depth: (seen?.record.depth ?? 0) + 1,
    nonce,
  };
  const message = encodeRecord(`drafts without a record begin after token ${token}`, record);
  return { expected: seen?.oid ?? null, message };
}
