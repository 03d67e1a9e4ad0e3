// A store that misbehaves by plan: lost requests, lost replies, stale reads, delays and hangs.
import type { Clock } from "../../src/clock.js";
import type { RecordName } from "../../src/protocol/names.js";
import type { Versioned } from "../../src/protocol/record.js";
import { type CallOptions, type Change, type Store, StoreUnavailable } from "../../src/store/store.js";

export type Fault =
  | "ok"
  /** A swap loses without having been tried. */
  | "conflict"
  /** The request is lost. */
  | "unavailable-before"
  /** It is applied, and the reply is lost. */
  | "unavailable-after"
  /** A read gives what the read before it gave. */
  | "stale"
  /** No answer until the caller's signal aborts. */
  | "hang"
  /** The answer comes after so many milliseconds. */
  | { delay: number };

/** One fault per call, in order; when it runs out, all is well. */
export interface FaultPlan {
  read?: Iterable<Fault>;
  swap?: Iterable<Fault>;
}

export interface FaultyStore extends Store {
  /** What was called, and what was done to it. */
  readonly calls: { act: "read" | "swap"; fault: Fault }[];
}

export function faultyStore(inner: Store, clock: Clock, plan: FaultPlan): FaultyStore {
  const calls: FaultyStore["calls"] = [];
  const plans = { read: faults(plan.read), swap: faults(plan.swap) };
  const lastRead = new Map<RecordName, Versioned | null>();

  async function perform<T>(
    act: "read" | "swap",
    options: CallOptions,
    call: (fault: Fault) => Promise<T>,
  ): Promise<T> {
    const fault = plans[act].next().value;
    calls.push({ act, fault });
    options.signal?.throwIfAborted();
    if (fault === "unavailable-before") throw new StoreUnavailable("The request was lost.");
    if (fault === "hang") await hang(options.signal);
    if (typeof fault === "object") await clock.sleep(fault.delay, options.signal);
    const answer = await call(fault);
    if (fault === "unavailable-after") throw new StoreUnavailable("The reply was lost.");
    return answer;
  }

  return {
    label: `faulty ${inner.label}`,
    stamps: inner.stamps,
    calls,
    read: (names, options = {}) =>
      perform("read", options, async (fault) => {
        const answer = await inner.read(names, options);
        if (fault === "stale")
          return { now: answer.now, records: names.map((name) => lastRead.get(name) ?? null) };
        for (const [i, name] of names.entries()) lastRead.set(name, answer.records[i] ?? null);
        return answer;
      }),
    list: (prefix, options) => inner.list(prefix, options),
    history: (name, limit, options) => inner.history(name, limit, options),
    swap: (changes: readonly Change[], options: CallOptions = {}) =>
      perform("swap", options, async (fault) =>
        fault === "conflict" ? { outcome: "conflict" } : inner.swap(changes, options),
      ),
    close: () => inner.close(),
  };
}

function* faults(plan: Iterable<Fault> = []): Generator<Fault, Fault> {
  yield* plan;
  for (;;) yield "ok";
}

function hang(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) =>
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true }),
  );
}
