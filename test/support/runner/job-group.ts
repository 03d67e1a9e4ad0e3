// Runs all legs of one job: its condition, its matrix, `fail-fast`, `max-parallel`.
import {
  evaluate,
  evaluateText,
  holds,
  type Scope,
  scopeOf,
  statusFunctions,
  type Value,
} from "./expression.js";
import { type JobRun, startJob } from "./job.js";
import { type Leg, legName, legsOf } from "./matrix.js";
import type { RunOptions, TokenRequest } from "./options.js";
import type { Conclusion, JobResult } from "./result.js";
import type { JobPlan, WorkflowPlan } from "./workflow.js";

export interface JobGroup {
  done: Promise<JobResult[]>;
  /** What `needs.<id>` shows. Final once `done` is. */
  result: Conclusion;
  outputs: Record<string, string>;
  cancel(): void;
  kill(): Promise<void>;
}

export interface GroupRequest {
  plan: JobPlan;
  workflow: WorkflowPlan;
  options: RunOptions;
  /** github, inputs, vars. */
  contexts: Record<string, Value>;
  /** The jobs that this one needs, directly or not. */
  ancestors: Map<string, JobGroup>;
  mintToken: (request: TokenRequest) => Promise<string>;
  /** Of the whole run. */
  control: { cancelled: boolean; killed: boolean };
}

export function startGroup(request: GroupRequest): JobGroup {
  const running = new Set<JobRun>();
  const group: JobGroup = {
    done: Promise.resolve([]),
    result: "success",
    outputs: {},
    cancel() {
      // Jobs whose own condition still holds, such as `always()`, are left alone.
      if (!holds(request.plan.condition, scopeOfGroup(request))) for (const job of running) job.cancel();
    },
    async kill() {
      await Promise.all([...running].map((job) => job.kill()));
    },
  };
  group.done = runLegs(request, group, running);
  return group;
}

async function runLegs(request: GroupRequest, group: JobGroup, running: Set<JobRun>): Promise<JobResult[]> {
  const { plan, control } = request;
  const scope = scopeOfGroup(request);
  if (control.killed || !holds(plan.condition, scope)) {
    // What a cancel kept from starting was cancelled; what a condition kept from starting was skipped.
    group.result = control.killed || (control.cancelled && wouldHold(request)) ? "cancelled" : "skipped";
    return [notRun(request, group.result)];
  }
  const strategy = strategyOf(plan, scope);
  const results: JobResult[] = [];
  const conclusions: Conclusion[] = [];
  const queue = strategy.legs.map((leg, index) => ({ leg, index }));
  let stopped = false;
  const worker = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { leg, index } = next;
      const contexts = legContexts(request, strategy, leg, index);
      const legScope = { ...scope, contexts: { ...scope.contexts, ...contexts } };
      if (stopped || control.killed || (control.cancelled && !holds(plan.condition, scopeOfGroup(request)))) {
        results[index] = notRun(request, "cancelled", leg);
        conclusions[index] = "cancelled";
        continue;
      }
      const name = plan.name ? evaluateText(plan.name, legScope) : legName(plan.id, leg);
      const job = startJob({ ...request, name, leg, contexts });
      running.add(job);
      const result = await job.done;
      running.delete(job);
      result.concurrency = evaluate(plan.concurrency, legScope);
      results[index] = result;
      const forgiven = result.conclusion === "failure" && evaluate(plan.continueOnError, legScope) === true;
      conclusions[index] = forgiven ? "success" : result.conclusion;
      if (result.conclusion === "failure" && !forgiven && strategy.failFast) {
        stopped = true;
        for (const other of running) other.cancel();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(strategy.maxParallel, queue.length) }, worker));
  group.result = conclusionOf(conclusions);
  // Of several legs, the last one that gives an output a value decides.
  for (const { outputs } of results)
    for (const [name, value] of Object.entries(outputs))
      if (value !== "" || !(name in group.outputs)) group.outputs[name] = value;
  return results;
}

interface Strategy {
  legs: (Leg | null)[];
  failFast: boolean;
  maxParallel: number;
}

function strategyOf(plan: JobPlan, scope: Scope): Strategy {
  const value = (evaluate(plan.strategy, scope) ?? {}) as Record<string, Value>;
  const legs = legsOf(value.matrix ?? null);
  return {
    legs,
    failFast: value["fail-fast"] !== false,
    maxParallel: Number(value["max-parallel"] ?? legs.length),
  };
}

function legContexts(
  request: GroupRequest,
  strategy: Strategy,
  leg: Leg | null,
  index: number,
): Record<string, Value> {
  return {
    ...request.contexts,
    needs: needsOf(request),
    matrix: leg ?? {},
    strategy: {
      "fail-fast": strategy.failFast,
      "job-index": index,
      "job-total": strategy.legs.length,
      "max-parallel": strategy.maxParallel,
    },
  };
}

function needsOf({ plan, ancestors }: GroupRequest): Record<string, Value> {
  return Object.fromEntries(
    plan.needs.map((id) => [
      id,
      { result: ancestors.get(id)?.result ?? "skipped", outputs: ancestors.get(id)?.outputs ?? {} },
    ]),
  );
}

/** `success()` and `failure()` of a job look at all the jobs before it, not only at those in its own `needs`. */
function scopeOfGroup(request: GroupRequest, cancelled = request.control.cancelled): Scope {
  const results = (ids: string[]) =>
    [...request.ancestors]
      .filter(([id]) => ids.length === 0 || ids.includes(id))
      .map(([, group]) => group.result);
  const functions = statusFunctions({
    success: (ids) => !cancelled && results(ids).every((result) => result === "success"),
    failure: (ids) => !cancelled && results(ids).includes("failure"),
    cancelled: () => cancelled,
  });
  return scopeOf({ ...request.contexts, needs: needsOf(request) }, functions);
}

function wouldHold(request: GroupRequest): boolean {
  return holds(request.plan.condition, scopeOfGroup(request, false));
}

function conclusionOf(legs: Conclusion[]): Conclusion {
  if (legs.includes("failure")) return "failure";
  return legs.includes("cancelled") ? "cancelled" : "success";
}

function notRun({ plan, options }: GroupRequest, conclusion: Conclusion, leg: Leg | null = null): JobResult {
  const now = (options.clock ?? Date.now)();
  return {
    id: plan.id,
    name: legName(plan.id, leg),
    conclusion,
    matrix: leg,
    outputs: {},
    steps: [],
    log: [],
    annotations: [],
    summary: "",
    permissions: plan.permissions,
    concurrency: null,
    abandoned: false,
    startedAt: now,
    completedAt: now,
  };
}
