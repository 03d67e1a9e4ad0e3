// Carries a sweep out on a store: reads, plans, repairs, prunes, and remembers what it started.
import type { Ports } from "../lease/lease.js";
import type { Claim } from "../protocol/claim.js";
import { startDraft } from "../protocol/draft.js";
import { floorRecordName, raiseFloor, readFloor, type SeenFloor } from "../protocol/floor.js";
import { type Instant, RecordInvalid } from "../protocol/record.js";
import {
  defaultStaleAfter,
  planSweep,
  pruneDraft,
  repairDraft,
  type SweepDraft,
  type SweepPlan,
  type SweepRequest,
  viewOf,
} from "../protocol/sweep.js";
import { type Change, type Store, StoreRefused } from "../store/store.js";
import type { Found } from "./find.js";
import { changeOf, type DraftRecords, listDraftRecords, recordsOf } from "./records.js";

export interface SweepOptions
  extends Pick<
    SweepRequest,
    "trigger" | "staleAfter" | "maxStart" | "maxAttempts" | "requireDue" | "keepFor" | "skew"
  > {
  /** The drafts at the tip as it is now. */
  find: () => Promise<Found>;
  /** Which records are this sweep's. */
  matches: (path: string) => boolean;
  /**
   * Whether to remember each start, so that the next sweep does not start it again before `staleAfter`: for starts
   * that somebody else carries out. Who claims at once does not need it.
   */
  remember: boolean;
  /** Whether the run that a claim belongs to is known to have finished. */
  finished?: (holder: Claim) => Promise<boolean>;
  signal?: AbortSignal | undefined;
}

export interface Swept {
  plan: SweepPlan;
  /** What was started: of the plan's, those that no other sweep started meanwhile. */
  started: SweepDraft[];
  repaired: number;
  pruned: number;
  /** Effects that another writer was faster at; the next sweep sees to them. */
  conflicts: number;
  /** What could not be written, and why. */
  problems: string[];
  tip: string | null;
  now: Instant;
  /** The records as the plan saw them, by path. */
  records: SweepRequest["records"];
}

/** One sweep. Two at once are harmless: each effect is made only over the very record that its plan saw. */
export async function sweep(ports: Ports, options: SweepOptions): Promise<Swept> {
  const { store } = ports;
  const { request, floor, tip } = await look(store, options);
  const plan = planSweep(request);
  const swept: Swept = {
    plan,
    started: [],
    repaired: 0,
    pruned: 0,
    conflicts: 0,
    problems: [],
    tip,
    now: request.now,
    records: request.records,
  };
  await repair(ports, plan, swept, options);
  await prune(ports, plan, floor, swept, options);
  await start(ports, request, swept, options);
  return swept;
}

/** What a sweep would do, without doing it. */
export async function planOnStore(
  store: Store,
  options: SweepOptions,
): Promise<SweepPlan & { now: Instant }> {
  const { request } = await look(store, options);
  return { ...planSweep(request), now: request.now };
}

/** Records first, then the tip: a draft that is published in between is then found published, and not found anew. */
async function look(store: Store, options: SweepOptions) {
  const { find, matches, finished, signal, remember: _, ...rules } = options;
  const { now, records: floors } = await store.read([floorRecordName], { signal });
  const floor = readFloor(floors[0] ?? null);
  const listed = await listDraftRecords(store, { signal });
  const { tip, drafts } = await find();
  const paths = drafts.map((draft) => draft.path);
  const request: SweepRequest = {
    ...rules,
    skew: store.stamps ? 0 : rules.skew,
    drafts,
    records: recordsOf(listed, paths, matches),
    now,
    floor: floor?.record.token ?? 0,
    finished: await whoseRunsFinished(listed, finished),
  };
  return { request, floor, tip };
}

async function whoseRunsFinished(
  { records }: DraftRecords,
  finished: SweepOptions["finished"],
): Promise<Set<string>> {
  const paths = new Set<string>();
  if (finished === undefined) return paths;
  for (const [path, { record }] of records)
    if (record.state === "held" && record.holder && (await finished(record.holder))) paths.add(path);
  return paths;
}

async function repair(ports: Ports, plan: SweepPlan, swept: Swept, options: SweepOptions): Promise<void> {
  const changes = plan.repairs.map((each) => changeOf(repairDraft(each, ports.chance.nonce())));
  const { applied, conflicts } = await apply(ports.store, changes, options);
  swept.repaired = applied.size;
  swept.conflicts += conflicts;
}

/** The floor rises in the same transaction, so that no token can come back. */
async function prune(
  ports: Ports,
  plan: SweepPlan,
  floor: SeenFloor | null,
  swept: Swept,
  { signal }: SweepOptions,
): Promise<void> {
  if (plan.prune.length === 0) return;
  const raised = raiseFloor(floor, plan.floor, ports.chance.nonce());
  const changes: Change[] = plan.prune.map((seen) => ({ ...pruneDraft(seen), next: null }));
  if (raised)
    changes.unshift({ name: floorRecordName, expected: raised.expected, next: { message: raised.message } });
  try {
    const result = await ports.store.swap(changes, { signal });
    if (result.outcome === "applied") swept.pruned = plan.prune.length;
    else swept.conflicts += plan.prune.length;
  } catch (error) {
    if (!(error instanceof StoreRefused)) throw error;
    // A server may forbid removals; records that stay cost a little room and nothing else.
    swept.problems.push(`Old records could not be removed, and stay: ${error.message}`);
  }
}

async function start(
  ports: Ports,
  request: SweepRequest,
  swept: Swept,
  options: SweepOptions,
): Promise<void> {
  const { plan } = swept;
  if (!options.remember) {
    swept.started = plan.start;
    return;
  }
  const wanted = plan.start.map((draft) => {
    const seen = request.records.get(draft.path) ?? null;
    if (seen instanceof RecordInvalid) return null;
    return startDraft(seen, {
      ...viewOf(draft, request),
      draft: draft.path,
      staleAfter: request.staleAfter ?? defaultStaleAfter,
      floor: plan.floor,
      nonce: ports.chance.nonce(),
    });
  });
  const changes = wanted.map((write) => write && changeOf(write));
  const real = changes.filter((change) => change !== null);
  const { applied, conflicts } = await apply(ports.store, real, options);
  swept.conflicts += conflicts;
  swept.started = plan.start.filter((_, i) => {
    const change = changes[i];
    return change !== null && change !== undefined && applied.has(change);
  });
  giveUp(plan, new Set(swept.started));
}

/** A start that another sweep was faster at is that sweep's. The headings still add up. */
function giveUp(plan: SweepPlan, started: ReadonlySet<SweepDraft>): void {
  const lost = new Set(plan.start.filter((draft) => !started.has(draft)).map((draft) => draft.path));
  for (const each of plan.report)
    if (each.heading === "started" && lost.has(each.path)) {
      each.heading = "already_started";
      plan.counts.started--;
      plan.counts.already_started++;
    }
}

/** Changes that go into one transaction at the most. */
const batchSize = 50;

/** All at once where that works, since a request costs more than a change; one by one where somebody was faster at one. */
async function apply(
  store: Store,
  changes: readonly Change[],
  { signal }: SweepOptions,
): Promise<{ applied: Set<Change>; conflicts: number }> {
  const applied = new Set<Change>();
  for (let at = 0; at < changes.length; at += batchSize) {
    const batch = changes.slice(at, at + batchSize);
    if (batch.length > 1 && (await store.swap(batch, { signal })).outcome === "applied") {
      for (const change of batch) applied.add(change);
      continue;
    }
    for (const change of batch)
      if ((await store.swap([change], { signal })).outcome === "applied") applied.add(change);
  }
  return { applied, conflicts: changes.length - applied.size };
}
