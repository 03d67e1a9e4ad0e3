// What the gate knows of the records in a transaction: which there are, whether each may change so, and what each says it published.
import { readDraftRecord, type SeenDraft } from "./draft.js";
import { isDraftFence, readFence, type SeenFence } from "./fence.js";
import { floorRecordName, readFloor } from "./floor.js";
import type { RefChange, Transaction } from "./gate.js";
import { readLease, type SeenLease } from "./lease.js";
import { type RecordName, recordOf, refOf } from "./names.js";
import { type Oid, RecordInvalid, type Versioned } from "./record.js";
import {
  draftRemoval,
  draftSuccession,
  fenceSuccession,
  floorSuccession,
  leaseSuccession,
} from "./succession.js";

export type Guarded = "lease" | "draft" | "fence" | "floor" | "misplaced";

/** A transaction with what was found out about it so far, since thousands of refs may move behind one record. */
export interface Bench extends Omit<Transaction, "changes"> {
  changes: ReadonlyMap<string, RefChange>;
  drafts: readonly RefChange[];
  /** The fences of drafts that are kept in another repository. */
  draftFences: readonly RefChange[];
  problems: Map<string, string | null>;
}

export function benchOf(asked: Transaction): Bench {
  const changes = new Map(asked.changes.map((change) => [change.ref, change]));
  const drafts = asked.changes.filter(({ ref }) => guarded(asked.prefix, ref) === "draft");
  const bench: Bench = { ...asked, changes, drafts, draftFences: [], problems: new Map() };
  const ofDraft = ({ ref, to }: RefChange) =>
    guarded(asked.prefix, ref) === "fence" && isDraftFence(readable(() => fence(bench, ref, to)));
  return { ...bench, draftFences: asked.changes.filter(ofDraft) };
}

/** The kind of record that a ref carries; `misplaced`: it would be taken for a record, and can be none. */
export function guarded(prefix: string, ref: string): Guarded | null {
  // A file system may ignore case, and git looks for the name of a missing ref below other folders too.
  const [start, lower] = [`refs/heads/${prefix}/`, ref.toLowerCase()];
  const at = lower.startsWith(start) ? 0 : lower.lastIndexOf(start);
  if (at < 0) return null;
  const record = ref.slice(at + start.length);
  const [kind = ""] = record.toLowerCase().split("/");
  const floor = record.toLowerCase() === floorRecordName;
  if (kind !== "lease" && kind !== "draft" && kind !== "fence") return null;
  if (at > 0 || ref !== ref.toLowerCase() || !record.includes("/")) return "misplaced";
  return floor ? "floor" : kind;
}

/** Why a record may not change like this, or null. */
export function recordProblem(bench: Bench, kind: Guarded, change: RefChange): string | null {
  let problem = bench.problems.get(change.ref);
  if (problem === undefined) {
    problem = findProblem(bench, kind, change);
    bench.problems.set(change.ref, problem);
  }
  return problem;
}

function findProblem(asked: Bench, kind: Guarded, change: RefChange): string | null {
  if (kind === "misplaced")
    return change.to === null ? null : "it stands where only records may be, and is none";
  const tip = asked.tips.get(change.ref) ?? null;
  if (change.from !== undefined && change.from !== tip) return "it changed meanwhile";
  if (change.to === null && kind !== "draft")
    return `a ${kind}'s branch is never deleted, since its token would start again`;
  try {
    switch (kind) {
      case "lease":
        return leaseSuccession(lease(asked, change.ref, tip), required(lease(asked, change.ref, change.to)));
      case "draft": {
        const there = draft(asked, change.ref, tip);
        if (change.to !== null) return draftSuccession(there, required(draft(asked, change.ref, change.to)));
        // git shows packed refs that go in a transaction of their own first, without the floor and without an old value.
        return there && draftRemoval(there, change.from === undefined ? Infinity : floorAfter(asked));
      }
      case "fence":
        return fenceSuccession(fence(asked, change.ref, tip), required(fence(asked, change.ref, change.to)));
      case "floor":
        return floorSuccession(
          readFloor(record(asked, change.ref, tip)),
          required(readFloor(record(asked, change.ref, change.to))),
        );
    }
  } catch (error) {
    if (error instanceof RecordInvalid) return error.message.replace(/\.$/, "");
    throw error;
  }
}

/** What the new record of a change says that this very change published. */
export function publishedBy(bench: Bench, kind: Guarded, { ref, to }: RefChange): Record<string, Oid> {
  const next = readable(() => {
    if (kind === "lease") return lease(bench, ref, to);
    if (kind === "draft") return draft(bench, ref, to);
    return kind === "fence" ? fence(bench, ref, to) : null;
  })?.record;
  if (next?.kind === "fence") return (next.event === "accepted" && next.accepted?.published) || {};
  return ((next?.event === "pushed" || next?.event === "published") && next.published) || {};
}

/** What cannot be read is refused where records are judged. */
function readable<T>(read: () => T | null): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof RecordInvalid) return null;
    throw error;
  }
}

/** The floor once the transaction is done. */
function floorAfter(asked: Bench): number {
  const ref = refOf(asked.prefix, floorRecordName);
  const change = asked.changes.get(ref);
  const oid = change ? change.to : (asked.tips.get(ref) ?? null);
  return readFloor(record(asked, ref, oid))?.record.token ?? 0;
}

export function lease(asked: Bench, ref: string, oid: Oid | null): SeenLease | null {
  return readLease(record(asked, ref, oid));
}

export function draft(asked: Bench, ref: string, oid: Oid | null): SeenDraft | null {
  return readDraftRecord(record(asked, ref, oid));
}

export function fence(asked: Bench, ref: string, oid: Oid | null): SeenFence | null {
  return readFence(record(asked, ref, oid));
}

/** The record at an oid, as the readers of its kind want it. What is no commit reads as an empty one. */
export function record(
  asked: Pick<Transaction, "prefix" | "commits">,
  ref: string,
  oid: Oid | null,
): Versioned | null {
  if (oid === null) return null;
  const commit = asked.commits.get(oid) ?? { parents: [], message: "", writtenAt: 0 };
  return { ...commit, name: recordOf(asked.prefix, ref) as RecordName, oid };
}

/** A removal was answered before. */
export function required<T>(seen: T | null): T {
  if (seen === null) throw new Error("a record that is written is not there");
  return seen;
}
