// Carries the rules of one draft out on a store: claim, renew, settle and redrive, by compare-and-swap.
import type { Kept, Renewal } from "../lease/heartbeat.js";
import type { Ports } from "../lease/lease.js";
import type { Claim } from "../protocol/claim.js";
import type { Reading } from "../protocol/doubt.js";
import {
  claimDraft,
  type DraftClaimRequest,
  type DraftHolding,
  type DraftRecord,
  type DraftWrite,
  draftRecordName,
  isMyDraft,
  readDraftRecord,
  renewDraft,
  type SeenDraft,
} from "../protocol/draft.js";
import { floorRecordName, readFloor } from "../protocol/floor.js";
import type { Ownership } from "../protocol/lease.js";
import { quote } from "../protocol/names.js";
import type { Instant, Oid } from "../protocol/record.js";
import {
  type AttemptResult,
  type Backoff,
  redriveDraft,
  settleDraft,
  type UnlockDraftDecision,
  unlockDraft,
} from "../protocol/settle.js";
import type { ReadyReason, Standing } from "../protocol/standing.js";
import type { SweepDraft } from "../protocol/sweep.js";
import { type CallOptions, type Store, StoreUnavailable } from "../store/store.js";
import { changeOf } from "./records.js";

export interface ClaimOptions {
  /** The draft's path. */
  draft: string;
  claim: Claim;
  /** Milliseconds. */
  ttl: number;
  /** Milliseconds of allowance for clocks that differ; ignored where the store stamps. */
  skew: number;
  maxAttempts: number;
  requireDue?: boolean;
  /** The draft at the branch's tip as it is now, and that tip; null where it is not there. */
  look: () => Promise<{ draft: SweepDraft | null; tip: Oid | null }>;
  /** Whether the run that a claim belongs to is known to have finished. Asked before a refusal counts. */
  finished?: (holder: Claim) => Promise<boolean>;
  signal?: AbortSignal | undefined;
}

export interface Claimed {
  outcome: "acquired";
  holding: DraftHolding;
  reason: ReadyReason;
  attempt: number;
  sentAt: Reading;
  /** The tip of the branch at which the draft was found pending. */
  tip: Oid;
  /** The store's time of the read that preceded. */
  now: Instant;
}

export type ClaimResult =
  | Claimed
  /** There is no such file at the tip. */
  | { outcome: "absent"; tip: Oid | null }
  | { outcome: "refused"; standing: Exclude<Standing, { is: "ready" }>; now: Instant };

/** Lost swaps in a row before the store counts as unavailable. */
const mostConflicts = 50;

/**
 * Claims a draft, or says where it stands. The record is read before the tip is: a publish moves both at once, so a
 * record that is still the same when it is swapped answers for the tip too.
 * @throws TokenRegressed, RecordInvalid, StoreUnavailable
 */
export async function claimOnStore(ports: Ports, options: ClaimOptions): Promise<ClaimResult> {
  const { store, clock, chance } = ports;
  const { draft, signal } = options;
  let watched: { oid: Oid; since: number } | undefined;
  let witness = 0;
  for (let conflicts = 0; conflicts < mostConflicts; conflicts++) {
    if (conflicts > 0)
      await clock.sleep(Math.min(20 * 2 ** conflicts, 1000) * (0.75 + chance.random() / 2), signal);
    const sentAt = clock.read();
    const names = [draftRecordName(draft), floorRecordName];
    const { now, records } = await store.read(names, { signal });
    const seen = readDraftRecord(records[0] ?? null);
    const readAt = clock.read().monotonic;
    if (seen && seen.oid !== watched?.oid) watched = { oid: seen.oid, since: readAt };
    const { draft: found, tip } = await options.look();
    if (found === null || tip === null) return { outcome: "absent", tip };
    const ask: DraftClaimRequest = {
      draft,
      claim: options.claim,
      ttl: options.ttl,
      blob: found.blob,
      reading: found.reading,
      now,
      skew: store.stamps ? 0 : options.skew,
      maxAttempts: options.maxAttempts,
      requireDue: options.requireDue ?? false,
      unchangedFor: watched ? readAt - watched.since : 0,
      floor: readFloor(records[1] ?? null)?.record.token ?? 0,
      witness,
      nonce: chance.nonce(),
    };
    witness = Math.max(witness, seen?.record.token ?? 0);
    let decision = claimDraft(seen, ask);
    if (decision.outcome === "refuse" && (await holderFinished(decision.standing, options)))
      decision = claimDraft(seen, { ...ask, holderFinished: true });
    if (decision.outcome === "refuse") return { outcome: "refused", standing: decision.standing, now };
    const { write: wanted, reason, attempt } = decision;
    const written = await write(store, wanted, { signal });
    if (written)
      return {
        outcome: "acquired",
        holding: holdingOf(written, options.claim),
        reason,
        attempt,
        sentAt,
        tip,
        now,
      };
  }
  throw changing(draft, "claimed");
}

async function holderFinished(standing: Standing, { finished }: ClaimOptions): Promise<boolean> {
  if (standing.is !== "held" || finished === undefined) return false;
  const { holder } = standing.seen.record;
  return holder !== undefined && (await finished(holder));
}

/** What a heartbeat needs to keep a draft. */
export const keptDraft: Kept<DraftHolding, SeenDraft> = {
  noun: "draft",
  name: ({ draft }) => draft,
  read: (store, { draft }, options) => readDraftOn(store, draft, options),
  isMine: isMyDraft as (seen: SeenDraft | null, holding: DraftHolding) => seen is SeenDraft,
  async renew(ports, holding, options, known): Promise<Renewal<DraftHolding>> {
    let sentAt = ports.clock.read();
    const result = await onMine(ports, holding, options, known, (seen) => {
      sentAt = ports.clock.read();
      return renewDraft(seen, holding, ports.chance.nonce());
    });
    if (result.outcome === "written")
      return { outcome: "written", holding: holdingOf(result.seen, holding.claim), sentAt };
    const { seen } = result;
    // By a push from inside the work, which counts for this claim.
    if (publishedByMe(seen?.record ?? null, holding)) return { outcome: "ended" };
    return {
      outcome: "not-mine",
      by: seen ? `token ${seen.record.token} is ${seen.record.state}` : "its record is gone",
    };
  },
};

export interface SettleOptions extends CallOptions {
  /** The store's time, from which the next try is counted. Default: this machine's. */
  now?: Instant;
  maxAttempts: number;
  backoff?: Backoff;
}

export type SettleResult =
  | { outcome: "written"; record: DraftRecord }
  /** Somebody else's by now, or ended already: its record as it is. Nothing was written. */
  | { outcome: "not-mine"; record: DraftRecord | null };

/** Ends my attempt. Anyone but the current claim changes nothing. */
export async function settleOnStore(
  ports: Ports,
  holding: DraftHolding,
  result: AttemptResult,
  options: SettleOptions,
): Promise<SettleResult> {
  const { maxAttempts, backoff } = options;
  const now = options.now ?? ports.clock.read().wall;
  const ended = await onMine(ports, holding, options, holding, (seen) =>
    settleDraft(seen, holding, result, {
      now,
      maxAttempts,
      random: ports.chance.random(),
      nonce: ports.chance.nonce(),
      ...(backoff ? { backoff } : {}),
    }),
  );
  const record = ended.seen?.record ?? null;
  if (ended.outcome === "written") return { outcome: "written", record: ended.seen.record };
  return { outcome: "not-mine", record };
}

/** Whether an attempt that is no longer held was published by this very claim, from inside its command. */
export function publishedByMe(record: DraftRecord | null, mine: Ownership): boolean {
  return record?.state === "published" && record.token === mine.token && record.holder?.id === mine.claim.id;
}

/** The record of a draft that this very claim has published already, with a push from inside its work. */
export async function publishedEarlier(store: Store, holding: DraftHolding): Promise<DraftRecord | null> {
  const options = { signal: AbortSignal.timeout(30_000) };
  // Who cannot read it pushes, and the fence decides.
  const seen = await readDraftOn(store, holding.draft, options).catch(() => null);
  return seen && publishedByMe(seen.record, holding) ? seen.record : null;
}

export type RedriveResult =
  | { outcome: "redriven"; token: number }
  | { outcome: "unknown" }
  | { outcome: "not_dead"; seen: SeenDraft };

/** Takes a draft out of the dead letters, for people. */
export async function redriveOnStore(
  ports: Ports,
  ask: { draft: string; by: string; reason: string },
): Promise<RedriveResult> {
  for (let conflicts = 0; conflicts < mostConflicts; conflicts++) {
    const seen = await readDraftOn(ports.store, ask.draft);
    const decision = redriveDraft(seen, { ...ask, nonce: ports.chance.nonce() });
    if (decision.outcome === "unknown") return decision;
    if (decision.outcome === "not_dead") return { outcome: "not_dead", seen: seen as SeenDraft };
    const written = await write(ports.store, decision.write, {});
    if (written) return { outcome: "redriven", token: written.record.token };
  }
  throw changing(ask.draft, "redriven");
}

export type UnlockDraftResult =
  | { outcome: "unlocked"; was: SeenDraft }
  | Exclude<UnlockDraftDecision, { outcome: "unlocked" }>;

/** Frees a draft by force, for people. */
export async function unlockDraftOnStore(
  ports: Ports,
  ask: { draft: string; token: number; by: string; reason: string },
): Promise<UnlockDraftResult> {
  for (let conflicts = 0; conflicts < mostConflicts; conflicts++) {
    const decision = unlockDraft(await readDraftOn(ports.store, ask.draft), {
      ...ask,
      nonce: ports.chance.nonce(),
    });
    if (decision.outcome !== "unlocked") return decision;
    if (await write(ports.store, decision.write, {})) return { outcome: "unlocked", was: decision.was };
  }
  throw changing(ask.draft, "unlocked");
}

/** The draft's record as its store has it now. */
export async function readDraftOn(
  store: Store,
  draft: string,
  options: CallOptions = {},
): Promise<SeenDraft | null> {
  return readDraftRecord((await store.read([draftRecordName(draft)], options)).records[0] ?? null);
}

/** Writes on top of my own record, and reads again when my heartbeat or my push was faster. */
async function onMine(
  ports: Ports,
  holding: DraftHolding,
  { signal }: CallOptions,
  known: SeenDraft | null,
  next: (seen: SeenDraft | null) => DraftWrite | null,
): Promise<{ outcome: "written"; seen: SeenDraft } | { outcome: "not-mine"; seen: SeenDraft | null }> {
  let seen = known;
  for (let conflicts = 0; conflicts < mostConflicts; conflicts++) {
    const wanted = next(seen);
    if (wanted === null) return { outcome: "not-mine", seen };
    const written = await write(ports.store, wanted, { signal });
    if (written) return { outcome: "written", seen: written };
    seen = await readDraftOn(ports.store, holding.draft, { signal });
  }
  throw changing(holding.draft, "written");
}

async function write(store: Store, wanted: DraftWrite, options: CallOptions): Promise<SeenDraft | null> {
  const result = await store.swap([changeOf(wanted)], options);
  const written = result.outcome === "applied" ? result.written[0] : null;
  return written ? { record: wanted.record, oid: written.oid, writtenAt: written.writtenAt } : null;
}

function holdingOf(seen: SeenDraft, claim: Claim): DraftHolding {
  return { draft: seen.record.name, token: seen.record.token, claim, ...seen };
}

function changing(draft: string, act: string): StoreUnavailable {
  return new StoreUnavailable(
    `The draft ${quote(draft)} changed ${mostConflicts} times while it was being ${act}. Try again later.`,
  );
}
