/** What the log says about a request, and how a test names the requests it means. */

export type RequestKind = "rest" | "graphql" | "git";

export interface LoggedRequest {
  kind: RequestKind;
  method: string;
  /** Path without query and without the GHES prefix. */
  path: string;
  query: string;
  /**
   * REST: the operation of GitHub's description, such as `git/update-ref`. GraphQL: `query` or `mutation`.
   * Git: `advertise-receive-pack`, `receive-pack`, `probe-receive-pack`, `advertise-upload-pack`, `upload-pack`.
   */
  operation: string;
  /** GraphQL: the name given to the operation, and the top-level fields. */
  operationName: string | null;
  fields: string[];
  /** Label of the token, never the token. */
  token: string | null;
  /** What the server answered, even where the reply was then lost; null where the request never reached it. */
  status: number | null;
  /** Whether the client got the answer. */
  delivered: boolean;
  /** Whether it counted against a primary limit. */
  counted: boolean;
  /** The server's time of arrival, in milliseconds. */
  at: number;
}

export interface Criteria {
  kind?: RequestKind;
  method?: string;
  path?: string | RegExp;
  /** The operation, or for GraphQL also a top-level field such as `createCommitOnBranch`. */
  operation?: string | RegExp;
  token?: string;
}

export type Match = Criteria | ((request: LoggedRequest) => boolean);

export function matches(match: Match, request: LoggedRequest): boolean {
  if (typeof match === "function") return match(request);
  const names = [request.operation, ...request.fields];
  return (
    (match.kind === undefined || match.kind === request.kind) &&
    (match.method === undefined || match.method === request.method) &&
    (match.path === undefined || fits(match.path, request.path)) &&
    (match.operation === undefined || names.some((name) => fits(match.operation ?? "", name))) &&
    (match.token === undefined || match.token === request.token)
  );
}

function fits(pattern: string | RegExp, text: string): boolean {
  return typeof pattern === "string" ? pattern === text : pattern.test(text);
}
