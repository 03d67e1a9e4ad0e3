// What the expressions of a step can see.
import { hashFilesIn, type Scope, scopeOf, statusFunctions, type Value } from "./expression.js";
import type { Frame } from "./frame.js";

/** What is needed of a step that runs; a job's outputs are evaluated as if by a step without a name. */
export interface ScopeOwner {
  frame: Frame;
  task: { id: string };
  env: Record<string, string>;
}

export function scopeOfStep(run: ScopeOwner): Scope {
  const { job, composite, steps } = run.frame;
  const asked = () => job.cancellation.asked;
  const status = () => (asked() ? "cancelled" : (composite?.status ?? job.status));
  const contexts: Record<string, Value> = {
    ...job.contexts,
    github: githubOfStep(run),
    job: { status: asked() ? "cancelled" : job.status },
    steps: steps as unknown as Value,
    env: run.env,
    ...(composite && { inputs: composite.inputs, secrets: {} }),
  };
  const functions = statusFunctions({
    success: () => status() === "success",
    failure: () => status() === "failure",
    cancelled: asked,
  });
  return scopeOf(contexts, [...functions, hashFilesIn(job.machine.workspace)]);
}

/** The `github` context with what a single step adds to it. */
export function githubOfStep(run: ScopeOwner): Record<string, Value> {
  const { job, composite } = run.frame;
  const own = { ...job.github, token: job.token, action: run.task.id };
  return composite ? { ...own, action_path: composite.folder, action_status: composite.status } : own;
}
