// What the steps of one job share: its machine, environment, status, and the switch that cancels it.
import type { Value } from "./expression.js";
import type { Machine } from "./machine.js";
import type { Masks } from "./masks.js";
import type { RunOptions, Times, TokenRequest } from "./options.js";
import type { Conclusion, StepResult } from "./result.js";
import type { StepTask } from "./step.js";
import type { StepLog } from "./step-log.js";

export type JobStatus = Exclude<Conclusion, "skipped">;

export interface JobState {
  id: string;
  name: string;
  options: RunOptions;
  times: Times;
  machine: Machine;
  masks: Masks;
  log: StepLog;
  now: () => number;
  /** The `github` context without what single steps add to it. */
  github: Record<string, Value>;
  /** The other contexts that stay the same for the whole job: inputs, needs, matrix, strategy, secrets, vars, runner. */
  contexts: Record<string, Value>;
  token: string;
  mintToken: (request: TokenRequest) => Promise<string>;
  /** Of the workflow, the job and GITHUB_ENV. */
  env: Record<string, string>;
  /** Of GITHUB_PATH, the last one first. */
  path: string[];
  defaults: { shell: string | undefined; workingDirectory: string | undefined };
  status: JobStatus;
  /** Post steps in the order in which they were registered; the last one runs first. */
  posts: StepTask[];
  /** What steps saved for their later stages, by the key of the step. */
  states: Map<string, Record<string, string>>;
  steps: StepResult[];
  cancellation: Cancellation;
  /** The machine is gone, or the time after a cancel was up. No further step or post runs. */
  abandoned: boolean;
}

/** A cancel outweighs a failure, and a failure a success (TaskResultUtil.cs). */
export function worse(a: JobStatus, b: JobStatus): JobStatus {
  const ranks: JobStatus[] = ["success", "failure", "cancelled"];
  return ranks.indexOf(a) >= ranks.indexOf(b) ? a : b;
}

/** Tells the running step, once, that its job was cancelled. */
export class Cancellation {
  #asked = false;
  #listeners = new Set<() => void>();

  get asked(): boolean {
    return this.#asked;
  }

  ask(): void {
    if (this.#asked) return;
    this.#asked = true;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Returns how to stop listening. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
