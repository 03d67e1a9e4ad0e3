/** Faults that a test injects into the next, or the n-th, request that it describes. */
import { type LoggedRequest, type Match, matches } from "./requests.js";

export type When = "before" | "after";

export type Fault =
  /** The request never arrives: nothing is done, the connection breaks. */
  | { kind: "lost-request" }
  /** The request is carried out, and the connection breaks before the answer. */
  | { kind: "lost-reply" }
  /** The request (before) or its answer (after) waits so many real milliseconds. */
  | { kind: "delay"; ms: number; when?: When }
  /** Answers with this status instead of carrying the request out, or after having done so. */
  | { kind: "status"; status: number; when: When; body?: unknown; headers?: Record<string, string> }
  /**
   * A push answered with a report that fails every ref, before or after receive-pack moved them: as when
   * github.com says `[remote rejected] (Internal Server Error)`. A null reason leaves the refs out of the report,
   * which git shows as `[remote failure] (remote failed to report status)`.
   */
  | { kind: "push-report"; reason: string | null; lines?: readonly string[]; when: When }
  /** HTTP 200 with GraphQL's generic error, before or after the write. */
  | { kind: "graphql-error"; when: When }
  /** A read sees each ref (or the named ones) as it was before its last change. */
  | { kind: "stale"; refs?: readonly string[] }
  /** A secondary limit; `retryAfter` in seconds, "" for a blank header, null for none. */
  | { kind: "secondary-limit"; retryAfter?: number | "" | null }
  /** Runs before the server looks at the request: a competing write that the request must then lose to. */
  | { kind: "before"; run: (request: LoggedRequest) => unknown }
  /** Runs after the request was carried out and before it is answered. */
  | { kind: "after"; run: (request: LoggedRequest) => unknown }
  /** Runs after the API's own checks and before its ref transaction: a race that only the transaction sees. */
  | { kind: "between"; run: (request: LoggedRequest) => unknown };

export interface Repetition {
  /** The first request that is hit, counting matching requests from now; 1 is the next. */
  nth?: number;
  /** How many in a row are hit. */
  times?: number;
}

export interface Hold {
  /** Resolves when a matching request has arrived and waits. */
  reached: Promise<LoggedRequest>;
  release(): void;
}

interface Armed {
  match: Match;
  fault: Fault;
  skip: number;
  left: number;
}

export class Faults {
  readonly #armed: Armed[] = [];
  readonly #holds = new Set<() => void>();

  /** Arms a fault for the next matching request, or for the n-th from now and so many in a row. */
  next(match: Match, fault: Fault, { nth = 1, times = 1 }: Repetition = {}): void {
    this.#armed.push({ match, fault, skip: nth - 1, left: times });
  }

  /** Holds the next matching request before it is looked at, or its answer after it was carried out. */
  hold(match: Match, when: When = "before", repetition: Repetition = {}): Hold {
    let arrived: (request: LoggedRequest) => void = () => undefined;
    let release: () => void = () => undefined;
    const reached = new Promise<LoggedRequest>((resolve) => {
      arrived = resolve;
    });
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#holds.add(release);
    const run = (request: LoggedRequest) => {
      arrived(request);
      return released;
    };
    this.next(match, { kind: when, run }, repetition);
    return {
      reached,
      release: () => {
        this.#holds.delete(release);
        release();
      },
    };
  }

  /** How many armed faults have not been used up; a test may insist on none. */
  get pending(): number {
    return this.#armed.length;
  }

  clear(): void {
    this.#armed.length = 0;
    for (const release of this.#holds) release();
    this.#holds.clear();
  }

  /** The faults that hit this request, in the order in which they were armed. */
  take(request: LoggedRequest): Fault[] {
    const hits = this.#armed.filter((one) => matches(one.match, request));
    const due = hits.filter((one) => one.skip-- <= 0);
    for (const one of due) if (--one.left <= 0) this.#armed.splice(this.#armed.indexOf(one), 1);
    return due.map((one) => one.fault);
  }
}
