// The only file that reads a clock or waits.
import { setTimeout as delay } from "node:timers/promises";
import type { Reading } from "./protocol/doubt.js";

export interface Clock {
  read(): Reading;
  /** Resolves after the milliseconds; rejects when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  // Counted from the machine's start, not the process's, so that a heartbeat's reading means the same to its parent.
  read: () => ({ wall: Date.now(), monotonic: Number(process.hrtime.bigint() / 1000n) / 1000 }),
  sleep: async (ms, signal) => {
    await delay(ms, undefined, signal ? { signal } : {});
  },
};
