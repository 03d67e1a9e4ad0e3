// Actions and repositories that the runner's own tests write to temporary folders.
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

const run = promisify(execFile);

/** A folder with these files, gone after the test. */
export async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fencepost-fixture-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

/** Lines of JavaScript that each action below starts with. */
const prelude = `
import { appendFileSync } from "node:fs";
const put = (file, name, value) => appendFileSync(process.env["GITHUB_" + file], name + "=" + value + "\\n");
const env = process.env;
`;

/** A JavaScript action of ES modules. `metadata` is YAML for inputs and outputs. */
export async function scriptAction(
  stages: { pre?: string; main: string; post?: string; postIf?: string },
  metadata = "",
): Promise<string> {
  const { postIf, ...scripts } = stages;
  const runs = Object.keys(scripts).map((stage) => `  ${stage}: ${stage}.mjs`);
  const condition = postIf === undefined ? "" : `  post-if: ${postIf}\n`;
  const yaml = `name: fixture\ndescription: fixture\n${metadata}\nruns:\n  using: node24\n${runs.join("\n")}\n${condition}`;
  const files = Object.entries(scripts).map(([stage, code]) => [`${stage}.mjs`, prelude + code]);
  return folderWith({ "action.yml": yaml, ...Object.fromEntries(files) });
}

export async function compositeAction(yaml: string, files: Record<string, string> = {}): Promise<string> {
  return folderWith({ "action.yml": `name: fixture\ndescription: fixture\n${yaml}`, ...files });
}

/** A workflow of one job `build` with these steps. */
export function oneJob(steps: string, job = ""): string {
  const indented = (text: string, by: number) => text.replace(/^(?=.)/gm, " ".repeat(by));
  return `on: [workflow_dispatch]
jobs:
  build:
    runs-on: ubuntu-latest
${indented(job, 4)}
    steps:
${indented(steps.trim(), 6)}
`;
}

/** A bare repository with these commits on main, each the content of `file`; returns its path and their oids. */
export async function repositoryWith(...contents: string[]): Promise<{ path: string; oids: string[] }> {
  const work = await folderWith({});
  const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
  const git = async (...args: string[]) =>
    (await run("git", [...identity, ...args], { cwd: work })).stdout.trim();
  await git("init", "--initial-branch=main");
  const oids: string[] = [];
  for (const content of contents) {
    await writeFile(join(work, "file"), content);
    await git("add", "file");
    await git("commit", "-m", content);
    oids.push(await git("rev-parse", "HEAD"));
  }
  const path = join(await folderWith({}), "bare.git");
  await git("clone", "--bare", work, path);
  return { path, oids };
}

/** Serves a bare repository over HTTP, to whoever shows the token as actions/checkout does. Returns the address. */
export async function serveGit(repository: string, token: string): Promise<string> {
  const expected = `basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`;
  const server = createServer((request, response) => {
    if (request.headers.authorization?.toLowerCase() !== expected.toLowerCase())
      response.writeHead(401).end();
    else void answer(repository, request, response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** One request to git's own CGI program. */
async function answer(repository: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, search } = new URL(request.url ?? "/", "http://localhost");
  const child = spawn("git", ["http-backend"], {
    env: {
      ...process.env,
      GIT_PROJECT_ROOT: repository,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: pathname.replace(/^\/[^/]+\/[^/]+/, ""),
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers["content-type"],
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"],
      GIT_PROTOCOL: request.headers["git-protocol"] as string | undefined,
    },
  });
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout) chunks.push(chunk);
  const whole = Buffer.concat(chunks);
  const end = whole.indexOf("\r\n\r\n");
  for (const line of whole.subarray(0, end).toString().split("\r\n")) {
    const [name = "", value = ""] = line.split(": ");
    if (name === "Status") response.statusCode = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.end(whole.subarray(end + 4));
}
