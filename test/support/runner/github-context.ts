// The `github` and `runner` contexts of a job, and the variables that the runner makes of them.
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { textOf, type Value } from "./expression.js";
import type { Machine } from "./machine.js";
import type { RunEvent, RunOptions } from "./options.js";
import type { WorkflowPlan } from "./workflow.js";

/** The entries that become `GITHUB_…` variables (GitHubContext.cs). */
const exported = new Set(
  "action_path action_ref action_repository action actor actor_id api_url base_ref env event_name event_path graphql_url head_ref job output path ref_name ref_protected ref_type ref repository repository_id repository_owner repository_owner_id retention_days run_attempt run_id run_number server_url sha state step_summary triggering_actor workflow workflow_ref workflow_sha workspace".split(
    " ",
  ),
);

/** What all jobs of a run share. The caller's overrides win, and what follows from them is derived from them. */
export function githubOfRun(
  options: RunOptions,
  plan: WorkflowPlan,
  event: RunEvent,
  inputs: Record<string, Value>,
): Record<string, Value> {
  const given = { ...options.github };
  const from = (name: string, fallback: Value) =>
    given[name] ?? options.env?.[`GITHUB_${name.toUpperCase()}`] ?? fallback;
  const repository = String(from("repository", "octo/blog"));
  const ref = String(from("ref", "refs/heads/main"));
  // A reserved domain, so that a forgotten address never reaches the real GitHub.
  const server = from("server_url", "https://github.invalid");
  const file = `.github/workflows/${basename(plan.path)}`;
  const payload = { ...event.payload, ...(event.name === "workflow_dispatch" && { inputs, ref }) };
  return {
    actor: "octocat",
    actor_id: "583231",
    triggering_actor: from("actor", "octocat"),
    repository,
    repository_id: "1296269",
    repository_owner: repository.split("/")[0] ?? "",
    repository_owner_id: "583231",
    run_id: "1000000001",
    run_number: "1",
    run_attempt: "1",
    retention_days: "90",
    ref,
    ref_name: ref.replace(/^refs\/(heads|tags)\//, ""),
    ref_type: ref.startsWith("refs/tags/") ? "tag" : "branch",
    ref_protected: "false",
    head_ref: "",
    base_ref: "",
    server_url: server,
    api_url: from("api_url", "https://api.github.invalid"),
    graphql_url: from("graphql_url", `${from("api_url", "https://api.github.invalid")}/graphql`),
    workflow: plan.name ?? file,
    workflow_ref: `${repository}/${file}@${ref}`,
    workflow_sha: from("sha", ""),
    event_name: event.name,
    event: { repository: { full_name: repository }, ...payload },
    ...given,
  };
}

/** Writes the event's file and adds what belongs to the job. */
export async function githubOfJob(
  ofRun: Record<string, Value>,
  jobId: string,
  machine: Machine,
): Promise<Record<string, Value>> {
  const folder = join(machine.temp, "_github_workflow");
  const path = join(folder, "event.json");
  await mkdir(folder, { recursive: true });
  await writeFile(path, JSON.stringify(ofRun.event, null, 2));
  return { ...ofRun, job: jobId, workspace: machine.workspace, event_path: path };
}

export function runnerContext(machine: Machine): Record<string, Value> {
  return {
    name: "GitHub Actions 1",
    os: { darwin: "macOS", win32: "Windows" }[process.platform as string] ?? "Linux",
    arch: process.arch.toUpperCase(),
    temp: machine.temp,
    tool_cache: machine.toolCache,
    environment: "github-hosted",
    debug: "",
  };
}

export function environmentOfGithub(github: Record<string, Value>): Record<string, string> {
  const entries = Object.entries(github).filter(
    ([name, value]) => exported.has(name) && typeof value !== "object",
  );
  return Object.fromEntries(entries.map(([name, value]) => [`GITHUB_${name.toUpperCase()}`, textOf(value)]));
}

export function environmentOfRunner(machine: Machine): Record<string, string> {
  const { debug: _, ...shown } = runnerContext(machine);
  return Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [`RUNNER_${name.toUpperCase()}`, textOf(value)]),
  );
}
