// Limits: signals by which work that takes too long is given up.

/** Aborts these milliseconds after the signal has; never when there is none. */
export function later(signal: AbortSignal | undefined, ms: number): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  const controller = new AbortController();
  const start = () => setTimeout(() => controller.abort(), ms).unref();
  if (signal.aborted) start();
  else signal.addEventListener("abort", start, { once: true });
  return controller.signal;
}

/** Aborts after these milliseconds, or `grace` milliseconds after the interrupt, whichever comes first. */
export function limit(ms: number, interrupt?: AbortSignal, grace = 0): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort();
  setTimeout(abort, ms).unref();
  later(interrupt, grace)?.addEventListener("abort", abort, { once: true });
  return controller.signal;
}
