/** The REST API: from a request to an answer that GitHub's own description has passed. */
import { createHash } from "node:crypto";
import type { Writer } from "../ref-updates.js";
import type { RefView } from "../refs.js";
import type { Served, World } from "../world.js";
import { actionRoutes } from "./actions.js";
import { answerFault, describes, operation } from "./description.js";
import { issueRoutes } from "./issues.js";
import { objectRoutes } from "./objects.js";
import { refRoutes } from "./refs.js";
import { repositoryRoutes } from "./repositories.js";
import {
  type Answer,
  errorAnswer,
  type Found,
  find,
  parseBody,
  permit,
  Refused,
  type RestRequest,
  type Route,
} from "./router.js";
import { ruleRoutes } from "./rules.js";

let table: Route[] | undefined;

function routes(): Route[] {
  // The rules of a branch come first, since a branch's name may contain slashes.
  table ??= [
    ...ruleRoutes(),
    ...refRoutes(),
    ...objectRoutes(),
    ...actionRoutes(),
    ...issueRoutes(),
    ...repositoryRoutes(),
  ];
  return table;
}

/** The operation that a request names, for the log; "" for none. */
export function restOperation(method: string, path: string): string {
  if (path === "/rate_limit") return "rate-limit/get";
  return find(routes(), method, path)?.route.operation.id ?? "";
}

export interface Sight {
  view(repository: { refs: RefView }): RefView;
  between: () => Promise<void>;
}

export async function serveRest(world: World, request: RestRequest, sight: Sight): Promise<Served> {
  if (request.path === "/rate_limit") return rateLimit(world, request);
  const found = find(routes(), request.method, request.path);
  if (found === null) return finish(world, request, null, unknown(world, request));
  let answer: Answer;
  try {
    answer = await handle(world, request, found, sight);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    answer = errorAnswer(error, found.route.operation.documentation);
  }
  return finish(world, request, found, answer);
}

async function handle(world: World, request: RestRequest, found: Found, sight: Sight): Promise<Answer> {
  const { owner, repo } = found.parameters;
  const repository = permit(found, world.find(`${owner}/${repo}`), request.token);
  const writer: Writer = { token: request.token, behaviour: world.behaviour, between: sight.between };
  return found.route.handler({
    repository,
    parameters: found.parameters,
    query: request.query,
    headers: request.headers,
    body: parseBody(found, request.body),
    token: request.token,
    view: sight.view(repository),
    writer,
    behaviour: world.behaviour,
    clock: world.clock,
    limits: world.limits,
    api: world.apiBase,
    site: world.url,
  });
}

/** 404 for what GitHub has not either; what only this server lacks is said loudly, since 404 would be a wrong answer. */
function unknown(world: World, { method, path }: RestRequest): Answer {
  const documentation = "https://docs.github.com/rest";
  if (!describes(method, path)) return errorAnswer(new Refused(404, "Not Found"), documentation);
  const lack = `the local GitHub has no ${method} ${path}`;
  world.violations.push(lack);
  return errorAnswer(new Refused(501, lack), documentation);
}

/** Checks the answer, gives it an ETag, and answers 304 where the client has it already. */
function finish(world: World, request: RestRequest, found: Found | null, answer: Answer): Served {
  if (found !== null && answer.raw === undefined) {
    const fault = answerFault(found.route.operation, answer.status, answer.body);
    if (fault !== null) {
      world.violations.push(fault);
      const message = `The local GitHub answered against GitHub's description: ${fault}`;
      return { status: 500, headers: {}, body: Buffer.from(JSON.stringify({ message })), counted: true };
    }
  }
  const body = answer.raw ?? Buffer.from(answer.body === undefined ? "" : JSON.stringify(answer.body));
  const headers: Record<string, string> = { ...answer.headers };
  if (body.length > 0)
    headers["content-type"] = answer.raw
      ? "application/vnd.github.raw; charset=utf-8"
      : "application/json; charset=utf-8";
  if (request.method === "GET" && answer.status === 200) {
    headers.etag = `W/"${createHash("sha256").update(body).digest("hex")}"`;
    headers["cache-control"] =
      request.token === null ? "public, max-age=60, s-maxage=60" : "private, max-age=60, s-maxage=60";
    const asked = (request.headers["if-none-match"] ?? "")
      .split(",")
      .map((tag) => tag.trim().replace(/^W\//, ""));
    if (asked.includes(headers.etag.slice(2)))
      return { status: 304, headers, body: Buffer.alloc(0), counted: false };
  }
  return { status: answer.status, headers, body, counted: true };
}

/** Free of the primary limit. */
function rateLimit(world: World, request: RestRequest): Served {
  const shape = (resource: "core" | "graphql") => {
    const { limit, used, reset } = world.limits.window(request.token, resource);
    return { limit, used, remaining: Math.max(0, limit - used), reset };
  };
  const core = shape("core");
  const search = { limit: 30, used: 0, remaining: 30, reset: core.reset };
  const newest = request.headers["x-github-api-version"] === "2026-03-10";
  const body = { resources: { core, graphql: shape("graphql"), search }, ...(newest ? {} : { rate: core }) };
  const fault = newest ? null : answerFault(operation("GET", "/rate_limit"), 200, body);
  if (fault !== null) world.violations.push(fault);
  const headers = { "content-type": "application/json; charset=utf-8" };
  return { status: 200, headers, body: Buffer.from(JSON.stringify(body)), counted: false };
}
