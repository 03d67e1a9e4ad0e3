// Runs the jobs of a workflow: needs, conditions, matrices, and the cancelling of all of them.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { evaluate, scopeOf, type Value } from "./expression.js";
import { githubOfRun } from "./github-context.js";
import { inputsOfEvent } from "./inputs.js";
import { type JobGroup, startGroup } from "./job-group.js";
import { watchLines } from "./line-watch.js";
import type { RunEvent, RunOptions, TokenRequest } from "./options.js";
import { type Conclusion, type JobResult, type RunResult, runResult } from "./result.js";
import { type JobPlan, readWorkflow, type WorkflowPlan } from "./workflow.js";

export interface RunHandle {
  done: Promise<RunResult>;
  /** As by the button of the run: jobs whose `if` still holds go on. */
  cancel(): void;
  /** The loss of the machines: every process gets SIGKILL, no post step runs. */
  kill(): Promise<void>;
  /** Waits for a line of any log; rejects when the run ends without it. */
  seen(pattern: string | RegExp): Promise<string>;
}

export function runWorkflow(options: RunOptions): RunHandle {
  const groups = new Map<string, JobGroup>();
  const control = { cancelled: false, killed: false };
  const lines = watchLines(options);
  const done = run({ ...options, onLine: lines.onLine }, groups, control).finally(lines.end);
  // Whoever waits for `done` sees the error; a caller that first waits for a line must not crash the process.
  done.catch(() => undefined);
  return {
    done,
    seen: lines.seen,
    cancel() {
      control.cancelled = true;
      for (const group of groups.values()) group.cancel();
    },
    async kill() {
      control.killed = true;
      await Promise.all([...groups.values()].map((group) => group.kill()));
    },
  };
}

async function run(
  options: RunOptions,
  groups: Map<string, JobGroup>,
  control: { cancelled: boolean; killed: boolean },
): Promise<RunResult> {
  const plan = await planOf(options);
  const event: RunEvent = options.event ?? { name: "workflow_dispatch" };
  const inputs = inputsOfEvent(plan, event);
  const github = githubOfRun(options, plan, event, inputs.texts);
  const mintToken = async (request: TokenRequest) =>
    (await options.mintToken?.(request)) ?? `ghs_${randomUUID().replaceAll("-", "")}`;
  github.sha ||= await shaOf(options, github, mintToken);
  github.workflow_sha ||= github.sha;
  const contexts = { github, inputs: inputs.values, vars: options.vars ?? {} };
  const concurrency = evaluate(plan.concurrency, scopeOf(contexts));
  const finished = new Map<string, Promise<JobResult[]>>();
  // A job waits for those it needs, wherever in the file they stand; GitHub's parser has ruled out circles.
  const finish = async (job: JobPlan): Promise<JobResult[]> => {
    await Promise.all(plan.jobs.filter((other) => job.needs.includes(other.id)).map(finishOnce));
    const ancestors = ancestorsOf(plan, job.id, groups);
    const group = startGroup({ plan: job, workflow: plan, options, contexts, ancestors, mintToken, control });
    groups.set(job.id, group);
    return group.done;
  };
  const finishOnce = (job: JobPlan): Promise<JobResult[]> => {
    const running = finished.get(job.id) ?? finish(job);
    finished.set(job.id, running);
    return running;
  };
  const ends = plan.jobs.map(finishOnce);
  const jobs = await Promise.all(ends).catch(async (error) => {
    // One job that cannot be carried out ends the others too, so that nothing is left running.
    control.killed = true;
    await Promise.all([...groups.values()].map((group) => group.kill()));
    await Promise.allSettled(ends);
    throw error;
  });
  return runResult(jobs.flat(), conclusionOf([...groups.values()]), concurrency);
}

async function planOf(options: RunOptions): Promise<WorkflowPlan> {
  if (options.file === undefined) return readWorkflow("workflow.yml", options.yaml ?? "");
  return readWorkflow(options.file, await readFile(options.file, "utf8"));
}

/** The groups that a job needs, directly or not, by id. All of them have ended. */
function ancestorsOf(plan: WorkflowPlan, id: string, groups: Map<string, JobGroup>): Map<string, JobGroup> {
  const found = new Map<string, JobGroup>();
  const visit = (of: string) => {
    for (const need of plan.jobs.find((job) => job.id === of)?.needs ?? []) {
      const group = groups.get(need);
      if (group) found.set(need, group);
      visit(need);
    }
  };
  visit(id);
  return found;
}

function conclusionOf(groups: JobGroup[]): Conclusion {
  const all = groups.map((group) => group.result);
  if (all.includes("failure")) return "failure";
  if (all.includes("cancelled")) return "cancelled";
  return all.every((result) => result === "skipped") ? "skipped" : "success";
}

/** The tip of the ref that the event is for; empty where nothing is cloned or the ref does not exist yet. */
async function shaOf(
  options: RunOptions,
  github: Record<string, Value>,
  mintToken: (request: TokenRequest) => Promise<string>,
): Promise<string> {
  if (options.repository === undefined) return "";
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? "",
    GIT_TERMINAL_PROMPT: "0",
    LC_ALL: "C",
  };
  if (/^https?:/.test(options.repository)) {
    const token = await mintToken({ for: "event", job: "", permissions: { contents: "read" } });
    const basic = Buffer.from(`x-access-token:${token}`).toString("base64");
    const header = { KEY_0: `http.extraheader`, VALUE_0: `AUTHORIZATION: basic ${basic}`, COUNT: "1" };
    for (const [name, value] of Object.entries(header)) env[`GIT_CONFIG_${name}`] = value;
  }
  const { stdout } = await promisify(execFile)("git", ["ls-remote", options.repository, String(github.ref)], {
    env,
  });
  return stdout.split("\t")[0] ?? "";
}
