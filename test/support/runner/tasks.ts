// Turns a step as planned into a step to run.
import { isBasicExpression, isString } from "@actions/workflow-parser";
import { findAction, isLocal } from "./action-source.js";
import { runAction } from "./action-step.js";
import type { JobStatus } from "./job-state.js";
import { runScript } from "./script-step.js";
import type { StepRun, StepTask } from "./step.js";
import type { StepPlan } from "./workflow.js";

export function taskOf(plan: StepPlan, key: string): StepTask {
  return {
    id: plan.id,
    key,
    name: plan.name ?? defaultName(plan),
    stage: "main",
    condition: plan.condition,
    env: plan.env,
    continueOnError: plan.continueOnError,
    timeout: plan.timeout,
    act: (run) => (plan.uses === undefined ? runScript(run, plan) : runMain(run, plan, plan.uses)),
  };
}

async function runMain(run: StepRun, plan: StepPlan, uses: string): Promise<JobStatus> {
  const action = await findAction(run.frame.job, uses);
  const { runs } = action.manifest;
  if (runs.using === "node" && runs.pre !== undefined) {
    const message = `\`pre\` execution is not supported for local action from '${uses}'`;
    if (isLocal(uses)) run.log.issue({ level: "warning", message });
    else if (run.frame.composite)
      throw new Error(
        `${uses} has a pre step inside a composite action, which this runner does not reproduce`,
      );
  }
  return runAction(run, plan, action, "main");
}

/** As on GitHub: the action, or the first line of the script. */
function defaultName({ uses, run }: StepPlan): string {
  if (uses !== undefined) return `Run ${uses}`;
  const script =
    run && isString(run) ? run.value : run && isBasicExpression(run) ? (run.source ?? run.toString()) : "";
  return `Run ${(script ?? "").trim().split("\n")[0]}`;
}
