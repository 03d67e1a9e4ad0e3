/** The server's own clock: it stamps `Date` headers, commits that the server writes, and limit resets. */
export class Clock {
  #offset = 0;
  #held: number | undefined;

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#held ?? Date.now() + this.#offset;
  }

  /** Whole seconds since the epoch: git and HTTP dates resolve no finer. */
  seconds(): number {
    return Math.floor(this.now() / 1000);
  }

  /** ISO 8601 in whole seconds, as GitHub writes dates. */
  iso(milliseconds: number = this.now()): string {
    return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
  }

  advance(milliseconds: number): void {
    if (this.#held !== undefined) this.#held += milliseconds;
    else this.#offset += milliseconds;
  }

  set(to: Date | number | string): void {
    const at = new Date(to).getTime();
    if (Number.isNaN(at)) throw new RangeError(`not a time: ${String(to)}`);
    if (this.#held !== undefined) this.#held = at;
    else this.#offset = at - Date.now();
  }

  /** Stops the clock, so that time passes only by `advance` and `set`. */
  freeze(): void {
    this.#held = this.now();
  }

  /** Lets the clock run again from where it stands. */
  unfreeze(): void {
    if (this.#held === undefined) return;
    this.#offset = this.#held - Date.now();
    this.#held = undefined;
  }
}
