// One request to GitHub, and what its answer means: done, a definite no, a limit, or not known.

/** The part of Octokit that is used here. A retry plugin must be off: it repeats writes whose outcome is unknown. */
export interface GithubRequests {
  request(
    route: string,
    parameters?: Record<string, unknown>,
  ): Promise<{ status: number; headers: Record<string, string | number | undefined>; data: unknown }>;
}

/** Why GitHub turned a caller away. Trying again with the same token will not help. */
export type Lack = "credentials" | "permission" | "invisible" | "empty" | "endpoint";

export type Answer =
  /** `date`: the server's time of the answer, in whole seconds; null where a proxy dropped it. */
  | { kind: "ok"; data: unknown; date: number | null; etag: string | null }
  /** 304: as the ETag has it, and free of charge. */
  | { kind: "unchanged" }
  | { kind: "refused"; lack: Lack; words: string }
  /** Not carried out. `wait` in milliseconds; null where GitHub named none. */
  | { kind: "limited"; limit: "primary" | "secondary"; wait: number | null; date: number | null }
  /** A definite no to this request, which may still be the echo of an earlier send of it. */
  | { kind: "no"; code: string; words: string }
  /** It may have been carried out. `answered`: GitHub itself answered, with an error that says nothing. */
  | { kind: "unknown"; answered: boolean; words: string };

interface Reply {
  status: number;
  headers: Record<string, string | number | undefined>;
  data: unknown;
}

/**
 * Sends one REST request. An answer of any kind is returned.
 * @throws the signal's reason when it aborts.
 */
export async function askRest(
  client: GithubRequests,
  route: string,
  parameters: Record<string, unknown>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const reply = await send(client, route, parameters, signal);
  return typeof reply === "string" ? lost(reply) : (classifyStatus(reply) ?? ok(reply, reply.data));
}

/**
 * Sends one GraphQL request. It goes through `request`, since `octokit.graphql` drops the `Date` header.
 * @throws the signal's reason when it aborts.
 */
export async function askGraphql(
  client: GithubRequests,
  query: string,
  variables: Record<string, unknown>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const reply = await send(client, "POST /graphql", { query, variables }, signal);
  if (typeof reply === "string") return lost(reply);
  const failed = classifyStatus(reply);
  if (failed?.kind === "no" && failed.code === "404")
    return { kind: "refused", lack: "endpoint", words: failed.words };
  return failed ?? classifyGraphql(reply);
}

async function send(
  client: GithubRequests,
  route: string,
  parameters: Record<string, unknown>,
  signal: AbortSignal | undefined,
): Promise<Reply | string> {
  signal?.throwIfAborted();
  try {
    return await client.request(route, { ...parameters, ...(signal ? { request: { signal } } : {}) });
  } catch (error) {
    // Octokit gives an abort the status 500; a caller that gave up must not count as a fault of GitHub's.
    signal?.throwIfAborted();
    const { response } = error as { response?: Reply };
    return response ?? (error instanceof Error ? error.message : String(error));
  }
}

function ok({ headers }: Reply, data: unknown): Answer {
  const etag = headers.etag;
  return { kind: "ok", data, date: dateOf(headers), etag: etag === undefined ? null : String(etag) };
}

function lost(words: string): Answer {
  return { kind: "unknown", answered: false, words };
}

/** What the status alone decides; null for a success. */
function classifyStatus(reply: Reply): Answer | null {
  const { status } = reply;
  const words = wordsOf(reply);
  if (status >= 200 && status < 300) return null;
  if (status === 304) return { kind: "unchanged" };
  if (status === 401) return { kind: "refused", lack: "credentials", words };
  if (status === 403 || status === 429)
    return limitOf(reply, words) ?? { kind: "refused", lack: "permission", words };
  // The only documented cause of a 409 here is a repository without a commit; any other leaves the outcome open.
  if (status === 409 && /\bempty\b/i.test(words)) return { kind: "refused", lack: "empty", words };
  if (status === 408 || status === 409 || status >= 500)
    return { kind: "unknown", answered: false, words: `HTTP ${status} ${words}`.trim() };
  return { kind: "no", code: String(status), words };
}

/**
 * GitHub's documentation on rate limits: obey `retry-after`, which may be blank; else, with nothing remaining, wait
 * for the reset; else wait a minute.
 */
function limitOf({ status, headers }: Reply, words: string): Answer | null {
  const date = dateOf(headers);
  const after = headers["retry-after"];
  if (after !== undefined) {
    const seconds = String(after).trim() === "" ? Number.NaN : Number(after);
    return {
      kind: "limited",
      limit: "secondary",
      wait: Number.isFinite(seconds) ? seconds * 1000 : null,
      date,
    };
  }
  if (String(headers["x-ratelimit-remaining"] ?? "") === "0")
    return { kind: "limited", limit: "primary", wait: untilReset(headers, date), date };
  if (status === 429 || /\brate limit\b/i.test(words))
    return { kind: "limited", limit: "secondary", wait: null, date };
  return null;
}

/** Counted from the server's own time, since a runner's clock may be wrong; a second more for rounding. */
function untilReset(headers: Reply["headers"], date: number | null): number | null {
  const reset = Number(headers["x-ratelimit-reset"] ?? Number.NaN) * 1000;
  return Number.isFinite(reset) && date !== null ? Math.max(reset - date, 0) + 1000 : null;
}

interface GraphqlError {
  type?: string;
  path?: (string | number)[];
  message?: string;
}

/** GraphQL's errors come with HTTP 200. One without a known type says nothing of what happened, or whether. */
function classifyGraphql(reply: Reply): Answer {
  const body = reply.data as { data?: unknown; errors?: GraphqlError[] } | null;
  if (typeof body !== "object" || body === null || !("data" in body || "errors" in body))
    return { kind: "unknown", answered: false, words: "an answer that is not GraphQL" };
  const errors = body.errors ?? [];
  if (errors.length === 0) return ok(reply, body.data);
  const words = errors.map(({ message }) => message ?? "").join("; ");
  const of = (...types: string[]) => errors.find(({ type }) => types.includes(type ?? ""));
  const date = dateOf(reply.headers);
  if (of("RATE_LIMITED", "RATE_LIMIT"))
    return { kind: "limited", limit: "primary", wait: untilReset(reply.headers, date), date };
  const limited = limitOf({ ...reply, headers: { ...reply.headers, "x-ratelimit-remaining": "" } }, words);
  if (limited) return limited;
  if (of("FORBIDDEN", "INSUFFICIENT_SCOPES")) return { kind: "refused", lack: "permission", words };
  // For a mutation the same type also says that the branch is missing, so that only a read can tell.
  if (of("NOT_FOUND")?.path?.[0] === "repository") return { kind: "refused", lack: "invisible", words };
  const definite = of("STALE_DATA") ?? of("NOT_FOUND") ?? of("UNPROCESSABLE");
  if (definite) return { kind: "no", code: definite.type ?? "", words };
  return { kind: "unknown", answered: true, words };
}

function dateOf(headers: Reply["headers"]): number | null {
  const date = Date.parse(String(headers.date ?? ""));
  return Number.isNaN(date) ? null : date;
}

function wordsOf({ data }: Reply): string {
  const text = typeof data === "string" ? data : (data as { message?: unknown } | null)?.message;
  return typeof text === "string" ? text.replace(/\s+/g, " ").trim().slice(0, 300) : "";
}
