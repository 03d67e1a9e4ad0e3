/** Git over smart HTTP: who may, which rules stand in the way, and then git's own `http-backend`. */
import { execFile, spawn } from "node:child_process";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { finish, GitFailed, git, gitEnvironment } from "./git.js";
import { actOf, pushRefusal, workflowRefusal } from "./protection.js";
import {
  type Command,
  failureReport,
  mergeReport,
  type Push,
  parsePush,
  type Report,
  refusalReport,
  tellLocks,
  withCommands,
} from "./push.js";
import { forbiddenWorkflow } from "./ref-updates.js";
import { ZERO } from "./refs.js";
import type { Repository } from "./repository.js";
import { allows, covers, type Token } from "./tokens.js";
import type { Served, World } from "./world.js";

export interface GitRequest {
  message: IncomingMessage;
  /** `owner/name`. */
  fullName: string;
  /** What follows the repository, such as `/info/refs`. */
  rest: string;
  query: string;
  body: Buffer;
  token: Token | null | "bad";
}

let backend: Promise<string> | undefined;

/** Git knows where its own programs are. */
function backendPath(): Promise<string> {
  backend ??= promisify(execFile)("git", ["--exec-path"]).then(({ stdout }) =>
    join(stdout.trim(), "git-http-backend"),
  );
  return backend;
}

/** The operation that a git request names, for the log and for faults. */
export function gitOperation(rest: string, query: string, body: Buffer): string {
  if (rest === "/info/refs") return `advertise-${/service=git-([\w-]+)/.exec(query)?.[1] ?? "refs"}`;
  // Before a push larger than its buffer, git sends an empty one to try the credentials.
  if (rest === "/git-receive-pack" && body.length <= 4) return "probe-receive-pack";
  return rest.replace(/^\/git-/, "");
}

export async function serveGit(world: World, request: GitRequest): Promise<Served> {
  const { token } = request;
  if (token === "bad")
    return words(
      401,
      "Invalid username or token. Password authentication is not supported for Git operations.",
    );
  const repository = world.find(request.fullName);
  const visible =
    repository !== undefined &&
    (!repository.isPrivate || (token !== null && covers(token, request.fullName)));
  if (!visible)
    return token === null ? words(401, "No anonymous access.") : words(404, "Repository not found.");
  const writing = request.rest === "/git-receive-pack" || /service=git-receive-pack/.test(request.query);
  if (writing && token === null) return words(401, "No anonymous write access.");
  const readable = !repository.isPrivate || allows(token, repository.fullName, "contents", "read");
  const allowed = writing ? allows(token, repository.fullName, "contents", "write") : readable;
  if (!allowed) return words(403, `Permission to ${repository.fullName}.git denied to ${token?.login}.`);
  if (request.rest !== "/git-receive-pack") return run(request, repository, request.body);
  const push = parsePush(request.body);
  if (push === null) return run(request, repository, request.body);
  try {
    return await receive(world, request, repository, push, token);
  } finally {
    await repository.refs.observe();
  }
}

async function receive(
  world: World,
  request: GitRequest,
  repository: Repository,
  push: Push,
  token: Token | null,
): Promise<Served> {
  const report = await refusals(world, repository, push, token);
  const tell = (served: Served): Served => {
    const quiet = push.atomic && world.behaviour.atomicLostRace === "atomic transaction failed";
    return served.status !== 200 || quiet ? served : { ...served, body: tellLocks(push, served.body) };
  };
  if (report.reasons.size === 0) return tell(await run(request, repository, request.body));
  const left = push.commands.filter(({ ref }) => !report.reasons.has(ref));
  if (push.atomic && world.behaviour.atomicPushRollsBack) {
    for (const { ref } of left) report.reasons.set(ref, "atomic transaction failed");
    left.length = 0;
  }
  if (left.length === 0) return result(refusalReport(push, report));
  const served = tell(await run(request, repository, withCommands(push, left)));
  return served.status === 200 ? { ...served, body: mergeReport(push, served.body, report) } : served;
}

/** Which refs the rules of GitHub refuse. What git itself refuses is left to git. */
async function refusals(
  world: World,
  repository: Repository,
  push: Push,
  token: Token | null,
): Promise<Report> {
  const report: Report = { lines: [], reasons: new Map() };
  const url = `${world.url}/${repository.fullName}`;
  const oid = (given: string) => (given === ZERO ? null : given);
  for (const { ref, before, after } of push.commands) {
    const rule = repository.protection.against(ref, token, actOf(oid(before), oid(after)));
    if (rule === null) continue;
    const { lines, reason } = pushRefusal(rule, ref, url);
    report.lines.push(...lines);
    report.reasons.set(ref, reason);
  }
  if (token === null || allows(token, repository.fullName, "workflows", "write")) return report;
  // The pushed commits must be there to be looked into; unreachable objects do no harm if the push is then refused.
  const needed = push.commands.filter(({ ref, after }) => after !== ZERO && !report.reasons.has(ref));
  if (needed.length === 0 || !(await unpack(repository, push))) return report;
  for (const command of needed) {
    const path = await workflowIn(repository, command, token);
    if (path !== null) report.reasons.set(command.ref, workflowRefusal(token, path));
  }
  return report;
}

function workflowIn(
  repository: Repository,
  { before, after }: Command,
  token: Token,
): Promise<string | null> {
  return forbiddenWorkflow(repository, after, before === ZERO ? null : before, token);
}

/** False for a pack that cannot be read, which receive-pack then reports in its own words. */
async function unpack(repository: Repository, push: Push): Promise<boolean> {
  if (push.pack.length === 0) return true;
  try {
    await git(repository.dir, ["unpack-objects", "-q"], { input: push.pack });
    return true;
  } catch (error) {
    if (error instanceof GitFailed) return false;
    throw error;
  }
}

/** Runs `git http-backend` as a CGI program and takes its whole answer. */
async function run(request: GitRequest, repository: Repository, body: Buffer): Promise<Served> {
  const program = await backendPath();
  const { headers, method = "GET" } = request.message;
  const env = gitEnvironment({
    GIT_PROJECT_ROOT: repository.dir,
    GIT_HTTP_EXPORT_ALL: "1",
    PATH_INFO: request.rest,
    QUERY_STRING: request.query,
    REQUEST_METHOD: method,
    CONTENT_TYPE: headers["content-type"] ?? "",
    CONTENT_LENGTH: String(body.length),
    REMOTE_USER: request.token !== null && request.token !== "bad" ? request.token.login : "",
    REMOTE_ADDR: "127.0.0.1",
    ...(typeof headers["git-protocol"] === "string" ? { GIT_PROTOCOL: headers["git-protocol"] } : {}),
  });
  return parseCgi(await finish(spawn(program, { env }), ["http-backend", request.rest], body));
}

function parseCgi(output: Buffer): Served {
  const end = output.indexOf("\r\n\r\n");
  const headers: Record<string, string> = {};
  for (const line of output.subarray(0, end).toString().split("\r\n")) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const { status = "200", ...rest } = headers;
  return {
    status: Number.parseInt(status, 10),
    headers: rest,
    body: output.subarray(end + 4),
    counted: false,
  };
}

/** What a client gets whose push is reported as failed, whether it was applied or not; null for no push. */
export function failedPush(body: Buffer, reason: string | null, lines: readonly string[]): Served | null {
  const push = parsePush(body);
  return push === null ? null : result(failureReport(push, reason, lines));
}

function result(body: Buffer): Served {
  const headers = { "content-type": "application/x-git-receive-pack-result", "cache-control": "no-cache" };
  return { status: 200, headers, body, counted: false };
}

/** An error that the git client shows as `remote: …`. */
function words(status: number, message: string): Served {
  const headers: Record<string, string> = { "content-type": "text/plain; charset=UTF-8" };
  if (status === 401) headers["www-authenticate"] = 'Basic realm="GitHub"';
  return { status, headers, body: Buffer.from(`${message}\n`), counted: false };
}
