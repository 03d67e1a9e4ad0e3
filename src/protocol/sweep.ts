// The sweep: which pending drafts to start, and what to repair, prune and report. A plan only; its effects are elsewhere.
import type { DraftReading } from "./conventions/convention.js";
import { changeDraft, type DraftWrite, draftRecordName, type SeenDraft } from "./draft.js";
import type { RecordName } from "./names.js";
import { type Instant, type Oid, RecordInvalid } from "./record.js";
import { draftExpiresAt, draftStanding, isStarting, type Standing, type View } from "./standing.js";

/** Where a sweep puts a draft: each under exactly one of these. */
export const headings = [
  /** To be started now. */
  "started",
  /** Could be started, and waits because `max-start` others come first. */
  "over_cap",
  /** An earlier sweep started it, and its run has not claimed it yet. */
  "already_started",
  "held",
  "backing_off",
  "dead",
  /** Published with this very content, though its file still says pending. */
  "published",
  "not_due",
  "not_pending",
  /** Younger than `stale-after`: its own event may still be on the way. */
  "too_young",
  /** Its front matter or its record cannot be read. */
  "unreadable",
] as const;

export type Heading = (typeof headings)[number];

export interface SweepDraft {
  path: string;
  blob: Oid;
  reading: DraftReading;
  /** Milliseconds since the draft came to the branch; null when unknown, which counts as old. */
  age: number | null;
}

export interface SweepRequest {
  /** Every file that the sweep's globs match at the tip, each path once. */
  drafts: readonly SweepDraft[];
  /** The records of those drafts, and of drafts that are gone, as far as the globs match their paths. */
  records: ReadonlyMap<string, SeenDraft | RecordInvalid>;
  /** The store's time of the read. */
  now: Instant;
  /** As in {@link View}. */
  skew: number;
  /** What brought the sweep here: an event (a push, say), or the clock. */
  trigger: "event" | "clock";
  /** Milliseconds that a draft, or a start that nobody claimed, is left alone. After an event, drafts of any age are started. */
  staleAfter?: number;
  /** The most drafts to start; 0 or more. */
  maxStart: number;
  maxAttempts: number;
  requireDue?: boolean;
  /** Paths of held drafts whose holder's run is known to have finished. */
  finished?: ReadonlySet<string>;
  /** Milliseconds that a record is kept after its draft is published or gone. */
  keepFor?: number;
  /** The highest token of any draft whose record was pruned before. */
  floor?: number;
}

export const defaultStaleAfter = 20 * 60_000;
export const defaultKeepFor = 30 * 86_400_000;

export interface Swept {
  path: string;
  heading: Heading;
  /** What a person wants to know about it: until when, by whom, why. */
  standing: Standing;
}

/** A change that puts right what a holder or an earlier sweep left behind. */
export interface Repair {
  path: string;
  seen: SeenDraft;
  /** `dead`: its attempts are used up. `lost`: its holder is gone, and it is pending again. */
  to: "dead" | "lost";
}

export interface DeadLetter {
  path: string;
  seen: SeenDraft;
  /** This sweep found its attempts used up; earlier ones did not. */
  fresh: boolean;
}

export interface SweepPlan {
  /** Every draft, in the order given. */
  report: Swept[];
  /** Drafts by heading; they add up to `total`. */
  counts: Record<Heading, number>;
  total: number;
  /** What to start, the oldest first. */
  start: SweepDraft[];
  repairs: Repair[];
  /** Records to remove. */
  prune: SeenDraft[];
  /** The floor to write, in the same transaction as the removals or before. */
  floor: number;
  deadLetters: DeadLetter[];
}

/**
 * Plans a sweep. The work is O(n log n) in the drafts that can be started, and O(n) in the others.
 * Two sweeps at once may plan the same start; the draft's claim decides.
 * @throws RangeError when `maxStart` is not a whole number from 0, or a path comes twice.
 */
export function planSweep(ask: SweepRequest): SweepPlan {
  if (!Number.isInteger(ask.maxStart) || ask.maxStart < 0)
    throw new RangeError(`max-start is ${ask.maxStart}; it takes a whole number from 0`);
  const found = ask.drafts.map((draft) => look(draft, ask));
  const byPath = new Map(found.map((each) => [each.draft.path, each]));
  if (byPath.size !== found.length) throw new RangeError("A draft was given twice.");

  const waiting = found.filter((each) => each.heading === "over_cap").sort(oldestFirst(ask.now));
  const chosen = waiting.slice(0, ask.maxStart);
  for (const each of chosen) each.heading = "started";

  const counts = Object.fromEntries(headings.map((heading) => [heading, 0])) as Record<Heading, number>;
  for (const { heading } of found) counts[heading]++;
  const prune = [...ask.records]
    .filter(([path, seen]) => isPrunable(seen, byPath.get(path), ask))
    .map(([, seen]) => seen as SeenDraft);
  return {
    report: found.map(({ draft, heading, standing }) => ({ path: draft.path, heading, standing })),
    counts,
    total: found.length,
    start: chosen.map(({ draft }) => draft),
    repairs: found.flatMap(repairOf),
    prune,
    floor: prune.reduce((most, { record }) => Math.max(most, record.token), ask.floor ?? 0),
    deadLetters: found.flatMap(({ draft, standing }) =>
      standing.is === "dead" ? [{ path: draft.path, seen: standing.seen, fresh: !standing.recorded }] : [],
    ),
  };
}

interface Found {
  draft: SweepDraft;
  seen: SeenDraft | null;
  standing: Standing;
  heading: Heading;
}

/** The facts of one draft that a verdict rests on; the same for planning a start and for writing it. */
export function viewOf(draft: SweepDraft, ask: SweepRequest): View {
  return {
    blob: draft.blob,
    reading: draft.reading,
    now: ask.now,
    skew: ask.skew,
    maxAttempts: ask.maxAttempts,
    requireDue: ask.requireDue ?? false,
    holderFinished: ask.finished?.has(draft.path) ?? false,
  };
}

function look(draft: SweepDraft, ask: SweepRequest): Found {
  const record = ask.records.get(draft.path) ?? null;
  if (record instanceof RecordInvalid) {
    const standing = { is: "unreadable", reason: record.message } as const;
    return { draft, seen: null, standing, heading: "unreadable" };
  }
  const standing = draftStanding(record, viewOf(draft, ask));
  const heading = standing.is === "ready" ? readyHeading(draft, record, ask) : standing.is;
  return { draft, seen: record, standing, heading };
}

/** A ready draft counts as over the cap until the sweep has chosen. */
function readyHeading(draft: SweepDraft, seen: SeenDraft | null, ask: SweepRequest): Heading {
  const staleAfter = ask.staleAfter ?? defaultStaleAfter;
  if (isStarting(seen, { blob: draft.blob, now: ask.now }, staleAfter)) return "already_started";
  // A record of this content shows that its event has come through.
  const expected = ask.trigger === "clock" && seen?.record.fingerprint !== draft.blob;
  return expected && draft.age !== null && draft.age < staleAfter ? "too_young" : "over_cap";
}

/** By due date, then age, then path. Without a due date a draft was due when it came; of unknown age it was there always. */
function oldestFirst(now: Instant): (a: Found, b: Found) => number {
  const born = ({ draft }: Found) => (draft.age === null ? Number.NEGATIVE_INFINITY : now - draft.age);
  const due = (found: Found) =>
    (found.draft.reading.state === "pending" ? found.draft.reading.due : null) ?? born(found);
  return (a, b) =>
    compare(due(a), due(b)) || compare(born(a), born(b)) || compare(a.draft.path, b.draft.path);
}

/** By code unit, so that every machine sorts alike. */
function compare<T extends number | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function repairOf({ draft, seen, standing, heading }: Found): Repair[] {
  if (standing.is === "dead" && !standing.recorded)
    return [{ path: draft.path, seen: standing.seen, to: "dead" }];
  // A start is itself the repair of an expired holder.
  const lost = standing.is === "ready" && seen?.record.state === "held" && heading !== "started";
  return lost ? [{ path: draft.path, seen, to: "lost" }] : [];
}

/**
 * A record goes when it is old and nothing needs it: its draft is gone from the tip, or says that it is published.
 * While the file still says pending the tombstone stays, however old: it alone keeps the draft from being published again.
 */
function isPrunable(seen: SeenDraft | RecordInvalid, found: Found | undefined, ask: SweepRequest): boolean {
  if (seen instanceof RecordInvalid) return false;
  if (found !== undefined && found.standing.is !== "not_pending") return false;
  const end = seen.record.state === "held" ? draftExpiresAt(seen) + ask.skew : seen.writtenAt;
  return ask.now >= end + (ask.keepFor ?? defaultKeepFor);
}

/** The write of a repair. It is to be made only over the very record that the plan saw. */
export function repairDraft({ seen, to }: Repair, nonce: string): DraftWrite {
  const lost = seen.record.lost + (seen.record.state === "held" ? 1 : 0);
  if (to === "lost") return changeDraft(seen, nonce, { event: "lost", state: "pending", lost });
  const reason = seen.record.state === "held" ? "the lease of its last attempt was lost" : seen.record.reason;
  return changeDraft(seen, nonce, { event: "dead", state: "dead", lost, reason, notBefore: undefined });
}

/** The removal of a pruned record, to be made only while `expected` is still its tip. */
export function pruneDraft(seen: SeenDraft): { name: RecordName; expected: Oid } {
  return { name: draftRecordName(seen.record.name), expected: seen.oid };
}
