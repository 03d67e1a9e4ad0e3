// The heartbeat: renews every third of the TTL, and says so when the holder must call itself lost.
import { doubtShare, elapsed, inDoubt, type Reading } from "../protocol/doubt.js";
import { type Holding, isMine, type SeenLease, TokenRegressed } from "../protocol/lease.js";
import { quote } from "../protocol/names.js";
import type { Oid } from "../protocol/record.js";
import type { CallOptions, Store } from "../store/store.js";
import { type Ports, readOne, succeedLease } from "./lease.js";

/** What a heartbeat keeps alive, a lease or a draft: how to read its record, and how to renew it. */
export interface Kept<H extends S, S extends { oid: Oid }> {
  noun: "lease" | "draft";
  name(holding: H): string;
  read(store: Store, holding: H, options: CallOptions): Promise<S | null>;
  isMine(seen: S | null, holding: H): seen is S;
  /** On top of `known`. Anyone but the current claim changes nothing. */
  renew(ports: Ports, holding: H, options: CallOptions, known: S | null): Promise<Renewal<H>>;
}

export type Renewal<H> =
  | { outcome: "written"; holding: H; sentAt: Reading }
  /** Says what the record is instead. */
  | { outcome: "not-mine"; by: string }
  /** The claim itself has ended it, so there is nothing left to keep. */
  | { outcome: "ended" };

export const keptLease: Kept<Holding, SeenLease> = {
  noun: "lease",
  name: ({ lease }) => lease,
  read: (store, { lease }, options) => readOne(store, lease, options),
  isMine,
  async renew(ports, holding, options, known) {
    const result = await succeedLease(ports, holding, "renewed", options, known);
    if (result.outcome === "written") return result;
    const { seen } = result;
    const by = seen ? `token ${seen.record.token} is ${seen.record.state}` : "its record is gone";
    return { outcome: "not-mine", by };
  },
};

/** What both kinds of holding tell about themselves. */
interface AnyHolding {
  oid: Oid;
  record: { ttl?: number | undefined };
}

export type Beat<H = Holding> =
  | { event: "renewed"; holding: H; sentAt: Reading }
  /** A renewal failed; the next one is tried soon. */
  | { event: "failing"; why: string }
  /** Final, and no loss: the claim itself has ended what was kept. */
  | { event: "ended" }
  /** Final. `superseded`: the record is somebody else's. `doubt`: too long without a renewal. */
  | { event: "lost"; why: "superseded" | "doubt" | "regressed"; detail: string };

export type LostBeat = Extract<Beat, { event: "lost" }>;

export interface HeartbeatOptions<H = Holding> extends Ports {
  holding: H;
  /** When the request that acquired, or last renewed, was sent. */
  sentAt: Reading;
  /** Aborting it ends the heartbeat. */
  signal: AbortSignal;
  onBeat: (beat: Beat<H>) => void;
}

/**
 * Beats until the signal aborts or the lease is lost. Any other failure is survived: the rule of restic's lock
 * refresh, where giving up after one error loses locks that are still good.
 *
 * Short sleeps instead of one long timer, since timers stop while a machine sleeps.
 */
export function heartbeat(options: HeartbeatOptions): Promise<void> {
  return keepAlive(options, keptLease);
}

/** The same for whatever can be kept. */
export async function keepAlive<H extends S & AnyHolding, S extends { oid: Oid }>(
  options: HeartbeatOptions<H>,
  kept: Kept<H, S>,
): Promise<void> {
  const { clock, signal, onBeat } = options;
  let { holding, sentAt } = options;
  const ttl = holding.record.ttl ?? 0;
  let nextTry = ttl / 3;
  /** When the first renewal was sent whose outcome is unknown. */
  let unknownSince: Reading | undefined;
  while (!signal.aborted) {
    const now = clock.read();
    if (inDoubt(ttl, sentAt, now)) {
      const detail = `no renewal of ${quote(kept.name(holding))} succeeded for two thirds of its TTL`;
      return onBeat({ event: "lost", why: "doubt", detail });
    }
    const age = elapsed(sentAt, now);
    if (age >= nextTry) {
      // Well under a third of the TTL, and never past the moment of doubt.
      const limit = Math.min(ttl / 5, ttl * doubtShare - age);
      const beat = await limited(options, limit, (late) => renew(options, kept, holding, unknownSince, late));
      if (signal.aborted) return;
      onBeat(beat);
      if (beat.event === "lost" || beat.event === "ended") return;
      if (beat.event === "renewed") {
        ({ holding, sentAt } = beat);
        unknownSince = undefined;
      } else unknownSince ??= now;
      nextTry = beat.event === "renewed" ? ttl / 3 : elapsed(sentAt, clock.read()) + ttl / 24;
    }
    await clock.sleep(Math.min(1000, ttl / 30), signal).catch(() => {});
  }
}

/** A renewal that takes too long has failed, whether or not the store heeds the signal. */
async function limited<H>(
  { clock, signal }: HeartbeatOptions<H>,
  limit: number,
  attempt: (signal: AbortSignal) => Promise<Beat<H>>,
): Promise<Beat<H>> {
  const done = new AbortController();
  const late = new AbortController();
  const timeout = clock
    .sleep(limit, AbortSignal.any([done.signal, signal]))
    .catch(() => {})
    .then((): Beat<H> => {
      late.abort(new Error("the store did not answer in time"));
      return { event: "failing", why: "the store did not answer in time" };
    });
  try {
    return await Promise.race([attempt(late.signal), timeout]);
  } finally {
    done.abort();
  }
}

async function renew<H extends S, S extends { oid: Oid }>(
  ports: Ports,
  kept: Kept<H, S>,
  holding: H,
  unknownSince: Reading | undefined,
  signal: AbortSignal,
): Promise<Beat<H>> {
  try {
    let seen: S | null = holding;
    if (unknownSince) {
      seen = await kept.read(ports.store, holding, { signal });
      // Only this claim writes on top of its own record, so a tip that moved and is still mine is that renewal.
      if (kept.isMine(seen, holding) && seen.oid !== holding.oid)
        return { event: "renewed", holding: { ...holding, ...seen }, sentAt: unknownSince };
    }
    const result = await kept.renew(ports, holding, { signal }, seen);
    if (result.outcome === "written")
      return { event: "renewed", holding: result.holding, sentAt: result.sentAt };
    if (result.outcome === "ended") return { event: "ended" };
    const detail = `the ${kept.noun} ${quote(kept.name(holding))} is no longer ours: ${result.by}`;
    return { event: "lost", why: "superseded", detail };
  } catch (error) {
    if (error instanceof TokenRegressed) return { event: "lost", why: "regressed", detail: error.message };
    return { event: "failing", why: error instanceof Error ? error.message : String(error) };
  }
}
