// The gate: which changes of refs a server lets through in one transaction. Values in, refusals out. No I/O, no clock.
import {
  type Bench,
  benchOf,
  draft,
  fence,
  type Guarded,
  guarded,
  lease,
  publishedBy,
  recordProblem,
  required,
} from "./bench.js";
import { fenceRecordName } from "./fence.js";
import { floorRecordName } from "./floor.js";
import { leaseRecordName } from "./lease.js";
import { quote, recordOf, refOf } from "./names.js";
import type { Oid, Versioned } from "./record.js";

/** One ref that a transaction changes. */
export interface RefChange {
  ref: string;
  /** Where the caller says that the ref is; null: that it is absent. Absent: nothing is said. */
  from?: Oid | null;
  /** Null: removed. */
  to: Oid | null;
}

/** A record that has to move in the same transaction as a protected ref, and to say what it published. */
export type Behind =
  | { kind: "lease"; name: string }
  /** Any draft that this very change publishes. */
  | { kind: "draft" }
  /** The fence of a lease that is kept in another repository. */
  | { kind: "fence"; name: string };

/** What protects a ref: one of these records, or a setting that cannot be used, so that nothing may pass. */
export type Rule = { behind: readonly Behind[] } | { problem: string };

export interface Transaction {
  /** The refs that really change, each once. */
  changes: readonly RefChange[];
  prefix: string;
  /** The rule of a ref, or null when it is not protected. Never asked for records. */
  ruleOf: (ref: string) => Rule | null;
  /** Where the refs of `toRead` are now. */
  tips: ReadonlyMap<string, Oid>;
  /** The commits at those tips, and those that records change to. What is no commit is left out. */
  commits: ReadonlyMap<Oid, Pick<Versioned, "parents" | "message" | "writtenAt">>;
}

/** A change that must not happen, in whole sentences. */
export interface Refused {
  change: RefChange;
  why: string;
  /** What the pusher would have needed. */
  lease?: string;
}

/** Whether the gate has a say about this ref. */
export function concerns({ prefix, ruleOf }: Pick<Transaction, "prefix" | "ruleOf">, ref: string): boolean {
  return guarded(prefix, ref) !== null || rule(prefix, ruleOf, ref) !== null;
}

/** What has to be known before a transaction can be judged: refs whose tips and oids whose commits are needed. */
export function toRead(asked: Pick<Transaction, "changes" | "prefix" | "ruleOf">): {
  refs: string[];
  oids: Oid[];
} {
  const refs = new Set<string>();
  const oids = new Set<Oid>();
  for (const { ref, from, to } of asked.changes) {
    if (from === undefined) refs.add(ref);
    if (guarded(asked.prefix, ref) !== null) {
      refs.add(ref);
      if (to === null) refs.add(refOf(asked.prefix, floorRecordName));
      else oids.add(to);
    }
    for (const lease of leasesOf(rule(asked.prefix, asked.ruleOf, ref)))
      refs.add(refOf(asked.prefix, leaseRecordName(lease)));
  }
  return { refs: [...refs], oids: [...oids] };
}

/** Protected refs that records of this transaction say were published, and that do not change in it: their tips matter too. */
export function toReadThen(asked: Transaction): string[] {
  const refs = new Set<string>();
  const bench = benchOf(asked);
  for (const change of asked.changes) {
    const kind = guarded(asked.prefix, change.ref);
    if (kind === null) continue;
    for (const ref of Object.keys(publishedBy(bench, kind, change)))
      if (plain(ref) && !bench.changes.has(ref) && rule(asked.prefix, asked.ruleOf, ref) !== null)
        refs.add(ref);
  }
  return [...refs];
}

/** No revision of git's own making: what a record says comes from the pusher. */
const plain = (ref: string) => !/[\s~^:?*[\\]|\.\.|@\{/.test(ref);

/**
 * The changes that must not happen; none: the whole transaction may. A protected ref moves only together with a record
 * that holds, keeps its token and claim, and names exactly this ref and this commit. The records themselves only move
 * forward: else who was superseded could first put the lease back.
 */
export function judge(asked: Transaction): Refused[] {
  const refused: Refused[] = [];
  const bench = benchOf(asked);
  for (const change of asked.changes) {
    // Without --atomic, each of several changes of one ref would take effect, and only one is judged.
    if (bench.changes.get(change.ref) !== change) {
      refused.push({ change, why: `${change.ref} changes twice in one push.` });
      continue;
    }
    const kind = guarded(asked.prefix, change.ref);
    if (kind !== null) {
      const why = recordProblem(bench, kind, change) ?? unkept(bench, kind, change);
      if (why) refused.push({ change, why: `${change.ref} cannot change like this: ${why}.` });
      continue;
    }
    const found = rule(asked.prefix, asked.ruleOf, change.ref);
    const why = found && protectedProblem(bench, found, change);
    const [lease] = leasesOf(found);
    if (why) refused.push({ change, why: `${why}.`, ...(lease === undefined ? {} : { lease }) });
  }
  return refused;
}

function rule(prefix: string, ruleOf: Transaction["ruleOf"], ref: string): Rule | null {
  return recordOf(prefix, ref) === null ? ruleOf(ref) : null;
}

function leasesOf(found: Rule | null): string[] {
  if (found === null || "problem" in found) return [];
  return found.behind.flatMap((each) => (each.kind === "lease" ? [each.name] : []));
}

/**
 * A protected ref of which a record says that it was published, and which does not move with it. Without this, a push
 * that is not atomic would leave a record of something that never happened.
 */
function unkept(bench: Bench, kind: Guarded, change: RefChange): string | null {
  for (const [ref, oid] of Object.entries(publishedBy(bench, kind, change))) {
    if (rule(bench.prefix, bench.ruleOf, ref) === null) continue;
    const there = bench.changes.has(ref) ? bench.changes.get(ref)?.to : bench.tips.get(ref);
    if (there !== oid)
      return `it says that it published ${oid.slice(0, 10)} on ${ref}, which does not move with it in one atomic push`;
  }
  return null;
}

/** Why a protected ref may not move, without the full stop; or null. */
function protectedProblem(asked: Bench, found: Rule, { ref, to }: RefChange): string | null {
  if ("problem" in found) return `${ref} is protected, but nothing can pass: ${found.problem}`;
  if (to === null) return `${ref} is protected, and cannot be deleted`;
  const problems = found.behind.map((behind) => fenceProblem(asked, behind, ref, to));
  if (problems.includes(null)) return null;
  const names = found.behind.map((b) =>
    b.kind === "draft" ? "its draft" : `the ${b.kind} ${quote(b.name)}`,
  );
  const why = problems.find((problem) => problem !== absent) ?? absent;
  return `${ref} moves only together with ${names.join(" or ")}, in one atomic push, and ${why}`;
}

const absent = "nothing of the kind moves with it here";

/** Why this record does not let the ref through, or null when it does. */
function fenceProblem(asked: Bench, behind: Behind, ref: string, to: Oid): string | null {
  switch (behind.kind) {
    case "lease": {
      const name = refOf(asked.prefix, leaseRecordName(behind.name));
      const change = asked.changes.get(name);
      return change === undefined ? absent : leaseFence(asked, change, ref, to);
    }
    case "fence": {
      const name = refOf(asked.prefix, fenceRecordName({ of: "lease", name: behind.name }));
      const change = asked.changes.get(name);
      return change === undefined ? absent : acceptedBy(asked, change, ref, to);
    }
    case "draft": {
      const problems = [
        ...asked.drafts.map((change) => draftFence(asked, change, ref, to)),
        ...asked.draftFences.map((change) => acceptedBy(asked, change, ref, to)),
      ];
      return problems.includes(null) ? null : (problems[0] ?? absent);
    }
  }
}

function leaseFence(asked: Bench, change: RefChange, ref: string, to: Oid): string | null {
  if (recordProblem(asked, "lease", change)) return "the lease's own record is refused";
  const there = lease(asked, change.ref, asked.tips.get(change.ref) ?? null);
  const next = required(lease(asked, change.ref, change.to)).record;
  if (there === null || next.event !== "pushed" || next.state !== "held")
    return `the lease's record here says "${next.event}", and not that its holder pushed`;
  return namesProblem(next.published, ref, to);
}

function draftFence(asked: Bench, change: RefChange, ref: string, to: Oid): string | null {
  if (change.to === null || recordProblem(asked, "draft", change)) return "the draft's own record is refused";
  const there = draft(asked, change.ref, asked.tips.get(change.ref) ?? null);
  const next = required(draft(asked, change.ref, change.to)).record;
  if (there === null || next.event !== "published" || next.state !== "published")
    return `the draft's record here says "${next.event}", and not that its claim published it`;
  return namesProblem(next.published, ref, to);
}

function acceptedBy(asked: Bench, change: RefChange, ref: string, to: Oid): string | null {
  if (change.to === null || recordProblem(asked, "fence", change)) return "the fence's own record is refused";
  const there = fence(asked, change.ref, asked.tips.get(change.ref) ?? null);
  const { event, accepted } = required(fence(asked, change.ref, change.to)).record;
  if (there === null || event !== "accepted")
    return `the fence's record here says "${event}", and not that a sealed token was accepted`;
  return namesProblem(accepted?.published, ref, to);
}

function namesProblem(published: Record<string, Oid> = {}, ref: string, to: Oid): string | null {
  const named = published[ref];
  if (named === to) return null;
  return `the record says that it published ${named?.slice(0, 10) ?? "nothing"} there, not ${to.slice(0, 10)}`;
}
