// Stands in for actions/checkout v6 and later: what it fetches, and where it leaves the credentials.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { access, mkdir, rm, writeFile } from "node:fs/promises";
import { isAbsolute, join, posix, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { StandIn, StandInRun } from "./stand-in.js";

const run = promisify(execFile);

export const checkout: StandIn = {
  manifest: `
name: Checkout
description: Stands in for actions/checkout
inputs:
  repository: { default: "\${{ github.repository }}" }
  ref: {}
  token: { default: "\${{ github.token }}" }
  persist-credentials: { default: "true" }
  path: {}
  clean: { default: "true" }
  filter: {}
  fetch-depth: { default: "1" }
  fetch-tags: { default: "false" }
  show-progress: { default: "true" }
  lfs: { default: "false" }
  submodules: { default: "false" }
  set-safe-directory: { default: "true" }
runs: { using: node24, main: main, post: post }
`,

  async main(step) {
    const { inputs } = step;
    const folder = resolve(step.workspace, inputs.path || ".");
    step.state.folder = folder;
    await mkdir(folder, { recursive: true });
    const url = remoteUrl(inputs.repository ?? "", step);
    step.log(`Syncing repository: ${inputs.repository}`);
    if (!(await exists(join(folder, ".git")))) {
      await git(step, folder, "init", "--initial-branch=main", ".");
      await git(step, folder, "remote", "add", "origin", url);
    }
    await git(step, folder, "config", "--local", "gc.auto", "0");
    if (!inputs.token) throw new Error("Input required and not supplied: token");
    await writeCredentials(step, folder, inputs.token);
    try {
      await fetchAndCheckOut(step, folder);
    } finally {
      if (inputs["persist-credentials"] !== "true") await removeCredentials(step, folder);
    }
    const { stdout } = await git(step, folder, "log", "-1", "--format=%H");
    step.output("commit", stdout.trim());
    step.output("ref", inputs.ref || String(step.github.ref));
  },

  async post(step) {
    const folder = step.state.folder;
    if (folder && (await exists(join(folder, ".git")))) await removeCredentials(step, folder);
  },
};

/** Where a repository is cloned from. A folder is named by URL, for git ignores `--depth` on plain paths. */
function remoteUrl(repository: string, { github, options }: StandInRun): string {
  const own = repository.toLowerCase() === String(github.repository).toLowerCase();
  if (!own || options.repository === undefined) return `${github.server_url}/${repository}`;
  return isAbsolute(options.repository) ? pathToFileURL(options.repository).href : options.repository;
}

/** Fetches as actions/checkout does (ref-helper.ts): the event's commit, not the tip, unless a ref is asked for. */
async function fetchAndCheckOut(step: StandInRun, folder: string): Promise<void> {
  const { inputs, github } = step;
  const own = inputs.repository?.toLowerCase() === String(github.repository).toLowerCase();
  const asked = inputs.ref || "";
  const ref = asked || (own ? String(github.ref) : "HEAD");
  const commit = asked === "" && own ? String(github.sha) : /^[0-9a-f]{40}$/.test(asked) ? asked : "";
  const depth = Number(inputs["fetch-depth"]);
  const branch = ref.replace(/^refs\/heads\//, "");
  const tag = ref.startsWith("refs/tags/") ? ref : `refs/tags/${ref}`;
  const all = ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"];
  const options = [
    "--no-tags",
    "--prune",
    "--no-recurse-submodules",
    ...(inputs.filter ? [`--filter=${inputs.filter}`] : []),
  ];
  if (depth > 0) options.push(`--depth=${depth}`);
  const fetch = (...specs: string[]) => git(step, folder, "fetch", ...options, "origin", ...specs);
  if (depth <= 0) await fetch(...all);
  if (commit !== "") {
    const kept = ref.startsWith("refs/tags/") ? ref : `refs/remotes/origin/${branch}`;
    await fetch(asked === "" ? `+${commit}:${kept}` : commit);
  } else if (depth > 0) {
    await fetch(
      ...(ref === "HEAD"
        ? ["+HEAD:refs/remotes/origin/HEAD"]
        : [`+refs/heads/${branch}*:refs/remotes/origin/${branch}*`, `+${tag}*:${tag}*`]),
    );
  }
  if (await hasRef(step, folder, `refs/remotes/origin/${branch}`))
    await git(
      step,
      folder,
      "checkout",
      "--force",
      "-B",
      branch === "HEAD" ? "main" : branch,
      `refs/remotes/origin/${branch}`,
    );
  else
    await git(
      step,
      folder,
      "checkout",
      "--force",
      "--detach",
      (await hasRef(step, folder, tag)) ? tag : commit || ref,
    );
}

/** A file under RUNNER_TEMP that the local config includes for this repository only (git-auth-helper.ts). */
async function writeCredentials(step: StandInRun, folder: string, token: string): Promise<void> {
  const path = join(step.temp, `git-credentials-${randomUUID()}.config`);
  const basic = Buffer.from(`x-access-token:${token}`).toString("base64");
  step.mask(basic);
  const origin = new URL(String(step.github.server_url)).origin;
  await writeFile(path, `[http "${origin}/"]\n\textraheader = AUTHORIZATION: basic ${basic}\n`, {
    mode: 0o600,
  });
  step.state.credentials = path;
  for (const [key, value] of includes(step, folder, path))
    await git(step, folder, "config", "--local", key, value);
}

async function removeCredentials(step: StandInRun, folder: string): Promise<void> {
  const path = step.state.credentials;
  if (!path) return;
  for (const [key] of includes(step, folder, path))
    await git(step, folder, "config", "--local", "--unset-all", key);
  await rm(path, { force: true });
  delete step.state.credentials;
}

function includes(step: StandInRun, folder: string, path: string): [string, string][] {
  const inContainer = posix.join("/github/workspace", folder.slice(step.workspace.length), ".git");
  const pathInContainer = posix.join("/github/runner_temp", path.slice(step.temp.length));
  return [join(folder, ".git"), inContainer].flatMap((gitFolder) =>
    [gitFolder, `${gitFolder}/worktrees/*`].map((pattern): [string, string] => [
      `includeIf.gitdir:${pattern}.path`,
      gitFolder === inContainer ? pathInContainer : path,
    ]),
  );
}

async function git(step: StandInRun, cwd: string, ...args: string[]): Promise<{ stdout: string }> {
  step.log(`[command]git ${args.join(" ")}`);
  const env = { ...step.env, GIT_TERMINAL_PROMPT: "0" };
  try {
    return await run("git", args, { cwd, env, signal: step.signal, maxBuffer: 1 << 26 });
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    for (const line of (stderr ?? "").trim().split("\n")) step.log(line);
    throw new Error(
      `The process 'git' failed: git ${args[0]}: ${(stderr ?? String(error)).trim().split("\n").at(-1)}`,
    );
  }
}

async function hasRef(step: StandInRun, cwd: string, ref: string): Promise<boolean> {
  const { stdout } = await git(step, cwd, "for-each-ref", "--format=%(refname)", ref);
  return stdout.trim().split("\n").includes(ref);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
