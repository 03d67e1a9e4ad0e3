// The clock and the chance of any JavaScript runtime: nothing here is used before a function is called.
import type { Chance } from "./chance.js";
import type { Clock } from "./clock.js";

export const webClock: Clock = {
  read: () => ({ wall: Date.now(), monotonic: performance.now() }),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", abort);
        resolve();
      }, ms);
      signal?.addEventListener("abort", abort, { once: true });
    }),
};

export const webChance: Chance = { nonce: () => crypto.randomUUID(), random: () => Math.random() };
