/** Primary rate limits: one window of an hour for each resource and each payer, and the headers that report it. */
import type { Clock } from "./clock.js";
import type { Token } from "./tokens.js";

export type Resource = "core" | "graphql";

export interface Window {
  limit: number;
  used: number;
  /** Seconds since the epoch. */
  reset: number;
}

const HOUR = 3600;

export class Limits {
  /** GHES has its limits off by default: then nothing is counted and no header is sent. */
  enabled = true;
  readonly #windows = new Map<string, Window>();
  readonly #limits = new Map<string, number>();

  constructor(readonly clock: Clock) {}

  /** The window that a request of this token would spend from. */
  window(token: Token | null, resource: Resource): Window {
    const payer = payerOf(token);
    const key = `${resource} ${payer}`;
    const now = this.clock.seconds();
    const known = this.#windows.get(key);
    if (known !== undefined && known.reset > now) return known;
    const fresh = { limit: this.#limits.get(key) ?? limitOf(token), used: 0, reset: now + HOUR };
    this.#windows.set(key, fresh);
    return fresh;
  }

  exceeded(token: Token | null, resource: Resource): boolean {
    const { used, limit } = this.window(token, resource);
    return this.enabled && used >= limit;
  }

  spend(token: Token | null, resource: Resource, points = 1): void {
    if (this.enabled) this.window(token, resource).used += points;
  }

  /** Leaves the payer of this token with so many points until the window is reset. */
  leave(token: Token | null, resource: Resource, points: number): void {
    const window = this.window(token, resource);
    window.used = window.limit - points;
  }

  headers(token: Token | null, resource: Resource): Record<string, string> {
    if (!this.enabled) return {};
    const { limit, used, reset } = this.window(token, resource);
    return {
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(Math.max(0, limit - used)),
      "x-ratelimit-used": String(used),
      "x-ratelimit-reset": String(reset),
      "x-ratelimit-resource": resource,
    };
  }
}

/** "1,000 requests per hour per repository" is shared by all GITHUB_TOKENs of a repository (docs.github.com). */
function payerOf(token: Token | null): string {
  if (token === null) return "anonymous";
  if (token.kind === "GITHUB_TOKEN" || token.kind === "fork")
    return `repository ${token.repositories?.[0] ?? "*"}`;
  return token.kind === "app" ? "installation" : `user ${token.login}`;
}

function limitOf(token: Token | null): number {
  if (token === null) return 60;
  return token.kind === "GITHUB_TOKEN" || token.kind === "fork" ? 1000 : 5000;
}
