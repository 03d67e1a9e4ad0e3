// What a run leaves behind: conclusions, outputs, logs, annotations and summaries.
import type { Value } from "./expression.js";
import type { Permissions } from "./options.js";

export type Conclusion = "success" | "failure" | "cancelled" | "skipped";
export type Stage = "pre" | "main" | "post";

export interface Annotation {
  level: "error" | "warning" | "notice";
  message: string;
  title?: string;
  file?: string;
  line?: number;
}

export interface StepResult {
  id: string;
  name: string;
  stage: Stage;
  /** Before `continue-on-error`. */
  outcome: Conclusion;
  /** After `continue-on-error`. */
  conclusion: Conclusion;
  outputs: Record<string, string>;
  log: string[];
  annotations: Annotation[];
  /** One for the step, and one for each step of a composite action. */
  summaries: string[];
  /** A process that outlived the step still held its standard output open. */
  leakedStdio: boolean;
  startedAt: number;
  completedAt: number;
}

export interface JobResult {
  /** The key under `jobs:`. */
  id: string;
  /** With the leg of a matrix: `build (20, linux)`. */
  name: string;
  conclusion: Conclusion;
  matrix: Record<string, Value> | null;
  outputs: Record<string, string>;
  /** In the order in which they ran: pre, main, post. */
  steps: StepResult[];
  /** Lines and annotations of the job itself. */
  log: string[];
  annotations: Annotation[];
  /** The summaries that GitHub shows: the first twenty, in order. */
  summary: string;
  permissions: Permissions;
  concurrency: Value;
  /** The machine was lost, or the time after a cancel was up: later steps and posts did not run. */
  abandoned: boolean;
  startedAt: number;
  completedAt: number;
}

export interface RunResult {
  conclusion: Conclusion;
  /** One entry for each leg of a matrix. */
  jobs: JobResult[];
  concurrency: Value;
  /** The only job of that id; throws where there are several legs or none. */
  job(id: string): JobResult;
  legs(id: string): JobResult[];
}

/** "A maximum of 20 job summaries from steps are displayed per job" (docs.github.com, workflow commands). */
const shownSummaries = 20;

export function shownSummary(steps: StepResult[]): string {
  return steps
    .flatMap((step) => step.summaries)
    .slice(0, shownSummaries)
    .join("\n");
}

/** The step of that id and stage; throws where it did not come up at all. */
export function stepOf(job: JobResult, id: string, stage: Stage = "main"): StepResult {
  const found = job.steps.find((step) => step.id === id && step.stage === stage);
  if (!found)
    throw new Error(`Job ${job.name} has no ${stage} step ${id}: ${job.steps.map((s) => s.id).join(", ")}`);
  return found;
}

export function runResult(jobs: JobResult[], conclusion: Conclusion, concurrency: Value): RunResult {
  const legs = (id: string) => jobs.filter((job) => job.id === id);
  return {
    conclusion,
    jobs,
    concurrency,
    legs,
    job(id) {
      const [first, ...others] = legs(id);
      if (!first || others.length > 0)
        throw new Error(`Job ${id} ran ${others.length + (first ? 1 : 0)} times`);
      return first;
    },
  };
}
