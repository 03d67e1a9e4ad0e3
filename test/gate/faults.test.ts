// Lost replies, lost requests and races over HTTP: the outcome is read again, never guessed.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type GitServer, gitServer } from "../support/git-server.js";
import { leaseRef, type Sandbox, sandbox } from "../support/sandbox.js";
import { gitShim } from "../support/shim.js";

let box: Sandbox;
let server: GitServer;
let clone: string;
beforeEach(async () => {
  box = sandbox();
  server = await gitServer({ root: box.folder, env: box.env });
  clone = box.clone("a");
  // Not cloned from there: the server answers in this very process.
  box.git(clone, "remote", "set-url", "origin", `${server.url}/origin.git`);
  server.requests.length = 0;
});
afterEach(async () => {
  await server.close();
  box.dispose();
});

const run = (script: string, ...options: string[]) =>
  box.cli(["run", "--lease", "blog", "--push", "main", "--json", ...options, "--", "sh", "-c", script], {
    cwd: clone,
  });
const commit = "git commit -q --allow-empty -m x";
const events = () =>
  box
    .git(box.origin, "log", "--reverse", "--format=%s", leaseRef("blog"))
    .split("\n")
    .map((line) => line.split(" ")[3]);
const pushes = () => server.requests.filter((request) => request.kind === "push").length;

describe("a lost reply", () => {
  it("of acquire: the lease is ours, and there is one acquisition", async () => {
    server.fail("push", "lost-reply");
    const ended = await run("true");
    expect(ended.code).toBe(0);
    expect(events()).toEqual(["acquired", "released"]);
  });

  it("of the push: the outcome is pushed, and there is no second commit (C46)", async () => {
    const ended = await box.start(
      ["run", "--lease", "blog", "--push", "main", "--json", "--", "sh", "-c", commit],
      { cwd: clone },
    );
    await ended.until(/acquired/);
    server.fail("push", "lost-reply");
    const { code, stdout } = await ended.ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: "pushed",
      commit: box.git(clone, "rev-parse", "HEAD"),
    });
    expect(events()).toEqual(["acquired", "pushed", "released"]);
    expect(box.git(box.origin, "rev-list", "--count", "main")).toBe("2");
  });

  it("of the push, and somebody pushed on top before we looked: still pushed", async () => {
    const started = box.start(
      ["run", "--lease", "blog", "--push", "main", "--json", "--", "sh", "-c", commit],
      { cwd: clone },
    );
    await started.until(/acquired/);
    server.fail("push", "lost-reply");
    const other = join(box.folder, "seed");
    // The read after the lost reply is where somebody else gets in between.
    let reads = 0;
    const sneak = () => {
      reads++;
      if (pushes() < 2) return server.fail("refs", { before: sneak });
      box.git(other, "pull", "--quiet", "--rebase", "origin", "main");
      box.commit(other, "on-top");
      box.git(other, "push", "--quiet", "origin", "HEAD:main");
    };
    server.fail("refs", { before: sneak });
    const { code, stdout } = await started.ended;
    expect(reads).toBeGreaterThan(0);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      outcome: "pushed",
      commit: box.git(clone, "rev-parse", "HEAD"),
    });
    expect(box.git(box.origin, "rev-list", "--count", "main")).toBe("3");
  });

  it("of release: the lease is released once", async () => {
    const started = box.start(["run", "--lease", "blog", "--", "true"], { cwd: clone });
    await started.until(/acquired/);
    server.fail("push", "lost-reply");
    expect((await started.ended).code).toBe(0);
    expect(events()).toEqual(["acquired", "released"]);
  });

  it("twin: taken for success, a request that never arrived would leave main behind", async () => {
    // The shim says "done" for the push that was cut off; checking against the remote finds out.
    const shim = gitShim(
      box,
      `if (args.some((arg) => arg.endsWith(":refs/heads/main")) && args.includes("push")) { console.log("Done"); process.exit(0); }`,
    );
    const args = ["run", "--lease", "blog", "--push", "main", "--json", "--", "sh", "-c", commit];
    const ended = await box.cli(args, { cwd: clone, env: shim.env });
    expect(ended.code).toBe(69);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      outcome: "unavailable",
      why: expect.stringMatching(/does not show it/),
    });
  });
});

describe("a lost request", () => {
  it("is sent again: the very same commit (C46b)", async () => {
    const shim = gitShim(box);
    const started = box.start(
      ["run", "--lease", "blog", "--push", "main", "--json", "--", "sh", "-c", commit],
      { cwd: clone, env: shim.env },
    );
    await started.until(/acquired/);
    server.fail("push", "lost-request");
    server.fail("push", { status: 500 });
    const { code, stdout } = await started.ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: "pushed" });
    expect(events()).toEqual(["acquired", "pushed", "released"]);
    const sent = shim.calls().match(/^[0-9a-f]{40}:refs\/heads\/fencepost\/lease\/blog$/gm) ?? [];
    // acquire once, the same push three times, release once
    expect(sent).toHaveLength(5);
    expect(new Set(sent)).toHaveLength(3);
  });

  it("of every attempt: unavailable, exit 69, and the commits are in a bundle", async () => {
    const started = box.start(
      ["run", "--lease", "blog", "--push", "main", "--json", "--attempts", "2", "--", "sh", "-c", commit],
      { cwd: clone },
    );
    await started.until(/acquired/);
    for (let i = 0; i < 8; i++) server.fail("push", { status: 503 });
    const { code, stdout } = await started.ended;
    expect(code).toBe(69);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: "unavailable", rescue: { kept: "bundle" } });
  });
});

describe("a branch that moves", () => {
  it("between the advertisement and the update is a race, and is retried (C04)", async () => {
    const started = box.start(
      ["run", "--lease", "blog", "--push", "main", "--json", "--", "sh", "-c", commit],
      { cwd: clone },
    );
    await started.until(/acquired/);
    server.fail("push", { before: moveMain });
    const { code, stdout } = await started.ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: "pushed", replayed: true });
    expect(box.git(box.origin, "rev-list", "--count", "main")).toBe("3");
  });

  it("before every attempt ends as moved, with the commits kept (C01b)", async () => {
    const started = box.start(
      ["run", "--lease", "blog", "--push", "main", "--json", "--attempts", "3", "--", "sh", "-c", commit],
      { cwd: clone },
    );
    await started.until(/acquired/);
    for (let i = 0; i < 3; i++) server.fail("push", { before: moveMain });
    const { code, stdout } = await started.ended;
    expect(code).toBe(73);
    expect(JSON.parse(stdout)).toMatchObject({ outcome: "moved", rescue: { kept: "ref" } });
    expect(box.tip("refs/heads/fencepost/rescue/blog/1")).toBe(box.git(clone, "rev-parse", "HEAD"));
  });
});

describe("credentials", () => {
  const secret = "s3cr3t-t0k3n";
  const header = `Basic ${Buffer.from(`x-access-token:${secret}`).toString("base64")}`;

  it("that the clone knows are used, and stand in no argument, file, record or log", async () => {
    const guarded = await gitServer({ root: box.folder, env: box.env, authorization: header });
    try {
      const extra = join(box.folder, "credentials.config");
      box.git(clone, "remote", "set-url", "origin", `${guarded.url}/origin.git`);
      box.git(
        clone,
        "config",
        "--file",
        extra,
        `http.${guarded.url}/.extraheader`,
        `AUTHORIZATION: ${header}`,
      );
      box.git(clone, "config", `includeIf.gitdir:${clone}/.git.path`, extra);
      const shim = gitShim(box);
      const leaks: string[] = [];
      const search = () => {
        const found = execFileSync(
          "sh",
          [
            "-c",
            `grep -rlE '${secret}|${header.slice(6)}' ${box.folder}/tmp ${clone}/.git 2>/dev/null || true`,
          ],
          { encoding: "utf8" },
        );
        leaks.push(...found.split("\n").filter(Boolean));
      };
      for (const kind of ["refs", "push", "fetch"] as const) guarded.fail(kind, { before: search });
      const args = ["run", "--lease", "blog", "--push", "main", "--", "sh", "-c", commit];
      const ended = await box.cli(args, { cwd: clone, env: shim.env });
      expect(ended.code).toBe(0);
      expect(leaks).toEqual([]);
      const said = [
        shim.calls(),
        ended.stdout,
        ended.stderr,
        box.git(box.origin, "log", "--all", "--format=%B"),
      ].join("\n");
      expect(said).not.toContain(secret);
      expect(said).not.toContain(header.slice(6));
    } finally {
      await guarded.close();
    }
  });

  it("in a URL are used too, and shown nowhere", async () => {
    const guarded = await gitServer({ root: box.folder, env: box.env, authorization: header });
    try {
      box.git(
        clone,
        "remote",
        "set-url",
        "origin",
        `${guarded.url.replace("//", `//x-access-token:${secret}@`)}/origin.git`,
      );
      const shim = gitShim(box);
      const ended = await box.cli(["run", "--lease", "blog", "--push", "main", "--", "sh", "-c", commit], {
        cwd: clone,
        env: shim.env,
      });
      expect(ended.code).toBe(0);
      const status = await box.cli(["status", "--json"], { cwd: clone, env: shim.env });
      expect(status.code).toBe(0);
      const failed = await box.cli(
        [
          "run",
          "--lease",
          "blog",
          "--store",
          `${guarded.url.replace("//", `//x:${secret}@`)}/none.git`,
          "--",
          "true",
        ],
        { env: shim.env },
      );
      expect(failed.code).not.toBe(0);
      expect(
        [shim.calls(), ended.stdout, ended.stderr, status.stdout, failed.stderr].join("\n"),
      ).not.toContain(secret);
    } finally {
      await guarded.close();
    }
  });
});

function moveMain(): void {
  const other = join(box.folder, "seed");
  box.git(other, "pull", "--quiet", "--rebase", "origin", "main");
  box.commit(other, `other-${Math.random().toString(36).slice(2)}`);
  box.git(other, "push", "--quiet", "origin", "HEAD:main");
}
