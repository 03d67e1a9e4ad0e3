/** Pushing to and cloning from the local GitHub with the real git client. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { clone, emptyCommit, git } from "./client.js";
import { type Github, startGithub } from "./server.js";

let github: Github;
let token: string;
let work: string;
let main: string;

beforeEach(async () => {
  github = await startGithub();
  token = github.token({ contents: "write", label: "writer" });
  main = await github.seed({ files: { "a.md": "one\n" } });
  work = await clone(github, token);
});

afterEach(async () => {
  await github.close();
  expect(github.violations).toEqual([]);
});

const push = (...args: string[]) => git(work, github.basic(token), "push", "--porcelain", ...args);

describe("transport", () => {
  it("clones, fetches a partial clone, and pushes", async () => {
    await clone(github, token, "--depth=1", "--filter=blob:none");
    const next = await emptyCommit(work, "next");
    const pushed = await push("origin", "HEAD:refs/heads/main");
    expect([pushed.code, await github.tip("main")]).toEqual([0, next]);
    expect(
      github.requests.filter(({ kind }) => kind === "git").every(({ token: label }) => label === "writer"),
    ).toBe(true);
    expect(github.counts().counted).toBe(0);
  });

  it("advertises atomic pushes and push options", async () => {
    const url = `${github.cloneUrl()}/info/refs?service=git-receive-pack`;
    const text = await (await fetch(url, { headers: { authorization: github.basic(token) } })).text();
    expect(text).toContain(" atomic");
    expect(text).toContain("push-options");
    await emptyCommit(work, "next");
    expect((await push("-o", "fence=1", "origin", "HEAD:main")).code).toBe(0);
  });

  it("speaks protocol version 2, and understands compressed requests", async () => {
    const response = await fetch(`${github.url}/octo/blog/git-upload-pack`, {
      method: "POST",
      headers: {
        authorization: github.basic(token),
        "git-protocol": "version=2",
        "content-encoding": "gzip",
        "content-type": "application/x-git-upload-pack-request",
      },
      body: new Uint8Array(gzipSync("0014command=ls-refs\n0000")),
    });
    expect(await response.text()).toContain(`${main} refs/heads/main`);
  });

  it("takes Basic only, and one header only", async () => {
    const url = `${github.cloneUrl()}/info/refs?service=git-receive-pack`;
    const status = async (authorization?: string) =>
      (await fetch(url, authorization === undefined ? {} : { headers: { authorization } })).status;
    expect([await status(), await status(`Bearer ${token}`), await status(github.basic(token))]).toEqual([
      401, 401, 200,
    ]);
    const header = `Authorization: ${github.basic(token)}`;
    const twice = await git(
      work,
      github.basic(token),
      "-c",
      `http.extraheader=${header}`,
      "ls-remote",
      "origin",
    );
    expect(twice.code).not.toBe(0);
    expect(twice.err).toContain("400");
    const reset = await git(
      work,
      github.basic("ghs_old"),
      "-c",
      "http.extraheader=",
      "-c",
      `http.extraheader=${header}`,
      "ls-remote",
      "origin",
    );
    expect(reset.code).toBe(0);
  });

  it("refuses tokens that may not write, in git's and GitHub's words", async () => {
    const reader = github.token({ contents: "read" });
    const refused = await git(work, github.basic(reader), "push", "origin", "HEAD:refs/heads/x");
    expect(refused.code).toBe(128);
    expect(refused.err).toContain("Permission to octo/blog.git denied to github-actions[bot].");
    expect(refused.err).toContain("403");
    const blind = github.token({ contents: "write", repositories: ["octo/other"] });
    expect((await git(work, github.basic(blind), "fetch", "origin")).err).toContain("Repository not found.");
  });

  it("refuses hidden refs and a stale old value", async () => {
    const hidden = await push("origin", "HEAD:refs/pull/1/head");
    expect(hidden.out).toContain("[remote rejected] (deny updating a hidden ref)");
    await emptyCommit(work, "next");
    const race = () => github.commit("main", { "b.md": "" }, "competitor");
    github.faults.next({ operation: "receive-pack" }, { kind: "before", run: race });
    const lost = await push("origin", "HEAD:refs/heads/main");
    expect(lost.out).toMatch(
      /\[remote rejected\] \(cannot lock ref 'refs\/heads\/main': is at [0-9a-f]{40} but expected [0-9a-f]{40}\)/,
    );
  });

  it("sends large pushes in chunks after a probe", async () => {
    await writeFile(
      join(work, "big.bin"),
      Buffer.from(Array.from({ length: 2_000_000 }, () => Math.floor(Math.random() * 256))),
    );
    await git(work, null, "add", ".");
    await git(work, null, "commit", "--quiet", "-m", "big");
    expect((await push("origin", "HEAD:main")).code).toBe(0);
    expect(github.requests.map(({ operation }) => operation)).toContain("probe-receive-pack");
  });
});

describe("atomic pushes", () => {
  it("move both refs or none when the lease moves in between", async () => {
    await git(work, null, "checkout", "--quiet", "--detach");
    const lease = await emptyCommit(work, "lease 1");
    await push("origin", `${lease}:refs/heads/fencepost/lease/x`);
    const next = await emptyCommit(work, "lease 2");
    const takeover = async () => github.repository().force("fencepost/lease/x", main);
    github.faults.next({ operation: "receive-pack" }, { kind: "before", run: takeover });
    const lost = await push(
      "--atomic",
      `--force-with-lease=refs/heads/fencepost/lease/x:${lease}`,
      "origin",
      `${next}:refs/heads/fencepost/lease/x`,
      `${next}:refs/heads/main`,
    );
    expect(lost.code).toBe(1);
    expect(lost.out.match(/atomic transaction failed|cannot lock ref/g)).toHaveLength(2);
    expect(await github.tip("main")).toBe(main);
    github.behaviour.atomicLostRace = "cannot lock ref";
    await push("--force", "origin", `${lease}:refs/heads/fencepost/lease/x`);
    github.faults.next({ operation: "receive-pack" }, { kind: "before", run: takeover });
    const told = await push(
      "--atomic",
      "origin",
      `${next}:refs/heads/fencepost/lease/x`,
      `${next}:refs/heads/main`,
    );
    expect(told.out).toContain(
      `cannot lock ref 'refs/heads/fencepost/lease/x': is at ${main} but expected ${lease}`,
    );
  });
});

describe("a server without atomic pushes", () => {
  it("makes the client refuse", async () => {
    await github.repository().configure("receive.advertiseAtomic", "false");
    await emptyCommit(work, "next");
    const refused = await push("--atomic", "origin", "HEAD:refs/heads/main");
    expect(refused.code).not.toBe(0);
    expect(await github.tip("main")).toBe(main);
    expect(refused.err).toContain("does not support --atomic push");
  });
});

describe("rules", () => {
  it("refuse by GH013 with the text of the real one, and an atomic push moves nothing", async () => {
    github.protect({ ref: "refs/heads/main", rule: "GH013" });
    await emptyCommit(work, "next");
    const refused = await push("--atomic", "origin", "HEAD:refs/heads/main", "HEAD:refs/heads/x");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(
      "remote: error: GH013: Repository rule violations found for refs/heads/main.",
    );
    expect(refused.err).toContain("remote: - Changes must be made through a pull request.");
    expect(refused.out).toContain(
      "HEAD:refs/heads/main\t[remote rejected] (push declined due to repository rule violations)",
    );
    expect(refused.out).toContain("HEAD:refs/heads/x\t[remote rejected] (atomic transaction failed)");
    expect([await github.tip("main"), await github.tip("x")]).toEqual([main, null]);
  });

  it("refuse by GH006 one ref of a push that is not atomic", async () => {
    github.protect({ ref: "refs/heads/main", rule: "GH006" });
    const next = await emptyCommit(work, "next");
    const refused = await push("origin", "HEAD:refs/heads/main", "HEAD:refs/heads/x");
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(
      "remote: error: GH006: Protected branch update failed for refs/heads/main.",
    );
    expect(refused.out).toContain("(protected branch hook declined)");
    expect([await github.tip("main"), await github.tip("x")]).toEqual([main, next]);
  });

  it("do not reach refs outside branches and tags", async () => {
    github.protect({ ref: "~ALL", rule: "GH013" });
    expect((await push("origin", "HEAD:refs/fence/x")).code).toBe(0);
    expect((await push("origin", "HEAD:refs/heads/x")).code).toBe(1);
  });

  it("keep workflow files from an app without the permission", async () => {
    await git(work, null, "checkout", "--quiet", "-b", "w");
    const file = ".github/workflows/x.yml";
    await github.commit("main", { [file]: "on: push\n" }, "by an administrator");
    await git(work, github.basic(token), "pull", "--quiet", "origin", "main");
    expect((await push("origin", "HEAD:refs/heads/copy")).code).toBe(0);
    await writeFile(join(work, file), "on: [push, workflow_dispatch]\n");
    await git(work, null, "commit", "--quiet", "-am", "workflow");
    const refused = await push("origin", "HEAD:refs/heads/main");
    expect(refused.code).toBe(1);
    expect(refused.out).toContain(
      `(refusing to allow a GitHub App to create or update workflow \`${file}\` without \`workflows\` permission)`,
    );
    const app = github.token({ contents: "write", workflows: "write", kind: "app" });
    expect((await git(work, github.basic(app), "push", "origin", "HEAD:refs/heads/main")).code).toBe(0);
  });
});

describe("faults", () => {
  it("lose the reply of a push that the server has applied", async () => {
    const next = await emptyCommit(work, "next");
    github.faults.next({ operation: "receive-pack" }, { kind: "lost-reply" });
    const lost = await push("origin", "HEAD:refs/heads/main");
    expect(lost.code).not.toBe(0);
    expect(await github.tip("main")).toBe(next);
  });

  it("lose a push before it arrives, and answer 5xx either way", async () => {
    const next = await emptyCommit(work, "next");
    github.faults.next({ operation: "receive-pack" }, { kind: "lost-request" });
    expect((await push("origin", "HEAD:refs/heads/main")).code).not.toBe(0);
    expect(await github.tip("main")).toBe(main);
    github.faults.next({ operation: "receive-pack" }, { kind: "status", status: 408, when: "after" });
    const late = await push("origin", "HEAD:refs/heads/main");
    expect(late.code).not.toBe(0);
    expect(await github.tip("main")).toBe(next);
    expect(late.err).toContain("408");
  });

  it("report a failure of what was applied, or nothing at all", async () => {
    const next = await emptyCommit(work, "next");
    const lines = ["Internal Server Error"];
    github.faults.next(
      { operation: "receive-pack" },
      { kind: "push-report", reason: "Internal Server Error", lines, when: "after" },
    );
    const failed = await push("origin", "HEAD:refs/heads/main");
    expect(failed.err).toContain("remote: Internal Server Error");
    expect(failed.out).toContain("[remote rejected] (Internal Server Error)");
    expect(await github.tip("main")).toBe(next);
    github.faults.next({ operation: "receive-pack" }, { kind: "push-report", reason: null, when: "before" });
    const silent = await push("origin", "HEAD:refs/heads/x");
    expect(silent.out).toContain("[remote failure] (remote failed to report status)");
    expect(await github.tip("x")).toBeNull();
  });

  it("hold a push between advertisement and update", async () => {
    await emptyCommit(work, "next");
    const hold = github.faults.hold({ operation: "receive-pack" });
    const running = push("origin", "HEAD:refs/heads/main");
    expect((await hold.reached).token).toBe("writer");
    expect(await github.tip("main")).toBe(main);
    hold.release();
    expect((await running).code).toBe(0);
  });
});
