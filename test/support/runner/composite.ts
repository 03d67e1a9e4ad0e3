// Runs the steps of a composite action, and later the posts that they registered (CompositeActionHandler.cs).

import type { Action } from "./action-source.js";
import { postTask } from "./action-step.js";
import { evaluateText } from "./expression.js";
import type { Frame, StepsContext } from "./frame.js";
import type { JobStatus } from "./job-state.js";
import type { CompositeRuns } from "./manifest.js";
import { runStep, type StepRun, type StepTask } from "./step.js";
import { scopeOfStep } from "./step-scope.js";
import { taskOf } from "./tasks.js";
import type { StepPlan } from "./workflow.js";

export async function runComposite(
  run: StepRun,
  _plan: StepPlan,
  action: Action,
  runs: CompositeRuns,
  inputs: Record<string, string>,
): Promise<JobStatus> {
  const steps: StepsContext = {};
  const posts: StepTask[] = [];
  const frame = frameOf(run, action, inputs, steps, (post) => {
    // The action itself has a post step as soon as one of its steps has one.
    if (posts.length === 0)
      run.frame.registerPost(
        postTask(run, "always()", (later) => runPosts(later, action, inputs, steps, posts)),
      );
    posts.push(post);
  });
  for (const step of runs.steps) await runStep(frame, taskOf(step, `${run.task.key}/${step.id}`));
  const scope = scopeOfStep({ ...run, frame });
  for (const { id, value } of action.manifest.outputs) run.result.outputs[id] = evaluateText(value, scope);
  return statusOf(frame);
}

async function runPosts(
  run: StepRun,
  action: Action,
  inputs: Record<string, string>,
  steps: StepsContext,
  posts: StepTask[],
): Promise<JobStatus> {
  run.log.print("Post job cleanup.");
  const frame = frameOf(run, action, inputs, steps, (post) => {
    throw new Error(`Post step ${post.key} registered a post step`);
  });
  for (const post of [...posts].reverse()) await runStep(frame, post);
  return statusOf(frame);
}

function frameOf(
  run: StepRun,
  action: Action,
  inputs: Record<string, string>,
  steps: StepsContext,
  registerPost: Frame["registerPost"],
): Frame {
  const composite = { inputs, folder: action.manifest.folder, status: "success" as const, parent: run };
  return { job: run.frame.job, steps, registerPost, composite };
}

function statusOf(frame: Frame): JobStatus {
  return frame.composite?.status ?? "success";
}
