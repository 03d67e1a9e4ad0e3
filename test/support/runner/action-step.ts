// Runs one stage of a `uses:` step: inputs, then JavaScript, a composite action or a stand-in (ActionRunner.cs).
import { join } from "node:path";
import type { Action } from "./action-source.js";
import { runComposite } from "./composite.js";
import { evaluateText, evaluateTexts, scopeOf } from "./expression.js";
import type { JobStatus } from "./job-state.js";
import type { NodeRuns } from "./manifest.js";
import type { Stage } from "./result.js";
import { runStandIn } from "./stand-in-step.js";
import type { StepRun } from "./step.js";
import { runInStep, stateOf } from "./step-process.js";
import type { StepPlan } from "./workflow.js";

export async function runAction(
  run: StepRun,
  plan: StepPlan,
  action: Action,
  stage: Stage,
): Promise<JobStatus> {
  registerPost(run, plan, action, stage);
  const inputs = inputsOf(run, plan, action);
  announce(run, action, inputs, stage);
  const { runs } = action.manifest;
  if (runs.using === "composite") return runComposite(run, plan, action, runs, inputs);
  return action.standIn
    ? runStandIn(run, action.standIn, inputs, stage)
    : runNode(run, action, runs, inputs, stage);
}

/** Before the process starts, so that post also runs when main fails or is cancelled. */
function registerPost(run: StepRun, plan: StepPlan, action: Action, stage: Stage): void {
  const { runs } = action.manifest;
  if (stage === "post" || runs.using !== "node" || runs.post === undefined) return;
  run.frame.registerPost(postTask(run, runs.postIf, (post) => runAction(post, plan, action, "post")));
}

export function postTask(run: StepRun, condition: string, act: (post: StepRun) => Promise<JobStatus>) {
  const name = `Post ${run.result.name.replace(/^Pre /, "")}`;
  return { ...run.task, name, stage: "post" as const, condition, act };
}

/** Evaluated anew at each stage: `default: ${{ job.status }}` is the final status when post asks. */
function inputsOf(run: StepRun, plan: StepPlan, { manifest }: Action): Record<string, string> {
  const inputs = evaluateTexts(plan.with, run.scope());
  const given = new Map(Object.keys(inputs).map((name) => [name.toLowerCase(), name]));
  for (const { id, deprecation } of manifest.inputs)
    if (deprecation !== undefined && given.has(id.toLowerCase()))
      run.log.issue({
        level: "warning",
        message: `Input '${id}' has been deprecated with message: ${deprecation}`,
      });
  const { contexts, functions } = run.scope();
  const { github = {}, strategy = {}, matrix = {}, job = {}, runner = {} } = contexts;
  const scope = scopeOf({ github, strategy, matrix, job, runner }, [...functions.values()]);
  for (const input of manifest.inputs)
    if (!given.has(input.id.toLowerCase())) inputs[input.id] = evaluateText(input.default, scope);
  warnOfUnexpected(
    run,
    [...given.values()],
    manifest.inputs.map((input) => input.id),
  );
  return inputs;
}

function warnOfUnexpected(run: StepRun, given: string[], valid: string[]): void {
  const known = new Set(valid.map((id) => id.toLowerCase()));
  const unexpected = given.filter((name) => !known.has(name.toLowerCase()));
  if (unexpected.length === 0) return;
  const message = `Unexpected input(s) '${unexpected.join("', '")}', valid inputs are ['${valid.join("', '")}']`;
  run.log.issue({ level: "warning", message });
}

function announce(run: StepRun, action: Action, inputs: Record<string, string>, stage: Stage): void {
  if (stage === "post") {
    run.log.print("Post job cleanup.");
    return;
  }
  run.log.print(`##[group]Run ${action.label}`);
  run.log.print("with:");
  for (const [name, value] of Object.entries(inputs)) if (value !== "") run.log.print(`  ${name}: ${value}`);
  run.log.print("##[endgroup]");
}

async function runNode(
  run: StepRun,
  action: Action,
  runs: NodeRuns,
  inputs: Record<string, string>,
  stage: Stage,
): Promise<JobStatus> {
  const { machine } = run.frame.job;
  const script = join(action.manifest.folder, runs[stage] ?? "");
  const entries = Object.entries(inputs).map(([name, value]) => [inputVariable(name), value]);
  const states = Object.entries(stateOf(run)).map(([name, value]) => [`STATE_${name}`, value]);
  return runInStep(run, {
    file: machine.node,
    args: [script],
    cwd: machine.workspace,
    env: {
      ...Object.fromEntries([...states, ...entries]),
      ...(!action.local && { GITHUB_ACTION_REPOSITORY: action.repository, GITHUB_ACTION_REF: action.ref }),
    },
  });
}

function inputVariable(name: string): string {
  return `INPUT_${name.replaceAll(" ", "_").toUpperCase()}`;
}
