// Runs one job, or one leg of its matrix: set-up, steps, posts, outputs, and the end of all its processes.
import { findAction, isLocal } from "./action-source.js";
import { runAction } from "./action-step.js";
import { evaluateText, evaluateTexts, type Scope, scopeOf, type Value } from "./expression.js";
import type { Frame } from "./frame.js";
import { githubOfJob, runnerContext } from "./github-context.js";
import { Cancellation, type JobState, worse } from "./job-state.js";
import { type Machine, startMachine } from "./machine.js";
import { Masks } from "./masks.js";
import type { Leg } from "./matrix.js";
import { type RunOptions, type TokenRequest, timesOf } from "./options.js";
import { type JobResult, shownSummary } from "./result.js";
import { runStep, type StepTask } from "./step.js";
import { createLog } from "./step-log.js";
import { scopeOfStep } from "./step-scope.js";
import { taskOf } from "./tasks.js";
import type { JobPlan, StepPlan, WorkflowPlan } from "./workflow.js";

export interface JobRun {
  done: Promise<JobResult>;
  cancel(): void;
  kill(): Promise<void>;
}

export interface JobRequest {
  plan: JobPlan;
  workflow: WorkflowPlan;
  options: RunOptions;
  name: string;
  leg: Leg | null;
  /** github, inputs, needs, matrix, strategy, secrets, vars. */
  contexts: Record<string, Value>;
  mintToken: (request: TokenRequest) => Promise<string>;
}

export function startJob(request: JobRequest): JobRun {
  const cancellation = new Cancellation();
  const life: { state?: JobState; abandon: () => Promise<void>; killed: boolean } = {
    killed: false,
    async abandon() {
      life.killed = true;
      if (!life.state) return;
      life.state.abandoned = true;
      await life.state.machine.killProcesses();
    },
  };
  const { cancel: limit } = timesOf(request.options);
  let timer: NodeJS.Timeout | undefined;
  cancellation.listen(() => {
    // actions/runner ends its worker then, whatever runs (JobDispatcher.cs).
    timer = setTimeout(() => life.abandon().catch((error) => life.state?.log.print(String(error))), limit);
  });
  const done = (async () => {
    const machine = await startMachine(String(githubOf(request).repository), request.options);
    try {
      life.state = await prepare(request, machine, cancellation);
      life.state.abandoned = life.killed;
      return await carryOut(life.state, request);
    } finally {
      clearTimeout(timer);
      await machine.dispose();
    }
  })();
  return { done, cancel: () => cancellation.ask(), kill: () => life.abandon() };
}

function githubOf(request: JobRequest): Record<string, Value> {
  return request.contexts.github as Record<string, Value>;
}

async function prepare(request: JobRequest, machine: Machine, cancellation: Cancellation): Promise<JobState> {
  const { plan, options, name } = request;
  const masks = new Masks();
  const token = await request.mintToken({ for: "job", job: plan.id, permissions: plan.permissions });
  for (const secret of [token, ...Object.values(options.secrets ?? {})]) masks.add(secret);
  return {
    id: plan.id,
    name,
    options,
    times: timesOf(options),
    machine,
    masks,
    log: createLog(masks, (line) => options.onLine?.(line, { job: name })),
    now: options.clock ?? Date.now,
    github: await githubOfJob(githubOf(request), plan.id, machine),
    contexts: {
      ...request.contexts,
      secrets: { ...options.secrets, GITHUB_TOKEN: token },
      runner: runnerContext(machine),
    },
    token,
    mintToken: request.mintToken,
    env: {},
    path: [],
    defaults: { shell: undefined, workingDirectory: undefined },
    status: "success",
    posts: [],
    states: new Map(),
    steps: [],
    cancellation,
    abandoned: false,
  };
}

async function carryOut(state: JobState, request: JobRequest): Promise<JobResult> {
  const startedAt = state.now();
  const frame = jobFrame(state);
  const setUp = await setUpJob(state, request);
  const timer = setUp ? startTimer(state, setUp.minutes) : undefined;
  try {
    for (const task of setUp?.tasks ?? []) await runStep(frame, task);
    while (state.posts.length > 0) await runStep(frame, state.posts.pop() as StepTask);
  } finally {
    clearTimeout(timer);
  }
  const outputs = state.abandoned ? {} : outputsOf(state, request.plan, frame);
  if (!state.abandoned) await cleanUp(state);
  return {
    id: state.id,
    name: state.name,
    conclusion: conclusionOf(state),
    matrix: request.leg,
    outputs,
    steps: state.steps,
    log: state.log.lines,
    annotations: state.log.annotations,
    summary: shownSummary(state.steps),
    permissions: request.plan.permissions,
    concurrency: null,
    abandoned: state.abandoned,
    startedAt,
    completedAt: state.now(),
  };
}

async function cleanUp(state: JobState): Promise<void> {
  state.log.print("Cleaning up orphan processes");
  for (const { pid, name } of await state.machine.killProcesses())
    state.log.print(`Terminate orphan process: pid (${pid}) (${name})`);
}

function jobFrame(job: JobState): Frame {
  const registered = new Set<string>();
  return {
    job,
    steps: {},
    registerPost(task) {
      // A step whose pre has registered its post does not do so again in main.
      if (registered.has(task.key)) return;
      registered.add(task.key);
      job.posts.push(task);
    },
  };
}

/** The step "Set up job". Null where it fails: then no step runs at all. */
async function setUpJob(
  state: JobState,
  { plan, workflow }: JobRequest,
): Promise<{ tasks: StepTask[]; minutes: number } | null> {
  try {
    const scope = scopeOf({ ...state.contexts, github: { ...state.github, token: state.token } });
    Object.assign(state.env, evaluateTexts(workflow.env, scope));
    Object.assign(state.env, evaluateTexts(plan.env, scope));
    state.defaults = defaultsOf(plan, scope);
    const pres = await Promise.all(plan.steps.map((step) => preTask(state, step)));
    const mains = plan.steps.map((step) => taskOf(step, step.id));
    const minutes = Number(evaluateText(plan.timeout, scope) || 360);
    return { tasks: [...pres.filter((task) => task !== null), ...mains], minutes };
  } catch (error) {
    state.log.issue({ level: "error", message: (error as Error).message });
    state.status = "failure";
    return null;
  }
}

/** Also finds each remote action, for a missing one fails the job before any step. Local ones have no pre. */
async function preTask(state: JobState, plan: StepPlan): Promise<StepTask | null> {
  if (plan.uses === undefined || isLocal(plan.uses)) return null;
  const action = await findAction(state, plan.uses);
  const { runs } = action.manifest;
  if (runs.using !== "node" || runs.pre === undefined) return null;
  const main = taskOf(plan, plan.id);
  const name = `Pre ${typeof main.name === "string" ? main.name : plan.uses}`;
  return {
    ...main,
    name,
    stage: "pre",
    condition: runs.preIf,
    act: (run) => runAction(run, plan, action, "pre"),
  };
}

function startTimer(state: JobState, minutes: number): NodeJS.Timeout {
  return setTimeout(() => {
    const message = `The job has exceeded the maximum execution time of ${minutes} minutes.`;
    state.log.issue({ level: "error", message });
    state.cancellation.ask();
  }, minutes * state.times.minute);
}

function defaultsOf(plan: JobPlan, scope: Scope): JobState["defaults"] {
  const [own = {}, ofWorkflow = {}] = plan.defaults.map((token) => evaluateTexts(token, scope));
  const all = { ...ofWorkflow, ...own };
  return { shell: all.shell, workingDirectory: all["working-directory"] };
}

function outputsOf(state: JobState, plan: JobPlan, frame: Frame): Record<string, string> {
  try {
    const scope = scopeOfStep({ frame, task: { id: "" }, env: state.env });
    const outputs = Object.entries(evaluateTexts(plan.outputs, scope));
    const safe = outputs.filter(([name, value]) => {
      const secret = state.masks.has(value);
      if (secret)
        state.log.issue({ level: "warning", message: `Skip output '${name}' since it may contain secret.` });
      return !secret;
    });
    return Object.fromEntries(safe);
  } catch (error) {
    state.log.issue({ level: "error", message: (error as Error).message });
    state.status = worse(state.status, "failure");
    return {};
  }
}

function conclusionOf(state: JobState): JobResult["conclusion"] {
  if (state.cancellation.asked) return "cancelled";
  return state.abandoned ? "failure" : state.status;
}
