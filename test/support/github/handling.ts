/** The way of one request: read, named, hit by faults, limited, served, logged, sent. */
import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { Fault } from "./faults.js";
import { failedPush, gitOperation, serveGit } from "./git-backend.js";
import { genericError, graphqlOperation, serveGraphql } from "./graphql/index.js";
import type { Resource } from "./limits.js";
import type { Refs } from "./refs.js";
import type { LoggedRequest } from "./requests.js";
import { restOperation, serveRest } from "./rest/index.js";
import type { Token } from "./tokens.js";
import type { Served, World } from "./world.js";

/** A request as the server has understood it. */
interface Incoming {
  message: IncomingMessage;
  body: Buffer;
  log: LoggedRequest;
  token: Token | null | "bad";
  /** Git: repository and the path below it. */
  fullName: string;
  rest: string;
}

export async function handle(
  world: World,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const incoming = await understand(world, message);
    world.requests.push(incoming.log);
    await answer(world, incoming, response);
  } catch (error) {
    // A client that breaks the connection ends its own request; anything else is a defect here.
    if (message.destroyed && !message.complete) return;
    world.violations.push(`the local GitHub failed: ${error instanceof Error ? error.stack : String(error)}`);
    if (response.headersSent) response.destroy();
    else
      response
        .writeHead(500, { "content-type": "application/json" })
        .end(JSON.stringify({ message: String(error) }));
  }
}

async function understand(world: World, message: IncomingMessage): Promise<Incoming> {
  const url = new URL(message.url ?? "/", world.url);
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const sent = Buffer.concat(chunks);
  const body = message.headers["content-encoding"] === "gzip" ? await promisify(gunzip)(sent) : sent;
  const method = message.method ?? "GET";
  const path = url.pathname.replace(/^\/api\/v3(?=\/|$)/, "").replace(/^\/api(?=\/graphql$)/, "") || "/";
  const repo =
    /^\/([^/]+)\/([^/]+?)(?:\.git)?(\/info\/refs|\/git-(?:upload|receive)-pack|\/HEAD|\/objects\/.*)$/.exec(
      path,
    );
  const log: LoggedRequest = {
    kind: "rest",
    method,
    path,
    query: url.search.slice(1),
    operation: "",
    operationName: null,
    fields: [],
    token: null,
    status: null,
    delivered: false,
    counted: false,
    at: world.clock.now(),
  };
  if (path === "/graphql") {
    const { operation, name, fields } = graphqlOperation(body);
    Object.assign(log, { kind: "graphql", operation, operationName: name, fields });
  } else if (repo !== null) {
    Object.assign(log, { kind: "git", operation: gitOperation(repo[3] ?? "", log.query, body) });
  } else log.operation = restOperation(method, path);
  const token = log.kind === "git" ? world.tokens.ofGit(message) : world.tokens.ofApi(message);
  log.token = token === null || token === "bad" ? null : token.label;
  return {
    message,
    body,
    log,
    token,
    fullName: repo === null ? "" : `${repo[1]}/${repo[2]}`,
    rest: repo?.[3] ?? "",
  };
}

async function answer(world: World, incoming: Incoming, response: ServerResponse): Promise<void> {
  const { log } = incoming;
  const faults = world.faults.take(log);
  for (const fault of faults) {
    if (fault.kind === "lost-request") return void response.destroy();
    if (fault.kind === "before") await fault.run(log);
    if (fault.kind === "delay" && fault.when !== "after") await pause(fault.ms);
  }
  const instead = faults
    .map((fault) => replacement(world, incoming, fault, "before"))
    .find((one) => one !== null);
  let served = instead ?? (await serve(world, incoming, faults));
  log.status = served.status;
  for (const fault of faults) {
    if (fault.kind === "after") await fault.run(log);
    if (fault.kind === "delay" && fault.when === "after") await pause(fault.ms);
    served = replacement(world, incoming, fault, "after") ?? served;
    if (fault.kind === "lost-reply") return void response.destroy();
  }
  send(world, incoming, response, served);
}

/** What a fault answers in place of the server. */
function replacement(
  world: World,
  incoming: Incoming,
  fault: Fault,
  when: "before" | "after",
): Served | null {
  switch (fault.kind) {
    case "status": {
      if (fault.when !== when) return null;
      const body = fault.body ?? (fault.status === 504 ? "" : { message: "Server Error" });
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const headers = { "content-type": "application/json; charset=utf-8", ...fault.headers };
      return { status: fault.status, headers, body: Buffer.from(text), counted: false };
    }
    case "push-report":
      return fault.when === when ? failedPush(incoming.body, fault.reason, fault.lines ?? []) : null;
    case "graphql-error":
      return fault.when === when ? genericError(world, incoming.log.fields[0] ?? "") : null;
    case "secondary-limit":
      return when === "before" ? secondaryLimit(world, incoming, fault.retryAfter) : null;
    default:
      return null;
  }
}

/** docs.github.com, rate limits: 403 or 429, and for GraphQL 200 or 403, with `retry-after` in most cases. */
function secondaryLimit(world: World, incoming: Incoming, retryAfter: number | "" | null = 60): Served {
  const graphql = incoming.log.kind === "graphql";
  const message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
  const documentation_url =
    "https://docs.github.com/free-pro-team@latest/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits";
  const status = graphql ? world.behaviour.secondaryLimitStatusGraphql : 403;
  const body = status === 200 ? { errors: [{ message }] } : { documentation_url, message };
  const headers: Record<string, string> = { "content-type": "application/json; charset=utf-8" };
  if (retryAfter !== null) headers["retry-after"] = String(retryAfter);
  return { status, headers, body: Buffer.from(JSON.stringify(body)), counted: false };
}

async function serve(world: World, incoming: Incoming, faults: readonly Fault[]): Promise<Served> {
  const { message, body, log, token } = incoming;
  const repeated = message.rawHeaders.filter(
    (name, i) => i % 2 === 0 && name.toLowerCase() === "authorization",
  );
  if (repeated.length > 1) {
    const headers = { "content-type": "text/plain" };
    return { status: 400, headers, body: Buffer.from('Duplicate header: "Authorization"\n'), counted: false };
  }
  if (log.kind === "git") {
    const { fullName, rest } = incoming;
    const served = await serveGit(world, { message, fullName, rest, query: log.query, body, token });
    const pushed = log.operation === "receive-pack" && world.behaviour.pushSpendsRestLimit;
    if (pushed && token !== "bad") world.limits.spend(token, "core");
    log.counted = pushed && world.limits.enabled;
    return served;
  }
  if (token === "bad") return refused(401, "Bad credentials");
  if (log.kind === "graphql" && token === null)
    return refused(401, "This endpoint requires you to be authenticated.");
  const resource: Resource = log.kind === "graphql" ? "graphql" : "core";
  if (log.operation !== "rate-limit/get" && world.limits.exceeded(token, resource))
    return primaryLimit(world, token, resource);
  const sight = sightOf(log, faults);
  const request = {
    method: log.method,
    path: log.path,
    query: new URLSearchParams(log.query),
    headers: message.headers,
    body,
    token,
  };
  const served =
    log.kind === "graphql"
      ? await serveGraphql(world, body, token, sight)
      : await serveRest(world, request, sight);
  log.counted = served.counted && world.limits.enabled;
  if (log.counted) world.limits.spend(token, resource);
  return { ...served, headers: { ...served.headers, ...world.limits.headers(token, resource) } };
}

/** What this request sees of the refs, and what happens just before it writes. */
function sightOf(log: LoggedRequest, faults: readonly Fault[]) {
  const stale = faults.find((fault) => fault.kind === "stale");
  return {
    view: ({ refs }: { refs: Refs }) => (stale === undefined ? refs : refs.stale(stale.refs)),
    between: async () => {
      for (const fault of faults) if (fault.kind === "between") await fault.run(log);
    },
  };
}

function primaryLimit(world: World, token: Token | null, resource: Resource): Served {
  const kind = token?.kind === "pat" ? "user" : "installation";
  const message = `API rate limit exceeded for ${kind} ID ${token?.userId ?? 0}.`;
  const limits = world.limits.headers(token, resource);
  if (resource === "core") {
    const documentation_url = "https://docs.github.com/rest/overview/rate-limits-for-the-rest-api";
    const status = world.behaviour.primaryLimitStatus;
    return {
      ...refused(status, message),
      headers: { "content-type": "application/json; charset=utf-8", ...limits },
      body: Buffer.from(JSON.stringify({ message, documentation_url, status: String(status) })),
    };
  }
  const body = { errors: [{ type: world.behaviour.primaryLimitType, message }] };
  const headers = { "content-type": "application/json; charset=utf-8", ...limits };
  return { status: 200, headers, body: Buffer.from(JSON.stringify(body)), counted: false };
}

function refused(status: number, message: string): Served {
  const body = { message, documentation_url: "https://docs.github.com/rest", status: String(status) };
  const headers = { "content-type": "application/json; charset=utf-8" };
  return { status, headers, body: Buffer.from(JSON.stringify(body)), counted: false };
}

function send(world: World, { log }: Incoming, response: ServerResponse, served: Served): void {
  const headers: Record<string, string> = {
    date: new Date(world.clock.now()).toUTCString(),
    "x-github-request-id": randomBytes(10).toString("hex").toUpperCase(),
    ...served.headers,
    // A client would send a request again by itself if a connection that it reuses broke; on a fresh one it does not.
    ...(log.kind === "git" ? { connection: "close" } : {}),
  };
  if (served.status !== 204 && served.status !== 304) headers["content-length"] = String(served.body.length);
  log.status = served.status;
  log.delivered = true;
  response.sendDate = false;
  response
    .writeHead(served.status, headers)
    .end(served.status === 204 || served.status === 304 ? undefined : served.body);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
