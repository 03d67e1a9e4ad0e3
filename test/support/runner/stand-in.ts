// Actions that run inside this process, in place of actions that would need the network.
import type { Value } from "./expression.js";
import type { RunOptions, TokenRequest } from "./options.js";

export interface StandIn {
  /** The text of an action.yml, which gives inputs and their defaults, and whether there is a post step. */
  manifest: string;
  /** Succeeds, or throws with what went wrong. */
  main(run: StandInRun): Promise<void>;
  post?(run: StandInRun): Promise<void>;
}

export interface StandInRun {
  inputs: Record<string, string>;
  /** The environment that a process of this step would have. */
  env: Record<string, string>;
  workspace: string;
  temp: string;
  github: Record<string, Value>;
  options: RunOptions;
  /** Kept from main to post. */
  state: Record<string, string>;
  /** Aborted when the step is cancelled. */
  signal: AbortSignal;
  log(line: string): void;
  output(name: string, value: string): void;
  mask(value: string): void;
  mintToken(request: Omit<TokenRequest, "job">): Promise<string>;
}
