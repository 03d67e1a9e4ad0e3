// The heartbeat: renews every third of the TTL, and says so when the holder must call itself lost.
import {
  doubtShare,
  elapsed,
  type Holding,
  inDoubt,
  isMine,
  type Reading,
  type SeenLease,
  TokenRegressed,
} from "../protocol/lease.js";
import { type Ports, readOne, succeedLease } from "./lease.js";

export type Beat =
  | { event: "renewed"; holding: Holding; sentAt: Reading }
  /** A renewal failed; the next one is tried soon. */
  | { event: "failing"; why: string }
  /** Final. `superseded`: the record is somebody else's. `doubt`: too long without a renewal. */
  | { event: "lost"; why: "superseded" | "doubt" | "regressed"; detail: string };

export type LostBeat = Extract<Beat, { event: "lost" }>;

export interface HeartbeatOptions extends Ports {
  holding: Holding;
  /** When the request that acquired, or last renewed, was sent. */
  sentAt: Reading;
  /** Aborting it ends the heartbeat. */
  signal: AbortSignal;
  onBeat: (beat: Beat) => void;
}

/**
 * Beats until the signal aborts or the lease is lost. Any other failure is survived: the rule of restic's lock
 * refresh, where giving up after one error loses locks that are still good.
 *
 * Short sleeps instead of one long timer, since timers stop while a machine sleeps.
 */
export async function heartbeat(options: HeartbeatOptions): Promise<void> {
  const { clock, signal, onBeat } = options;
  let { holding, sentAt } = options;
  const ttl = holding.record.ttl;
  let nextTry = ttl / 3;
  /** When the first renewal was sent whose outcome is unknown. */
  let unknownSince: Reading | undefined;
  while (!signal.aborted) {
    const now = clock.read();
    if (inDoubt(ttl, sentAt, now)) {
      const detail = `no renewal of ${JSON.stringify(holding.lease)} succeeded for two thirds of its TTL`;
      return onBeat({ event: "lost", why: "doubt", detail });
    }
    const age = elapsed(sentAt, now);
    if (age >= nextTry) {
      // Well under a third of the TTL, and never past the moment of doubt.
      const limit = Math.min(ttl / 5, ttl * doubtShare - age);
      const beat = await limited(options, limit, (late) => renew(options, holding, unknownSince, late));
      if (signal.aborted) return;
      onBeat(beat);
      if (beat.event === "lost") return;
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
async function limited(
  { clock, signal }: HeartbeatOptions,
  limit: number,
  attempt: (signal: AbortSignal) => Promise<Beat>,
): Promise<Beat> {
  const done = new AbortController();
  const late = new AbortController();
  const timeout = clock
    .sleep(limit, AbortSignal.any([done.signal, signal]))
    .catch(() => {})
    .then((): Beat => {
      late.abort(new Error("the store did not answer in time"));
      return { event: "failing", why: "the store did not answer in time" };
    });
  try {
    return await Promise.race([attempt(late.signal), timeout]);
  } finally {
    done.abort();
  }
}

async function renew(
  options: HeartbeatOptions,
  holding: Holding,
  unknownSince: Reading | undefined,
  signal: AbortSignal,
): Promise<Beat> {
  try {
    let seen: SeenLease | null = holding;
    if (unknownSince) {
      seen = await readOne(options.store, holding.lease, { signal });
      // Only this claim writes on top of its own record, so a tip that moved and is still mine is that renewal.
      if (isMine(seen, holding) && seen.oid !== holding.oid)
        return { event: "renewed", holding: { ...holding, ...seen }, sentAt: unknownSince };
    }
    const result = await succeedLease(options, holding, "renewed", { signal }, seen);
    if (result.outcome === "written")
      return { event: "renewed", holding: result.holding, sentAt: result.sentAt };
    const by = result.seen
      ? `token ${result.seen.record.token} is ${result.seen.record.state}`
      : "its record is gone";
    const detail = `the lease ${JSON.stringify(holding.lease)} is no longer ours: ${by}`;
    return { event: "lost", why: "superseded", detail };
  } catch (error) {
    if (error instanceof TokenRegressed) return { event: "lost", why: "regressed", detail: error.message };
    return { event: "failing", why: error instanceof Error ? error.message : String(error) };
  }
}
