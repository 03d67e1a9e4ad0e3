// When a holder must call itself lost, by its own clocks.

/** One reading of both clocks, in milliseconds. Timers and monotonic clocks stop while a machine sleeps; wall clocks jump. */
export interface Reading {
  wall: number;
  monotonic: number;
}

/** After this share of the TTL without a renewal the holder calls itself lost; a challenger waits for all of it. */
export const doubtShare = 2 / 3;

/** Milliseconds since a reading, by whichever clock says more. */
export function elapsed(since: Reading, now: Reading): number {
  return Math.max(now.wall - since.wall, now.monotonic - since.monotonic);
}

/** Whether a holder must call itself lost. `sentAt`: when the last renewal that succeeded was sent. */
export function inDoubt(ttl: number, sentAt: Reading, now: Reading): boolean {
  // Written so that a reading that is no number counts as doubt.
  return !(elapsed(sentAt, now) < ttl * doubtShare);
}
