/** What every part of the server shares: its repositories, clock, tokens, limits, faults and log. */
import type { Behaviour } from "./behaviour.js";
import type { Clock } from "./clock.js";
import type { Faults } from "./faults.js";
import type { Limits } from "./limits.js";
import type { Repository } from "./repository.js";
import type { LoggedRequest } from "./requests.js";
import type { Tokens } from "./tokens.js";

/** A whole answer, before it is sent. */
export interface Served {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
  /** Whether it counts against the primary limit. */
  counted: boolean;
}

export interface World {
  readonly clock: Clock;
  readonly tokens: Tokens;
  readonly limits: Limits;
  readonly faults: Faults;
  readonly behaviour: Behaviour;
  readonly requests: LoggedRequest[];
  /** Answers that GitHub's descriptions do not allow, and what this server lacks; a test may insist on none. */
  readonly violations: string[];
  readonly url: string;
  readonly apiBase: string;
  find(fullName: string): Repository | undefined;
}
