// The script that moves the tag of the major version, on a real repository.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { stepsOf, workflowsIn } from "./workflows.js";

const file = workflowsIn(".github/workflows").find(({ path }) => path.endsWith("/release.yml"));
const script = (file ? stepsOf(file).at(-1)?.run : undefined) ?? "";
let folder: string;
let work: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fencepost-release-"));
  work = join(folder, "work");
  git(folder, "init", "--quiet", "--bare", "origin.git");
  git(folder, "init", "--quiet", "work");
  git(work, "remote", "add", "origin", "../origin.git");
  for (const tag of ["v1.9.0", "v1.10.0", "v1.11.0-rc.1", "v2.0.0"]) {
    git(work, "commit", "--quiet", "--allow-empty", "-m", tag);
    git(work, "tag", "-a", "-m", tag, tag);
  }
  git(work, "push", "--quiet", "--tags", "origin");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("the first release of a major version makes its tag, and the next one moves it", () => {
  expect(release("v2.0.0").code).toBe(0);
  expect(tip("v2")).toBe(commit("v2.0.0"));
  git(work, "push", "--quiet", "origin", `${commit("v1.9.0")}:refs/tags/v1`);
  expect(release("v1.10.0").code).toBe(0);
  expect(tip("v1")).toBe(commit("v1.10.0"));
  expect(release("v1.10.0").code).toBe(0);
});

test("a release of an older line does not move it back", () => {
  release("v1.10.0");
  expect(release("v1.9.0")).toMatchObject({ code: 0, said: expect.stringContaining("stays where it is") });
  expect(tip("v1")).toBe(commit("v1.10.0"));
});

test.each(["v1", "1.2.3", "v0.1.0", "v1.10.0-rc.1", "v1.10.0;touch x", "$(touch x)", ""])(
  "the tag %j moves nothing",
  (tag) => {
    const before = git(work, "ls-remote", "origin");
    expect(release(tag).code).toBe(1);
    expect(git(work, "ls-remote", "origin")).toBe(before);
  },
);

function release(tag: string): { code: number | null; said: string } {
  const args = ["--noprofile", "--norc", "-e", "-c", script];
  const done = spawnSync("bash", args, { cwd: work, env: { ...process.env, TAG: tag }, encoding: "utf8" });
  return { code: done.status, said: done.stdout + done.stderr };
}

function tip(tag: string): string {
  return git(work, "ls-remote", "origin", `refs/tags/${tag}`).split("\t")[0] ?? "";
}

function commit(tag: string): string {
  return git(work, "rev-parse", `${tag}^{commit}`);
}

function git(cwd: string, ...args: string[]): string {
  const identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"];
  return execFileSync("git", [...identity, ...args], { cwd, encoding: "utf8", stdio: "pipe" }).trim();
}
