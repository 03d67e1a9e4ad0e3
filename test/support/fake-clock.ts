// A clock that stands still until the test moves it, with wall and monotonic time separately jumpable.
import type { Clock } from "../../src/clock.js";

export interface FakeClock extends Clock {
  /** Lets time pass for everything: both readings and every sleeper, each of which runs at its own moment. */
  advance(ms: number): Promise<void>;
  /** Moves the wall clock alone, as a correction or a machine's sleep does. Nobody wakes. */
  jumpWall(ms: number): void;
  /** Moves the monotonic clock alone. Nobody wakes. */
  jumpMonotonic(ms: number): void;
  /** How many are asleep. */
  sleepers(): number;
}

interface Sleeper {
  due: number;
  wake: () => void;
}

export function fakeClock(wall = Date.UTC(2026, 2, 1, 12)): FakeClock {
  let timers = 0;
  let wallAhead = wall;
  let monotonicAhead = 1000;
  const asleep = new Set<Sleeper>();
  return {
    read: () => ({ wall: wallAhead + timers, monotonic: monotonicAhead + timers }),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper: Sleeper = {
          due: timers + Math.max(ms, 0),
          wake: () => {
            asleep.delete(sleeper);
            signal?.removeEventListener("abort", abort);
            resolve();
          },
        };
        const abort = () => {
          asleep.delete(sleeper);
          reject(signal?.reason);
        };
        signal?.addEventListener("abort", abort, { once: true });
        asleep.add(sleeper);
      }),
    async advance(ms) {
      const end = timers + ms;
      await settled();
      for (;;) {
        const next = [...asleep].filter((s) => s.due <= end).sort((a, b) => a.due - b.due)[0];
        if (next === undefined) break;
        timers = Math.max(timers, next.due);
        next.wake();
        await settled();
      }
      timers = end;
    },
    jumpWall: (ms) => {
      wallAhead += ms;
    },
    jumpMonotonic: (ms) => {
      monotonicAhead += ms;
    },
    sleepers: () => asleep.size,
  };
}

/** Resolves when everything that needs neither time nor input has run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
