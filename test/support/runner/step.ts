// Runs one step of a job or of a composite action: condition, environment, time limit, result (StepsRunner.cs).
import { evaluate, evaluateText, evaluateTexts, holds, type Scope, type Token } from "./expression.js";
import type { Frame } from "./frame.js";
import { type JobStatus, worse } from "./job-state.js";
import type { Conclusion, Stage, StepResult } from "./result.js";
import { createLog, type StepLog } from "./step-log.js";
import { scopeOfStep } from "./step-scope.js";

export interface StepTask {
  id: string;
  /** Unique in the job; state and posts are kept under it. */
  key: string;
  name: Token | string;
  stage: Stage;
  condition: string;
  env: Token | undefined;
  continueOnError: Token | undefined;
  timeout: Token | undefined;
  act: (run: StepRun) => Promise<JobStatus>;
}

/** One step while it runs. */
export interface StepRun {
  frame: Frame;
  task: StepTask;
  log: StepLog;
  result: StepResult;
  /** The `env` context: of the job, of the steps around this one, and its own. */
  env: Record<string, string>;
  /** Of these, what `env:` of this step and of the steps around it set. */
  ownEnv: Record<string, string>;
  /** Aborted when the step is cancelled or out of time. */
  signal: AbortSignal;
  scope(): Scope;
  /** A command or a file of the step was wrong: it fails whatever its exit code. */
  failed: boolean;
}

/** What `act` throws where it was stopped by the step's signal. */
export class Interrupted extends Error {}

/** Runs the step and returns its result, or null where its job had been abandoned before. */
export async function runStep(frame: Frame, task: StepTask): Promise<StepResult | null> {
  if (frame.job.abandoned) return null;
  const stop = new AbortController();
  const run = begin(frame, task, stop.signal);
  if (!frame.composite) frame.job.steps.push(run.result);
  settle(run, await perform(run, stop));
  return run.result;
}

function begin(frame: Frame, task: StepTask, signal: AbortSignal): StepRun {
  const { job, composite } = frame;
  const source = { job: job.name, step: task.id };
  const log = composite?.parent.log ?? createLog(job.masks, (line) => job.options.onLine?.(line, source));
  const run: StepRun = {
    frame,
    task,
    log,
    result: emptyResult(task, log, job.now()),
    env: { ...job.env, ...composite?.parent.ownEnv },
    ownEnv: { ...composite?.parent.ownEnv },
    signal,
    failed: false,
    scope: () => scopeOfStep(run),
  };
  return run;
}

function emptyResult(task: StepTask, log: StepLog, startedAt: number): StepResult {
  return {
    id: task.id,
    name: typeof task.name === "string" ? task.name : task.id,
    stage: task.stage,
    outcome: "success",
    conclusion: "success",
    outputs: {},
    log: log.lines,
    annotations: log.annotations,
    summaries: [],
    leakedStdio: false,
    startedAt,
    completedAt: startedAt,
  };
}

async function perform(run: StepRun, stop: AbortController): Promise<Conclusion> {
  const { job, composite } = run.frame;
  const { task } = run;
  const clock: { timer?: NodeJS.Timeout; minutes: number } = { minutes: 0 };
  const unlisten = job.cancellation.listen(() => {
    // A step whose condition holds for a cancelled job too, such as `always()`, is left alone.
    if (!stillHolds(run)) stop.abort("cancelled");
  });
  // Of the step around it, only its time limit reaches this one; a cancel asks each step's own condition.
  const outOfTime = () => composite?.parent.signal.reason === "timeout" && stop.abort("timeout");
  composite?.parent.signal.addEventListener("abort", outOfTime);
  try {
    outOfTime();
    Object.assign(run.ownEnv, evaluateTexts(task.env, run.scope()));
    Object.assign(run.env, run.ownEnv);
    if (typeof task.name !== "string") run.result.name = job.masks.hide(evaluateText(task.name, run.scope()));
    if (!holds(task.condition, run.scope())) return "skipped";
    clock.minutes = Number(evaluate(task.timeout, run.scope()) ?? 0);
    if (clock.minutes > 0)
      clock.timer = setTimeout(() => stop.abort("timeout"), clock.minutes * job.times.minute);
    const status = await task.act(run);
    return run.failed ? worse(status, "failure") : status;
  } catch (error) {
    if (error instanceof Interrupted) return interrupted(run, clock.minutes);
    run.log.issue({ level: "error", message: error instanceof Error ? error.message : String(error) });
    return "failure";
  } finally {
    clearTimeout(clock.timer);
    composite?.parent.signal.removeEventListener("abort", outOfTime);
    unlisten();
  }
}

function interrupted(run: StepRun, minutes: number): Conclusion {
  if (run.signal.reason !== "timeout") {
    run.log.issue({ level: "error", message: "The operation was canceled." });
    return "cancelled";
  }
  const whole = `The action '${run.result.name}' has timed out after ${minutes} minutes.`;
  run.log.issue({ level: "error", message: run.frame.composite ? "The action has timed out." : whole });
  return "failure";
}

function settle(run: StepRun, outcome: Conclusion): void {
  const { task, result } = run;
  const { job, composite, steps } = run.frame;
  result.outcome = outcome;
  result.conclusion = outcome === "failure" && mayFail(run) ? "success" : outcome;
  result.completedAt = job.now();
  // Made ids start with `__` and are not there for expressions.
  if (!task.id.startsWith("__") && task.stage === "main")
    steps[task.id] = { outputs: result.outputs, outcome, conclusion: result.conclusion };
  if (result.conclusion === "skipped") return;
  if (composite) composite.status = worse(composite.status, result.conclusion);
  // A cancelled step does not cancel its job: the job's own cancel does.
  else if (result.conclusion === "failure") job.status = worse(job.status, "failure");
}

function mayFail(run: StepRun): boolean {
  try {
    return evaluate(run.task.continueOnError, run.scope()) === true;
  } catch (error) {
    run.log.issue({ level: "error", message: `continue-on-error: ${(error as Error).message}` });
    return false;
  }
}

function stillHolds(run: StepRun): boolean {
  try {
    return holds(run.task.condition, run.scope());
  } catch (error) {
    run.log.issue({ level: "error", message: (error as Error).message });
    return false;
  }
}
