// What every store promises: read, list, and swap all or nothing.
import type { RecordName } from "../protocol/names.js";
import type { Instant, Oid, Versioned } from "../protocol/record.js";

/** One write of a swap, made only if the record is still at `expected` (null: absent). */
export interface Change {
  name: RecordName;
  expected: Oid | null;
  /** The new commit message; null removes the record. `root` starts a new history instead of a child of `expected`. */
  next: { message: string; root?: boolean } | null;
}

export type SwapResult = { outcome: "applied"; written: (Versioned | null)[] } | { outcome: "conflict" };

export interface CallOptions {
  signal?: AbortSignal | undefined;
}

/**
 * Where records live. Decisions are made elsewhere; a store only compares and swaps.
 *
 * A lost reply is resolved in here: read again; our oid at the tip is `applied`, somebody else's is `conflict`, and
 * with the old tip the very same commit is sent again. What stays unknown is thrown as `StoreUnavailable`.
 */
export interface Store {
  /** For people: where this is, without credentials. */
  readonly label: string;
  /** Whether `writtenAt` and `now` are the store's own clock. If not, they are the clocks of the writers. */
  readonly stamps: boolean;
  /** Several records at once, with the store's time of the read. Absent records are null. */
  read(
    names: readonly RecordName[],
    options?: CallOptions,
  ): Promise<{ now: Instant; records: (Versioned | null)[] }>;
  /** Every record whose name starts with the prefix, for instance `lease/`. */
  list(prefix: string, options?: CallOptions): AsyncIterable<Versioned>;
  /** The chain of one record, newest first, at most `limit` writes. */
  history(name: RecordName, limit: number, options?: CallOptions): Promise<Versioned[]>;
  /** All changes or none. */
  swap(changes: readonly Change[], options?: CallOptions): Promise<SwapResult>;
  /**
   * Whether the record is still at this write, asked in a way that costs nothing while it is. For waiting only: the
   * answer may lag. A store without such a way leaves it out.
   */
  unchanged?(seen: Pick<Versioned, "name" | "oid">, options?: CallOptions): Promise<boolean>;
  /** Frees what the store holds on this machine. */
  close(): Promise<void>;
}

/** The store cannot be reached, or an outcome stayed unknown. Trying again later may work. */
export class StoreUnavailable extends Error {
  override name = "StoreUnavailable";
}

/** The store said no, definitely: rights or rules. Trying again will not help. */
export class StoreRefused extends Error {
  override name = "StoreRefused";
}

/** The store's address or set-up is wrong. */
export class StoreMisconfigured extends Error {
  override name = "StoreMisconfigured";
}
