/** A plain client of the local GitHub for its own tests: fetch and the real git program, nothing of ours. */
import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { gitEnvironment } from "./git.js";
import type { Github } from "./server.js";

export interface Reply {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
}

export async function rest(
  github: Github,
  token: string | null,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  const response = await fetch(github.apiUrl + path, {
    method,
    headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? undefined : JSON.parse(text),
  };
}

export async function graphql(
  github: Github,
  token: string | null,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<Reply> {
  const response = await fetch(github.graphqlUrl, {
    method: "POST",
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      "content-type": "application/json",
    },
    body: JSON.stringify({ query, variables }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

export interface Ran {
  code: number;
  out: string;
  err: string;
}

/** Runs git in a folder; `header` becomes the Authorization header of its requests. */
export function git(cwd: string, header: string | null, ...args: string[]): Promise<Ran> {
  const settings: [string, string][] = [
    ["user.name", "Ann"],
    ["user.email", "ann@example.org"],
    ...(header === null ? [] : [["http.extraheader", `Authorization: ${header}`] as [string, string]]),
  ];
  const config = Object.fromEntries(
    settings.flatMap(([key, value], i) => [
      [`GIT_CONFIG_KEY_${i}`, key],
      [`GIT_CONFIG_VALUE_${i}`, value],
    ]),
  );
  const env = gitEnvironment({ ...config, GIT_CONFIG_COUNT: String(settings.length) });
  return new Promise((resolve) => {
    execFile("git", args, { cwd, env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : -1, out, err });
    });
  });
}

/** A fresh clone, in a folder that goes with the server. */
export async function clone(github: Github, token: string, ...options: string[]): Promise<string> {
  const folder = await mkdtemp(join(github.folder, "clone-"));
  const done = await git(
    folder,
    github.basic(token),
    "clone",
    "--quiet",
    ...options,
    github.cloneUrl(),
    "work",
  );
  if (done.code !== 0) throw new Error(done.err);
  return join(folder, "work");
}

/** An empty commit on top of HEAD in a clone. */
export async function emptyCommit(work: string, message: string): Promise<string> {
  await git(work, null, "commit", "--quiet", "--allow-empty", "-m", message);
  return (await git(work, null, "rev-parse", "HEAD")).out.trim();
}
