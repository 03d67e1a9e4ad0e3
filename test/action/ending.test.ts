// What goes wrong at the end of a job, or with its heartbeat: the work is kept, the lease is given back, and it is said.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { draftRecordName } from "../../src/protocol/draft.js";
import { refOf } from "../../src/protocol/names.js";
import { post } from "../support/blog.js";
import { commitStep, type Hub, hub, leased } from "../support/hub.js";
import { type RunResult, stepOf } from "../support/runner/index.js";

let on: Hub;
let folder: string;
let go: string;
beforeEach(async () => {
  on = await hub();
  folder = mkdtempSync(join(tmpdir(), "fp-ending-"));
  go = join(folder, "go");
});
afterEach(async () => {
  expect(on.github.violations).toEqual([]);
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

const main = () => on.github.tip("refs/heads/main");
const waits = () => `echo ready; until [ -f ${go} ]; do sleep 0.05; done`;
/** Until the heartbeat has written that the lease is lost. */
const untilLost = `echo ready; until grep -q '"lost"' "$(echo "$RUNNER_TEMP"/fencepost-lease-*)/beats" 2>/dev/null; do sleep 0.05; done`;
const step = (done: RunResult, stage: "main" | "post" = "post") => stepOf(done.job("write"), "lease", stage);
const said = (done: RunResult, level: "error" | "warning", stage?: "main" | "post") =>
  step(done, stage)
    .annotations.filter((a) => a.level === level)
    .map((a) => a.message)
    .join("\n");
const rescued = async () => (await on.github.log("refs/heads/fencepost/rescue/blog/1"))[0]?.message.trim();
const renewals = async () => (await on.events("blog")).filter((event) => event === "renewed").length;

async function until(what: () => Promise<boolean>): Promise<void> {
  for (let i = 0; i < 300 && !(await what()); i++) await delay(50);
  expect(await what()).toBe(true);
}

/** A file that is loaded into the processes of the actions before anything else. */
function preload(script: string): Record<string, string> {
  const file = join(folder, "preload.cjs");
  writeFileSync(file, script);
  return { NODE_OPTIONS: `--require=${file}` };
}

describe("a push that cannot even be tried", () => {
  it("for a tag that does not exist: refused, the commits are kept, the lease is free, the summary says so", async () => {
    const before = await main();
    const done = await on.run(leased(commitStep(), { tags: "v9" }));
    expect(done.conclusion).toBe("failure");
    expect(said(done, "error")).toMatch(
      /^refused: The tag refs\/tags\/v9 does not exist in the clone .* Your commits are kept on fencepost\/rescue\/blog\/1/,
    );
    expect(await main()).toBe(before);
    expect(await rescued()).toBe("article posts/2.md");
    expect(await on.events("blog")).toEqual(["acquired", "released"]);
    expect(done.job("write").summary).toMatch(
      /\*\*refused\*\*: this run could not push to .*v9 does not exist/,
    );
  });

  it("since the clone is gone: the lease is free all the same", async () => {
    const done = await on.run(leased(commitStep("posts/2.md", "rm -rf .git")));
    expect(done.conclusion).toBe("failure");
    expect(said(done, "error")).toMatch(/^refused: .* is not in a git clone/);
    expect(await on.events("blog")).toEqual(["acquired", "released"]);
    expect(done.job("write").summary).toMatch(/\*\*refused\*\*/);
  });

  it("the attempt at the draft has failed, with the reason", async () => {
    await on.github.commit("main", { "posts/a.md": post("A") }, "write");
    const inputs = { draft: "posts/a.md", convention: "hugo", tags: "v9" };
    const done = await on.run(leased(commitStep(), inputs));
    expect(done.conclusion).toBe("failure");
    expect(await on.record(refOf("fencepost", draftRecordName("posts/a.md")))).toMatchObject({
      state: "pending",
      attempts: 1,
      reason: expect.stringMatching(/^refused: The tag/),
    });
  });

  it("nor can tags keep the commits of a lost lease from being kept", async () => {
    const late = on.start(leased(commitStep("posts/2.md", untilLost), { ttl: "10s", tags: "v9" }));
    await late.seen("ready");
    on.github.clock.advance(60_000);
    await on.run(leased(commitStep("posts/3.md"), {}, "contents: write"));
    const done = await late.done;
    expect(said(done, "error")).toMatch(/^superseded: .* no longer ours/);
    expect(await rescued()).toBe("article posts/2.md");
  });
});

describe("commits that no branch takes", () => {
  it("go to a bundle beside the workspace, and what becomes of it is said", async () => {
    on.github.protect({ ref: "refs/heads/main", rule: "GH013" });
    on.github.protect({ ref: "refs/heads/fencepost/rescue/*", rule: "GH013" });
    const done = await on.run(leased(commitStep()));
    const error = said(done, "error");
    expect(error).toMatch(/kept in \S+\/work\/blog\/fencepost-rescue-blog-1-\w+\.bundle;/);
    expect(error).toContain("gone with this runner when the job ends");
    expect(error).toContain("allow pushes to fencepost/rescue/**");
    expect(done.job("write").summary).toContain("gone with this runner when the job ends");
  });

  it("in the middle of a job can be uploaded by a later step", async () => {
    on.github.protect({ ref: "refs/heads/main", rule: "GH013" });
    on.github.protect({ ref: "refs/heads/fencepost/rescue/*", rule: "GH013" });
    const push = "- uses: fencepost/fencepost/push@v1\n  id: early\n";
    const done = await on.run(leased(`${commitStep()}\n${push}`, { push: false }));
    const errors = stepOf(done.job("write"), "early").annotations.map((a) => a.message);
    expect(errors.join()).toMatch(/upload it as an artifact in a later step/);
  });

  it("for the token of the push go to a branch with the token of the lease", async () => {
    const weak = on.github.token({ contents: "read", kind: "app", label: "weak" });
    const done = await on.run(leased(commitStep(), { "push-token": weak }));
    expect(done.conclusion).toBe("failure");
    expect(said(done, "error")).toMatch(/^refused: .* kept on fencepost\/rescue\/blog\/1/s);
    expect(await rescued()).toBe("article posts/2.md");
  });
});

describe("the heartbeat", () => {
  const pulse = `echo "$FENCEPOST_PULSE" | grep -o '"pid":[0-9]*' | cut -d: -f2`;
  const gone = `while kill -0 $(${pulse}) 2>/dev/null && ! grep -q ') Z' /proc/$(${pulse})/stat; do sleep 0.05; done`;
  const end = `kill -9 $(${pulse}); ${gone}`;

  it("that was killed: the pushes warn of it", async () => {
    const push = "- uses: fencepost/fencepost/push@v1\n  id: early\n";
    const done = await on.run(leased(`${commitStep("posts/2.md", end)}\n${push}`));
    expect(done.conclusion).toBe("success");
    const warning = /The heartbeat \(process \d+\) ended before the job did/;
    expect(said(done, "warning")).toMatch(warning);
    expect(
      stepOf(done.job("write"), "early")
        .annotations.map((a) => a.message)
        .join(),
    ).toMatch(warning);
  });

  it("that is broken ends, and its last word is in the warning", async () => {
    const env = preload(`
      if (process.env.FENCEPOST_HEARTBEAT)
        process.hrtime.bigint = () => { throw new Error("no clock"); };
    `);
    const done = await on.run(leased(commitStep("posts/2.md", gone)), { env });
    expect(said(done, "warning")).toMatch(
      /ended before the job did.*the heartbeat itself failed: no clock\./,
    );
    expect(done.conclusion).toBe("success");
  });

  it("that works: nobody warns", async () => {
    const push = "- uses: fencepost/fencepost/push@v1\n  id: early\n";
    const done = await on.run(leased(`${commitStep()}\n${push}`));
    expect(said(done, "warning")).toBe("");
    expect(stepOf(done.job("write"), "early").annotations.filter((a) => a.level === "warning")).toEqual([]);
  });

  it("that cannot be started: the main step says so, and the job goes on", async () => {
    const env = preload(`
      const children = require("node:child_process");
      const { spawn } = children;
      children.spawn = (file, args, options) =>
        spawn(options?.stdio === "ignore" ? "/no/such/program" : file, args, options);
      require("node:module").syncBuiltinESMExports();
    `);
    const done = await on.run(leased(commitStep()), { env });
    expect(said(done, "warning", "main")).toMatch(/The heartbeat could not be started \(.*ENOENT/);
    expect(done.conclusion).toBe("success");
    expect(await on.events("blog")).toEqual(["acquired", "pushed", "released"]);
  });

  it("renews though it can write nothing down, and watch nothing", async () => {
    const env = preload(`
      const fs = require("node:fs");
      fs.watch = () => { throw Object.assign(new Error("limit of watchers"), { code: "ENOSPC" }); };
      require("node:module").syncBuiltinESMExports();
    `);
    const full = `mkdir "$RUNNER_TEMP"/fencepost-lease-*/beats 2>/dev/null || mkdir "$(echo "$RUNNER_TEMP"/fencepost-lease-*)/beats"`;
    const run = on.start(leased(commitStep("posts/2.md", `${full}; ${waits()}`), { ttl: "10s" }), { env });
    await run.seen("ready");
    await until(async () => (await renewals()) >= 2);
    writeFileSync(go, "");
    const done = await run.done;
    expect(done.conclusion).toBe("success");
    expect(said(done, "warning")).toMatch(/what it saw could not be read/);
    expect((await on.events("blog")).slice(-2)).toEqual(["pushed", "released"]);
  });

  it("is read although a line of its file was cut off", async () => {
    const torn = `printf 'null\\n{"of":"lease","event":"ren' > "$(echo "$RUNNER_TEMP"/fencepost-lease-*)/beats"`;
    const run = on.start(leased(commitStep("posts/2.md", `${torn}; ${untilLost}`), { ttl: "10s" }));
    await run.seen("ready");
    on.github.clock.advance(60_000);
    await on.run(leased(commitStep("posts/3.md"), {}, "contents: write"));
    const done = await run.done;
    // The loss stands right behind the torn line.
    expect(said(done, "error")).toMatch(/^superseded: the lease "blog" is no longer ours/);
  });
});
