// Reads a workflow file, by GitHub's own parser and schema, into the plan that the runner carries out.
import { convertWorkflowTemplate, isMapping, isSequence, isString } from "@actions/workflow-parser";
import { isJob } from "@actions/workflow-parser/model/type-guards";
import type { EventsConfig, Job, Step, WorkflowJob } from "@actions/workflow-parser/model/workflow-template";
import { evaluate, scopeOf, type Token } from "./expression.js";
import type { Permissions } from "./options.js";
import { parseTemplate, throwErrors } from "./template.js";

export interface StepPlan {
  /** The given id, or a made one that starts with `__`. */
  id: string;
  name: Token | undefined;
  condition: string;
  env: Token | undefined;
  continueOnError: Token | undefined;
  timeout: Token | undefined;
  run: Token | undefined;
  shell: Token | undefined;
  workingDirectory: Token | undefined;
  uses: string | undefined;
  with: Token | undefined;
}

export interface JobPlan {
  id: string;
  name: Token | undefined;
  needs: string[];
  condition: string;
  strategy: Token | undefined;
  env: Token | undefined;
  outputs: Token | undefined;
  permissions: Permissions;
  concurrency: Token | undefined;
  /** `defaults.run` of the job, then of the workflow. */
  defaults: Token[];
  timeout: Token | undefined;
  continueOnError: Token | undefined;
  steps: StepPlan[];
}

export interface WorkflowPlan {
  name: string | undefined;
  path: string;
  events: EventsConfig;
  env: Token | undefined;
  concurrency: Token | undefined;
  jobs: JobPlan[];
}

/** @throws when GitHub's parser finds an error, or the workflow uses what this runner does not reproduce. */
export async function readWorkflow(path: string, content: string): Promise<WorkflowPlan> {
  const { context, root } = parseTemplate("workflow", path, content);
  const template = await convertWorkflowTemplate(context, root);
  throwErrors(context, path);
  const name = child(root, "name");
  return {
    name: name && isString(name) ? name.value : undefined,
    path,
    events: template.events,
    env: child(root, "env"),
    concurrency: child(root, "concurrency"),
    jobs: template.jobs.map((job) => jobPlan(job, root)),
  };
}

/** Adds to each step of GitHub's model what the model leaves out but the runner needs. */
export function stepPlans(steps: Step[], tokens: Token | undefined): StepPlan[] {
  if (!tokens || !isSequence(tokens)) throw new Error("steps must be a sequence");
  return steps.map((step, index) => stepPlan(step, tokens.get(index)));
}

/** The value at a path of keys, where every step of it is a mapping. */
export function child(token: Token | undefined, ...keys: string[]): Token | undefined {
  return keys.reduce<Token | undefined>((at, key) => (at && isMapping(at) ? at.find(key) : undefined), token);
}

function jobPlan(job: WorkflowJob, root: Token): JobPlan {
  const id = job.id.value;
  const token = child(root, "jobs", id);
  if (!isJob(job)) throw new Error(`Job ${id} calls another workflow, which this runner does not reproduce`);
  for (const key of ["container", "services"])
    if (child(token, key)) throw new Error(`Job ${id} has ${key}, which this runner does not reproduce`);
  return {
    id,
    name: child(token, "name"),
    needs: (job.needs ?? []).map((need) => need.value),
    condition: job.if.expression,
    strategy: job.strategy,
    env: job.env,
    outputs: job.outputs,
    permissions: permissionsOf(child(token, "permissions") ?? child(root, "permissions")),
    concurrency: job.concurrency,
    defaults: [child(token, "defaults", "run"), child(root, "defaults", "run")].filter(
      (each) => each !== undefined,
    ),
    timeout: child(token, "timeout-minutes"),
    continueOnError: child(token, "continue-on-error"),
    steps: stepPlans(stepsOf(job), child(token, "steps")),
  };
}

function stepsOf(job: Job): Step[] {
  if (job.steps.length === 0) throw new Error(`Job ${job.id.value} has no steps`);
  return job.steps;
}

function stepPlan(step: Step, token: Token): StepPlan {
  const uses = child(token, "uses");
  const run = child(token, "run");
  if ((!uses && !run) || child(token, "background"))
    throw new Error(`Step ${step.id} runs in the background or waits, which this runner does not reproduce`);
  return {
    id: step.id,
    name: child(token, "name"),
    condition: step.if?.expression ?? "success()",
    env: child(token, "env"),
    continueOnError: child(token, "continue-on-error"),
    timeout: child(token, "timeout-minutes"),
    run,
    shell: child(token, "shell"),
    workingDirectory: child(token, "working-directory"),
    uses: uses && isString(uses) ? uses.value : undefined,
    with: child(token, "with"),
  };
}

function permissionsOf(token: Token | undefined): Permissions {
  const value = evaluate(token, scopeOf({}));
  if (token === undefined) return undefined;
  if (value === "read-all" || value === "write-all") return value;
  return value as Record<string, string>;
}
