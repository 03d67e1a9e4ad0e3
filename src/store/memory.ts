// A store in a map, for tests and for trying the protocol out: content-addressed like git, with seams for faults.
import { sha1 } from "@noble/hashes/legacy.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import type { RecordName } from "../protocol/names.js";
import type { Instant, Versioned } from "../protocol/record.js";
import type { Change, Store } from "./store.js";

export interface MemorySeams {
  /** The store's clock. */
  now: () => Instant;
  /** Runs between a read and whatever its reader does next: the place for a competing write. */
  afterRead?: (names: readonly RecordName[]) => void | Promise<void>;
}

export function memoryStore(seams: MemorySeams): Store & { tip(name: RecordName): Versioned | null } {
  const tips = new Map<RecordName, Versioned>();
  const all = new Map<string, Versioned>();
  const tip = (name: RecordName) => tips.get(name) ?? null;

  function commit({ name, expected, next }: Change): Versioned | null {
    if (next === null) return null;
    // git stamps whole seconds, and so does this.
    const writtenAt = Math.floor(seams.now() / 1000) * 1000;
    const parents = expected === null || next.root ? [] : [expected];
    const oid = bytesToHex(sha1(utf8ToBytes(JSON.stringify([parents, next.message, writtenAt]))));
    return { name, oid, writtenAt, parents, message: next.message };
  }

  return {
    label: "memory",
    stamps: true,
    tip,
    async read(names) {
      const records = names.map(tip);
      const now = seams.now();
      await seams.afterRead?.(names);
      return { now, records };
    },
    async *list(prefix) {
      yield* [...tips.values()].filter((seen) => seen.name.startsWith(prefix));
    },
    async history(name, limit) {
      const chain: Versioned[] = [];
      for (let at = tip(name); at && chain.length < limit; at = all.get(at.parents[0] ?? "") ?? null)
        chain.push(at);
      return chain;
    },
    async swap(changes) {
      const written = changes.map(commit);
      const fits = changes.every((change, i) => {
        const found = tip(change.name)?.oid ?? null;
        return found === change.expected || (found !== null && found === written[i]?.oid);
      });
      if (!fits) return { outcome: "conflict" };
      changes.forEach(({ name }, i) => {
        const next = written[i] ?? null;
        if (next === null) {
          tips.delete(name);
          return;
        }
        tips.set(name, next);
        all.set(next.oid, next);
      });
      return { outcome: "applied", written };
    },
    async close() {},
  };
}
