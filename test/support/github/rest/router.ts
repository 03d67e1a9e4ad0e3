/** Finds the handler of a REST request, checks permission and body, and gives answers GitHub's form. */
import type { IncomingHttpHeaders } from "node:http";
import type { Behaviour } from "../behaviour.js";
import type { Clock } from "../clock.js";
import type { Limits } from "../limits.js";
import type { Writer } from "../ref-updates.js";
import type { RefView } from "../refs.js";
import type { Repository } from "../repository.js";
import { allows, covers, type Level, type Permission, refusal, type Token } from "../tokens.js";
import { type Operation, operation, patternOf, requestFault } from "./description.js";

export interface RestRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Buffer;
  token: Token | null;
}

/** What a handler works with. */
export interface Context {
  repository: Repository;
  parameters: Record<string, string>;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
  token: Token | null;
  /** Refs as this request sees them. */
  view: RefView;
  writer: Writer;
  behaviour: Behaviour;
  clock: Clock;
  limits: Limits;
  /** Base of API addresses, such as `http://127.0.0.1:1234`. */
  api: string;
  /** Base of addresses for people. */
  site: string;
}

export interface Answer {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
  /** For media types other than JSON. */
  raw?: Buffer;
}

export type Handler = (context: Context) => Promise<Answer> | Answer;

export interface Route {
  operation: Operation;
  pattern: RegExp;
  names: string[];
  needs: [Permission, Level];
  handler: Handler;
}

/** A handler throws this to answer with an error. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly extra: Record<string, unknown> = {},
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }
}

export function route(method: string, path: string, needs: [Permission, Level], handler: Handler): Route {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  return { operation: operation(method, path), pattern: patternOf(path), names, needs, handler };
}

export interface Found {
  route: Route;
  parameters: Record<string, string>;
}

export function find(routes: readonly Route[], method: string, path: string): Found | null {
  for (const one of routes) {
    const match = one.operation.method === method ? one.pattern.exec(path) : null;
    if (match === null) continue;
    const values = match.slice(1).map((value) => decodeURIComponent(value));
    return {
      route: one,
      parameters: Object.fromEntries(one.names.map((name, i) => [name, values[i] ?? ""])),
    };
  }
  return null;
}

/** Who may do this: an invisible repository is 404, a missing permission 403 with the permission it takes. */
export function permit(found: Found, repository: Repository | undefined, token: Token | null): Repository {
  const visible =
    repository !== undefined &&
    (!repository.isPrivate || (token !== null && covers(token, repository.fullName)));
  if (!visible) throw new Refused(404, "Not Found");
  const [permission, level] = found.route.needs;
  const open = level === "read" && !repository.isPrivate;
  if (permission === "metadata" || open || allows(token, repository.fullName, permission, level))
    return repository;
  if (token === null) throw new Refused(401, "Requires authentication");
  const needed = `${permission}=${level}`;
  const accepted =
    permission === "contents" && level === "write" ? `${needed}; ${needed},workflows=write` : needed;
  throw new Refused(403, refusal(token), {}, { "x-accepted-github-permissions": accepted });
}

/** The body as JSON, refused as GitHub refuses what is no JSON, no object, or against the description. */
export function parseBody(found: Found, raw: Buffer): Record<string, unknown> {
  if (found.route.operation.method === "GET" || found.route.operation.method === "DELETE") return {};
  let body: unknown = {};
  try {
    if (raw.length > 0) body = JSON.parse(raw.toString());
  } catch {
    throw new Refused(400, "Problems parsing JSON");
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new Refused(400, "Body should be a JSON object");
  }
  const fault = requestFault(found.route.operation, body);
  if (fault !== null) throw new Refused(422, fault);
  return body as Record<string, unknown>;
}

export function errorAnswer(error: Refused, documentation: string): Answer {
  return {
    status: error.status,
    headers: error.headers,
    body: {
      message: error.message,
      ...error.extra,
      documentation_url: documentation,
      status: String(error.status),
    },
  };
}

/** One page of a list, with a Link header to the others. */
export function page<T>(
  context: Context,
  items: readonly T[],
): { items: T[]; headers: Record<string, string> } {
  const size = Math.min(100, Math.max(1, Number(context.query.get("per_page") ?? 30) || 30));
  const at = Math.max(1, Number(context.query.get("page") ?? 1) || 1);
  const last = Math.max(1, Math.ceil(items.length / size));
  const links: string[] = [];
  const link = (to: number, rel: string) => {
    const query = new URLSearchParams(context.query);
    query.set("page", String(to));
    links.push(`<${context.api}/repositories/${context.repository.id}/list?${query}>; rel="${rel}"`);
  };
  if (at > 1) link(at - 1, "prev");
  if (at < last) link(at + 1, "next");
  if (at < last) link(last, "last");
  if (at > 1) link(1, "first");
  return {
    items: items.slice((at - 1) * size, at * size),
    headers: links.length === 0 ? {} : { link: links.join(", ") },
  };
}
