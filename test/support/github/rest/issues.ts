/** REST: issues and their comments. */
import type { Comment, Issue, IssueChange } from "../issues.js";
import { nodeId } from "../node-ids.js";
import { type Answer, type Context, page, Refused, type Route, route } from "./router.js";
import { user, userId } from "./shapes.js";

const BASE = "/repos/{owner}/{repo}/issues";

export function issueRoutes(): Route[] {
  return [
    route("GET", BASE, ["issues", "read"], list),
    route("POST", BASE, ["issues", "write"], create),
    route("GET", `${BASE}/{issue_number}`, ["issues", "read"], (context) => ({
      status: 200,
      body: shape(context, issueOf(context)),
    })),
    route("PATCH", `${BASE}/{issue_number}`, ["issues", "write"], update),
    route("GET", `${BASE}/{issue_number}/comments`, ["issues", "read"], comments),
    route("POST", `${BASE}/{issue_number}/comments`, ["issues", "write"], comment),
  ];
}

function issueOf(context: Context): Issue {
  const issue = context.repository.issues.find(Number(context.parameters.issue_number));
  if (issue === undefined) throw new Refused(404, "Not Found");
  return issue;
}

/** Open ones by default, newest first; labels must all be there. */
function list(context: Context): Answer {
  const { query, repository } = context;
  const state = query.get("state") ?? "open";
  const labels = (query.get("labels") ?? "")
    .split(",")
    .filter(Boolean)
    .map((label) => label.toLowerCase());
  const creator = query.get("creator");
  const found = repository.issues.all.filter(
    (issue) =>
      (state === "all" || issue.state === state) &&
      labels.every((label) => issue.labels.some((own) => own.toLowerCase() === label)) &&
      (creator === null || issue.login === creator),
  );
  if (query.get("direction") !== "asc") found.reverse();
  const { items, headers } = page(context, found);
  return { status: 200, body: items.map((issue) => shape(context, issue)), headers };
}

/** Labels come as names or as objects with a name. */
function changeOf(body: Record<string, unknown>): IssueChange {
  const labels = body.labels as (string | { name?: string })[] | undefined;
  return {
    ...(body.title == null ? {} : { title: String(body.title) }),
    ...(body.body === undefined ? {} : { body: body.body as string | null }),
    ...(body.state === undefined ? {} : { state: body.state as "open" | "closed" }),
    ...(body.state_reason === undefined ? {} : { stateReason: body.state_reason as string | null }),
    ...(labels === undefined
      ? {}
      : { labels: labels.map((label) => (typeof label === "string" ? label : (label.name ?? ""))) }),
    ...(Array.isArray(body.assignees) ? { assignees: body.assignees.map(String) } : {}),
  };
}

function create(context: Context): Answer {
  const { repository, token, clock, body } = context;
  const login = token?.login ?? "octocat";
  const issue = repository.issues.open(String(body.title), login, clock.iso(), changeOf(body));
  return { status: 201, body: shape(context, issue) };
}

function update(context: Context): Answer {
  const issue = issueOf(context);
  context.repository.issues.change(issue, changeOf(context.body), context.clock.iso());
  return { status: 200, body: shape(context, issue) };
}

function comments(context: Context): Answer {
  const issue = issueOf(context);
  const { items, headers } = page(context, issue.comments);
  return { status: 200, body: items.map((one) => commentShape(context, issue, one)), headers };
}

function comment(context: Context): Answer {
  const issue = issueOf(context);
  const login = context.token?.login ?? "octocat";
  const made = context.repository.issues.comment(
    issue,
    String(context.body.body),
    login,
    context.clock.iso(),
  );
  return { status: 201, body: commentShape(context, issue, made) };
}

function commentShape(context: Context, issue: Issue, one: Comment): Record<string, unknown> {
  const url = `${context.api}/repos/${context.repository.fullName}/issues`;
  const html = `${context.site}/${context.repository.fullName}/issues/${issue.number}`;
  return {
    id: one.id,
    node_id: nodeId("R", "comment", String(one.id)),
    url: `${url}/comments/${one.id}`,
    html_url: `${html}#issuecomment-${one.id}`,
    issue_url: `${url}/${issue.number}`,
    body: one.body,
    user: user(context, one.login),
    created_at: one.at,
    updated_at: one.at,
    author_association: "NONE",
  };
}

function shape(context: Context, issue: Issue): Record<string, unknown> {
  const repo = `${context.api}/repos/${context.repository.fullName}`;
  const url = `${repo}/issues/${issue.number}`;
  return {
    id: issue.id,
    node_id: nodeId("R", "issue", String(issue.id)),
    number: issue.number,
    title: issue.title,
    body: issue.body,
    state: issue.state,
    state_reason: issue.stateReason,
    locked: false,
    active_lock_reason: null,
    url,
    repository_url: repo,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: `${context.site}/${context.repository.fullName}/issues/${issue.number}`,
    user: user(context, issue.login),
    labels: issue.labels.map((name) => ({
      id: userId(name),
      node_id: nodeId("R", "label", name),
      url: `${repo}/labels/${encodeURIComponent(name)}`,
      name,
      color: "ededed",
      default: false,
      description: null,
    })),
    assignee: issue.assignees[0] === undefined ? null : user(context, issue.assignees[0]),
    assignees: issue.assignees.map((login) => user(context, login)),
    milestone: null,
    comments: issue.comments.length,
    created_at: issue.createdAt,
    updated_at: issue.updatedAt,
    closed_at: issue.closedAt,
    author_association: "NONE",
  };
}
