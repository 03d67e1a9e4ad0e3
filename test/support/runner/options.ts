// What a caller of the runner chooses: the workflow, the event, the repository, the actions, and the times.
import type { Value } from "./expression.js";
import type { StandIn } from "./stand-in.js";

/** Levels by scope, one of GitHub's two shorthands, or undefined where the workflow asks for nothing. */
export type Permissions = Record<string, string> | "read-all" | "write-all" | undefined;

export interface TokenRequest {
  /** The job's own token, that of `actions/create-github-app-token`, or one to find the event's commit with. */
  for: "job" | "app" | "event";
  job: string;
  permissions: Permissions;
  /** The inputs of the app step. */
  inputs?: Record<string, string>;
}

/** Milliseconds. The defaults are those of actions/runner (ProcessInvoker.cs, JobDispatcher.cs). */
export interface Times {
  /** From SIGINT to SIGTERM. */
  sigint: number;
  /** From SIGTERM to SIGKILL. */
  sigterm: number;
  /** How long a step waits for output that a left-over child holds open. */
  stdio: number;
  /** What a cancelled job has for its running step and all of its post steps together. */
  cancel: number;
  /** One minute of `timeout-minutes`. */
  minute: number;
}

export const realTimes: Times = {
  sigint: 7_500,
  sigterm: 2_500,
  stdio: 5_000,
  cancel: 285_000,
  minute: 60_000,
};

export interface RunEvent {
  /** As in `on:`, for instance `schedule`. */
  name: string;
  payload?: Record<string, Value>;
  /** Inputs of a `workflow_dispatch`; missing ones take the workflow's defaults. */
  inputs?: Record<string, string | number | boolean>;
}

export interface LineSource {
  job: string;
  /** Absent for lines of the job itself, such as the cleaning up of orphans. */
  step?: string;
}

export interface RunOptions {
  /** Path of a workflow file. Either this or `yaml`. */
  file?: string;
  yaml?: string;
  /** Default: `workflow_dispatch`. */
  event?: RunEvent;
  /** Where `github.repository` is cloned from: a folder or a URL. Default: `<server_url>/<repository>`. */
  repository?: string;
  /** Local folders by `owner/name` or `owner/name/path`, optionally with `@ref`. */
  actions?: Record<string, string>;
  /** Actions that run inside this process, by `owner/name`; they come before the built-in ones. */
  standIns?: Record<string, StandIn>;
  /** The machine's environment; nothing but PATH and LANG is taken over from this process. */
  env?: Record<string, string>;
  /** Overrides of the `github` context. */
  github?: Record<string, Value>;
  secrets?: Record<string, string>;
  vars?: Record<string, string>;
  /** Path of the Node that runs JavaScript actions. Default: the one of the npm package `node`. */
  node?: string;
  /** Gives each job its token. Default: a random one. */
  mintToken?: (request: TokenRequest) => string | Promise<string>;
  /** Multiplies every time, for tests. */
  pace?: number;
  /** Single times, after `pace`. */
  times?: Partial<Times>;
  /** Milliseconds since 1970, for the times in the result. */
  clock?: () => number;
  onLine?: (line: string, source: LineSource) => void;
}

export function timesOf(options: RunOptions): Times {
  const pace = options.pace ?? 1;
  const paced = Object.entries(realTimes).map(([name, ms]) => [name, ms * pace]);
  return { ...(Object.fromEntries(paced) as Times), ...options.times };
}
