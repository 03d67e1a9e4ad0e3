// Carries the lease rules out on a store: read, decide, swap, and decide again when somebody was faster.
import type { Chance } from "../chance.js";
import type { Clock } from "../clock.js";
import type { Claim } from "../protocol/claim.js";
import type { Reading } from "../protocol/doubt.js";
import {
  type AcquireRequest,
  acquire,
  checkWitness,
  type GrantReason,
  type Holding,
  type LeaseWrite,
  leaseMessage,
  leaseRecordName,
  readLease,
  type SeenLease,
  succeed,
  unlock,
} from "../protocol/lease.js";
import type { RecordName } from "../protocol/names.js";
import type { Instant, Versioned } from "../protocol/record.js";
import { type CallOptions, type Store, StoreRefused, StoreUnavailable } from "../store/store.js";

export interface Ports {
  store: Store;
  clock: Clock;
  chance: Chance;
}

/** A lease that somebody else holds. */
export interface Held {
  seen: SeenLease;
  expiresAt: Instant;
  /** The store's time of the read. */
  now: Instant;
  /** The further records that were asked for. */
  also: readonly (Versioned | null)[];
}

export interface AcquireOptions {
  lease: string;
  claim: Claim;
  /** Milliseconds. */
  ttl: number;
  /** Milliseconds of allowance for clocks that differ; ignored where the store stamps. */
  skew: number;
  /** How long to wait for a lease that is held, in milliseconds. 0: do not wait. */
  wait: number;
  signal?: AbortSignal | undefined;
  /** Whether the run that a claim belongs to is known to have finished. Asked before a refusal counts. */
  finished?: (holder: Claim) => Promise<boolean>;
  /** Further records to read along with the lease; a skip hands them out. */
  also?: readonly RecordName[];
  /** Told at the first refusal, and then every time something changed or half a minute passed. */
  onHeld?: (held: Held, waitedFor: number) => void;
}

export type Acquired = {
  outcome: "acquired";
  holding: Holding;
  reason: GrantReason;
  /** The lease that was replaced. */
  before: SeenLease | null;
  sentAt: Reading;
  /** The store's time of the read that preceded. */
  now: Instant;
  /** The further records that were asked for. */
  also: readonly (Versioned | null)[];
};
export type AcquireResult = Acquired | ({ outcome: "skipped_overlap"; waitedFor: number } & Held);

/** Lost swaps in a row before the store counts as unavailable: each one means that somebody else got on. */
const mostConflicts = 50;

/** Takes the lease, or says who holds it. */
export async function acquireLease(ports: Ports, options: AcquireOptions): Promise<AcquireResult> {
  const { store, clock } = ports;
  const start = clock.read().monotonic;
  let watched: { oid: string; since: number } | undefined;
  let witness = 0;
  let keepChain = false;
  let lastTold = Number.NEGATIVE_INFINITY;
  for (let conflicts = 0; conflicts < mostConflicts; ) {
    const sentAt = clock.read();
    const names = [leaseRecordName(options.lease), ...(options.also ?? [])];
    const { now, records } = await store.read(names, options);
    const seen = readLease(records[0] ?? null);
    const readAt = clock.read().monotonic;
    if (seen && seen.oid !== watched?.oid) watched = { oid: seen.oid, since: readAt };
    const ask: AcquireRequest = {
      ...options,
      now,
      skew: store.stamps ? 0 : options.skew,
      unchangedFor: watched ? readAt - watched.since : 0,
      witness,
      keepChain,
      nonce: ports.chance.nonce(),
    };
    witness = Math.max(witness, seen?.record.token ?? 0);
    let decision = acquire(seen, ask);
    if (decision.outcome === "refuse" && (await options.finished?.(decision.holding.record.holder)))
      decision = acquire(seen, { ...ask, holderFinished: true });
    if (decision.outcome === "grant") {
      const { write: wanted, reason } = decision;
      const holding = await write(store, wanted, options).catch((error) => {
        // A server may take fast-forwards only; then the history stays long.
        if (!(error instanceof StoreRefused) || !wanted.root || wanted.expected === null) throw error;
        keepChain = true;
        return null;
      });
      if (holding)
        return { outcome: "acquired", holding, reason, before: seen, sentAt, now, also: records.slice(1) };
      conflicts++;
      await clock.sleep(jitter(ports.chance, Math.min(20 * 2 ** conflicts, 1000)), options.signal);
      continue;
    }
    const held: Held = { seen: decision.holding, expiresAt: decision.expiresAt, now, also: records.slice(1) };
    const waitedFor = readAt - start;
    if (waitedFor >= options.wait) return { outcome: "skipped_overlap", waitedFor, ...held };
    if (watched?.since === readAt || readAt - lastTold >= 30_000) {
      lastTold = readAt;
      options.onHeld?.(held, waitedFor);
    }
    conflicts = 0;
    await change(ports, options, held, readAt, start + options.wait);
  }
  throw new StoreUnavailable(
    `The lease ${JSON.stringify(options.lease)} changed ${mostConflicts} times while it was being acquired. Try again later.`,
  );
}

/** How often a waiting challenger asks whether the holder's run has finished, in milliseconds. */
const livenessEvery = 30_000;

/**
 * Waits until reading again is worth it: something changed, the lease has expired, the holder's run has finished, or
 * the time is up. A store that can say "unchanged" at no cost is not read in between.
 */
async function change(
  ports: Ports,
  options: AcquireOptions,
  held: Held,
  readAt: number,
  end: number,
): Promise<void> {
  const { store, clock } = ports;
  const { seen } = held;
  const poll = Math.min(Math.max(seen.record.ttl, 5000) / 20, 5000);
  const expiry = readAt + (held.expiresAt - held.now) + (store.stamps ? 0 : options.skew);
  const watch = { name: leaseRecordName(options.lease), oid: seen.oid };
  for (let asked = readAt; ; ) {
    const now = clock.read().monotonic;
    await clock.sleep(Math.max(Math.min(jitter(ports.chance, poll), end - now), 1), options.signal);
    const then = clock.read().monotonic;
    if (store.unchanged === undefined || then >= expiry || then >= end) return;
    if (!(await store.unchanged(watch, options))) return;
    if (options.finished === undefined || then - asked < livenessEvery) continue;
    asked = then;
    if (await options.finished(seen.record.holder)) return;
  }
}

export type SuccessorResult =
  | { outcome: "written"; holding: Holding; sentAt: Reading }
  | { outcome: "not-mine"; seen: SeenLease | null };

/** Renews or releases, on top of the last known tip. Anyone but the current claim changes nothing. */
export async function succeedLease(
  ports: Ports,
  holding: Holding,
  event: "renewed" | "released",
  options: CallOptions & { slots?: Record<string, string> } = {},
  known: SeenLease | null = holding,
): Promise<SuccessorResult> {
  let seen = known;
  for (let conflicts = 0; conflicts < mostConflicts; conflicts++) {
    const sentAt = ports.clock.read();
    const { slots } = options;
    const nonce = ports.chance.nonce();
    const next = succeed(seen, holding, { event, nonce, ...(slots ? { slots } : {}) });
    if (next === null) {
      checkWitness(holding.lease, seen, holding.token);
      return { outcome: "not-mine", seen };
    }
    const written = await write(ports.store, next, options);
    if (written) return { outcome: "written", holding: written, sentAt };
    seen = await readOne(ports.store, holding.lease, options);
  }
  throw new StoreUnavailable(
    `The lease ${JSON.stringify(holding.lease)} changed ${mostConflicts} times while it was being ${event}. Try again later.`,
  );
}

export type UnlockResult =
  | { outcome: "unlocked"; token: number; was: SeenLease }
  | { outcome: "absent" }
  | { outcome: "free" | "moved-on"; seen: SeenLease };

/** Frees a lease by force, for people. */
export async function unlockLease(
  ports: Ports,
  ask: { lease: string; token: number; by: string; reason: string },
): Promise<UnlockResult> {
  for (let conflicts = 0; conflicts < mostConflicts; conflicts++) {
    const { now, records } = await ports.store.read([leaseRecordName(ask.lease)]);
    const seen = readLease(records[0] ?? null);
    const decision = unlock(seen, { ...ask, now, nonce: ports.chance.nonce() });
    if (decision.outcome !== "unlock") return decision;
    const written = await write(ports.store, decision.write, {});
    if (written) return { outcome: "unlocked", token: written.token, was: seen as SeenLease };
  }
  throw new StoreUnavailable(
    `The lease ${JSON.stringify(ask.lease)} changed ${mostConflicts} times while it was being unlocked. Try again later.`,
  );
}

/** The lease as its store has it now. */
export async function readOne(
  store: Store,
  lease: string,
  options: CallOptions = {},
): Promise<SeenLease | null> {
  const { records } = await store.read([leaseRecordName(lease)], options);
  return readLease(records[0] ?? null);
}

/** The holding that the write made, or null when somebody was faster. */
async function write(
  store: Store,
  { record, expected, root }: LeaseWrite,
  options: CallOptions,
): Promise<Holding | null> {
  const next = { message: leaseMessage(record), root };
  const result = await store.swap([{ name: leaseRecordName(record.name), expected, next }], options);
  const written = result.outcome === "applied" ? result.written[0] : null;
  if (!written) return null;
  const { token, name: lease, holder: claim } = record;
  return { lease, token, claim, oid: written.oid, record, writtenAt: written.writtenAt };
}

function jitter(chance: Chance, ms: number): number {
  return ms * (0.75 + chance.random() / 2);
}
