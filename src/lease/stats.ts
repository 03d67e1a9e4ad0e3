// Counters of a lease or a draft, written by compare-and-swap so that no count is lost.
import type { Instant, Versioned } from "../protocol/record.js";
import {
  countSkip,
  readStats,
  type SeenStats,
  type StatsWrite,
  statsMessage,
  statsRecordName,
} from "../protocol/stats.js";
import { type CallOptions, StoreUnavailable } from "../store/store.js";
import type { Ports } from "./lease.js";

/** Counts on top of what was seen, and reads again when somebody else counted meanwhile. */
export async function writeStats(
  { store }: Ports,
  lease: string,
  seen: SeenStats | null,
  next: (seen: SeenStats | null) => StatsWrite,
  options: CallOptions = {},
): Promise<SeenStats> {
  const name = statsRecordName(lease);
  let known = seen;
  for (let conflicts = 0; conflicts < 20; conflicts++) {
    const { record, expected, root } = next(known);
    const result = await store.swap(
      [{ name, expected, next: { message: statsMessage(record), root } }],
      options,
    );
    const written = result.outcome === "applied" ? result.written[0] : null;
    if (written) return { record, oid: written.oid, writtenAt: written.writtenAt };
    known = readStats((await store.read([name], options)).records[0] ?? null);
  }
  throw new StoreUnavailable(
    `The counters of ${JSON.stringify(lease)} changed twenty times while one was added.`,
  );
}

export interface Overlap {
  /** The lease that was held, or the path of the draft: either has counters of its own. */
  name: string;
  /** Under which token it was held. */
  token: number;
  /** The store's time. */
  now: Instant;
  /** The counters, if they were read already. */
  seen?: Versioned | null | undefined;
}

/** Counts a run that was skipped because somebody else holds what it asked for. Costs one write, and a read unless `seen`. */
export async function countOverlap(
  ports: Ports,
  { name, token, now, seen }: Overlap,
  options: CallOptions = {},
): Promise<SeenStats> {
  const known =
    seen === undefined ? (await ports.store.read([statsRecordName(name)], options)).records[0] : seen;
  return writeStats(
    ports,
    name,
    readStats(known ?? null),
    (before) => countSkip(before, { lease: name, token, now, nonce: ports.chance.nonce() }),
    options,
  );
}
