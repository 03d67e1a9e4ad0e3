/** REST: workflow runs, their cancellation, workflows and their dispatch. */
import { nodeId } from "../node-ids.js";
import type { Run, Workflow } from "../runs.js";
import { type Answer, type Context, page, Refused, type Route, route } from "./router.js";
import { minimalRepository, person, user } from "./shapes.js";

const BASE = "/repos/{owner}/{repo}/actions";

export function actionRoutes(): Route[] {
  return [
    route("GET", `${BASE}/runs/{run_id}`, ["actions", "read"], getRun),
    route("GET", `${BASE}/runs/{run_id}/attempts/{attempt_number}`, ["actions", "read"], getRun),
    route("POST", `${BASE}/runs/{run_id}/cancel`, ["actions", "write"], (context) => cancel(context, false)),
    route("POST", `${BASE}/runs/{run_id}/force-cancel`, ["actions", "write"], (context) =>
      cancel(context, true),
    ),
    route("GET", `${BASE}/workflows`, ["actions", "read"], listWorkflows),
    route("GET", `${BASE}/workflows/{workflow_id}`, ["actions", "read"], getWorkflow),
    route("POST", `${BASE}/workflows/{workflow_id}/dispatches`, ["actions", "write"], dispatch),
  ];
}

function runOf(context: Context): Run {
  const { run_id: id, attempt_number: attempt } = context.parameters;
  const run = context.repository.runs.find(Number(id), attempt === undefined ? undefined : Number(attempt));
  if (run === null) throw new Refused(404, "Not Found");
  return run;
}

async function getRun(context: Context): Promise<Answer> {
  const run = runOf(context);
  const workflow = (await context.repository.runs.workflows()).find(({ path }) => path === run.workflow);
  return { status: 200, body: runShape(context, run, workflow) };
}

function runShape(context: Context, run: Run, workflow: Workflow | undefined): Record<string, unknown> {
  const { repository, api, site } = context;
  const repo = `${api}/repos/${repository.fullName}`;
  const url = `${repo}/actions/runs/${run.id}`;
  const here = minimalRepository(context, repository);
  const who = person(repository.identity("The Octocat", "octocat@users.noreply.github.com"));
  return {
    id: run.id,
    name: run.name,
    node_id: nodeId("R", "run", String(run.id)),
    head_branch: run.branch,
    head_sha: run.sha,
    path: run.workflow,
    display_title: run.name,
    run_number: run.id % 1_000_000,
    run_attempt: run.attempt,
    event: run.event,
    status: run.status,
    conclusion: run.conclusion,
    workflow_id: workflow?.id ?? 0,
    check_suite_id: run.id + 1,
    check_suite_node_id: nodeId("R", "suite", String(run.id)),
    url,
    html_url: `${site}/${repository.fullName}/actions/runs/${run.id}`,
    pull_requests: [],
    created_at: run.createdAt,
    updated_at: run.updatedAt,
    run_started_at: run.createdAt,
    actor: user(context, run.actor),
    triggering_actor: user(context, run.actor),
    jobs_url: `${url}/jobs`,
    logs_url: `${url}/logs`,
    check_suite_url: `${repo}/check-suites/${run.id + 1}`,
    artifacts_url: `${url}/artifacts`,
    cancel_url: `${url}/cancel`,
    rerun_url: `${url}/rerun`,
    previous_attempt_url: run.attempt > 1 ? `${url}/attempts/${run.attempt - 1}` : null,
    workflow_url: `${repo}/actions/workflows/${workflow?.id ?? 0}`,
    head_commit: {
      id: run.sha,
      tree_id: run.sha,
      message: run.name,
      timestamp: run.createdAt,
      author: { name: who.name, email: who.email },
      committer: { name: who.name, email: who.email },
    },
    repository: here,
    head_repository: here,
  };
}

/** Accepted and recorded; the run goes on until the test finishes it, as a real one takes its time. */
function cancel(context: Context, force: boolean): Answer {
  const run = runOf(context);
  if (run.status === "completed") throw new Refused(409, "Cannot cancel a workflow run that is completed.");
  const { repository, token, clock } = context;
  repository.runs.cancellations.push({
    repository: repository.fullName,
    run: run.id,
    force,
    token: token?.label ?? null,
    at: clock.now(),
  });
  return { status: 202, body: {} };
}

function workflowShape(context: Context, workflow: Workflow): Record<string, unknown> {
  const { api, site, repository, clock } = context;
  const html = `${site}/${repository.fullName}`;
  return {
    id: workflow.id,
    node_id: nodeId("R", "workflow", String(workflow.id)),
    name: workflow.name,
    path: workflow.path,
    state: workflow.state,
    created_at: clock.iso(),
    updated_at: clock.iso(),
    url: `${api}/repos/${repository.fullName}/actions/workflows/${workflow.id}`,
    html_url: `${html}/blob/${repository.defaultBranch}/${workflow.path}`,
    badge_url: `${html}/actions/workflows/${workflow.path.split("/").at(-1)}/badge.svg`,
  };
}

async function listWorkflows(context: Context): Promise<Answer> {
  const all = await context.repository.runs.workflows();
  const { items, headers } = page(context, all);
  const workflows = items.map((workflow) => workflowShape(context, workflow));
  return { status: 200, body: { total_count: all.length, workflows }, headers };
}

/** By number, or by the name of its file. */
async function workflowOf(context: Context): Promise<Workflow> {
  const asked = context.parameters.workflow_id ?? "";
  const all = await context.repository.runs.workflows();
  const found = all.find(({ id, path }) => String(id) === asked || path.split("/").at(-1) === asked);
  if (found === undefined) throw new Refused(404, "Not Found");
  return found;
}

async function getWorkflow(context: Context): Promise<Answer> {
  return { status: 200, body: workflowShape(context, await workflowOf(context)) };
}

async function dispatch(context: Context): Promise<Answer> {
  const { repository, behaviour, body, token, clock } = context;
  const workflow = await workflowOf(context);
  const { ref, inputs = {} } = body as { ref: string; inputs?: Record<string, unknown> };
  const name = ref.replace(/^refs\/(heads|tags)\//, "");
  const target =
    (await context.view.get(`refs/heads/${name}`)) ?? (await context.view.get(`refs/tags/${name}`));
  if (target === null) throw new Refused(422, `No ref found for: ${ref}`);
  if (!workflow.dispatchable) throw new Refused(422, "Workflow does not have 'workflow_dispatch' trigger");
  if (Object.keys(inputs).length > behaviour.dispatchInputs) {
    throw new Refused(
      422,
      `Invalid request.\n\nNo more than ${behaviour.dispatchInputs} properties are allowed; ${Object.keys(inputs).length} were supplied.`,
    );
  }
  const unexpected = Object.keys(inputs).filter(
    (key) => workflow.inputs !== null && !workflow.inputs.includes(key),
  );
  if (unexpected.length > 0)
    throw new Refused(422, `Unexpected inputs provided: ${JSON.stringify(unexpected)}`);
  const run = repository.runs.add({
    id: repository.runs.nextId(),
    status: "queued",
    workflow: workflow.path,
    name: workflow.name,
    branch: name,
    sha: target.oid,
    actor: token?.login ?? "octocat",
  });
  repository.runs.dispatches.push({
    repository: repository.fullName,
    workflow: workflow.path,
    ref,
    inputs,
    token: token?.label ?? null,
    runId: run.id,
    at: clock.now(),
  });
  const asked = body.return_run_details === true && behaviour.dispatchInputs > 10;
  const byVersion =
    behaviour.dispatchDetailsByVersion && context.headers["x-github-api-version"] === "2026-03-10";
  if (!asked && !byVersion) return { status: 204 };
  const path = `${repository.fullName}/actions/runs/${run.id}`;
  return {
    status: 200,
    body: {
      workflow_run_id: run.id,
      run_url: `${context.api}/repos/${path}`,
      html_url: `${context.site}/${path}`,
    },
  };
}
