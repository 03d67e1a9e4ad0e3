// The action in jobs: real workflows in a local runner, against a local GitHub, on the bundles in dist/.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { commitStep, type Hub, hub, leased } from "../support/hub.js";
import { stepOf } from "../support/runner/index.js";

let on: Hub;
let folder: string;
let go: string;
beforeEach(async () => {
  on = await hub();
  folder = mkdtempSync(join(tmpdir(), "fp-job-"));
  go = join(folder, "go");
});
afterEach(async () => {
  expect(on.github.violations).toEqual([]);
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

const waits = (file = go) => `echo ready; until [ -f ${file} ]; do sleep 0.05; done`;
const main = () => on.github.tip("refs/heads/main");

describe("two runs that overlap (C03)", () => {
  it("the first pushes; the second is green, skipped, and counted in its summary", async () => {
    const first = on.start(leased(commitStep("posts/2.md", waits())));
    await first.seen("ready");
    const second = await on.run(leased(commitStep("posts/3.md")));
    const skipped = second.job("write");
    expect(second.conclusion).toBe("success");
    expect(stepOf(skipped, "lease").outputs).toMatchObject({
      acquired: "false",
      outcome: "skipped_overlap",
      token: "1",
      holder: `octo/blog run ${first.id}.1 (write)`,
    });
    expect(stepOf(skipped, "work").conclusion).toBe("skipped");
    expect(skipped.summary).toMatch(/skipped\\_overlap/);
    expect(skipped.summary).toContain(`actions/runs/${first.id}`);
    expect(await on.record("refs/heads/fencepost/stats/blog")).toMatchObject({ row: 1 });
    writeFileSync(go, "");
    const done = await first.done;
    expect(done.conclusion).toBe("success");
    const job = done.job("write");
    expect(stepOf(job, "lease").outputs).toMatchObject({
      acquired: "true",
      outcome: "acquired",
      token: "1",
      lease: "blog",
    });
    expect(job.summary).toMatch(/pushed/);
    expect((await on.github.log("refs/heads/main")).map((commit) => commit.message.trim())[0]).toBe(
      "article posts/2.md",
    );
    expect(await on.events("blog")).toEqual(["acquired", "pushed", "released"]);
    expect(job.steps.some((step) => step.leakedStdio)).toBe(false);
  });

  it("a holder whose run is in the same second and has the same actor is another claim (C47)", async () => {
    const runs = await Promise.all([
      on.run(leased(commitStep("posts/a.md"))),
      on.run(leased(commitStep("posts/b.md"))),
    ]);
    const outcomes = runs.map((run) => run.job("write").outputs.outcome).sort();
    // Depending on who was faster they overlapped, or came one after the other; never did both work at once.
    expect(["acquired,acquired", "acquired,skipped_overlap"]).toContain(outcomes.join());
    const events = await on.events("blog");
    expect(events.join()).toMatch(/^acquired,pushed,released(,acquired,pushed,released)?$/);
  });

  it("with on-overlap: wait the second works after the first, on what the first pushed (C02)", async () => {
    const first = on.start(leased(commitStep("posts/2.md", waits())));
    await first.seen("ready");
    const second = on.start(leased(commitStep("posts/3.md"), { "on-overlap": "wait", "wait-timeout": "5m" }));
    await second.seen(/Waiting for "blog"/);
    writeFileSync(go, "");
    expect((await first.done).conclusion).toBe("success");
    const done = await second.done;
    expect(done.job("write").outputs.outcome).toBe("acquired");
    expect(done.conclusion).toBe("success");
    const messages = (await on.github.log("refs/heads/main")).map((commit) => commit.message.trim());
    expect(messages.slice(0, 2)).toEqual(["article posts/3.md", "article posts/2.md"]);
  });

  it("with on-overlap: fail the second fails and says who holds it (C19)", async () => {
    const first = on.start(leased(commitStep("posts/2.md", waits())));
    await first.seen("ready");
    const second = await on.run(leased(commitStep("posts/3.md"), { "on-overlap": "fail" }));
    expect(second.conclusion).toBe("failure");
    expect(stepOf(second.job("write"), "lease").annotations[0]?.message).toMatch(
      new RegExp(`held by octo/blog run ${first.id}\\.1`),
    );
    writeFileSync(go, "");
    await first.done;
  });

  it("warns after many skips in a row", async () => {
    const first = on.start(leased(commitStep("posts/2.md", waits())));
    await first.seen("ready");
    for (const expected of [0, 1]) {
      const run = await on.run(leased(commitStep(), { "skip-alarm": "2" }));
      const warnings = stepOf(run.job("write"), "lease").annotations.filter((a) => a.level === "warning");
      expect(warnings).toHaveLength(expected);
    }
    writeFileSync(go, "");
    await first.done;
  });
});

describe("a job that ends before its time", () => {
  it("cancelled in the middle: the post step runs, nothing is pushed, the lease is free (C17, C36)", async () => {
    const before = await main();
    const run = on.start(leased(commitStep("posts/2.md", waits())));
    await run.seen("ready");
    run.cancel();
    const done = await run.done;
    expect(done.conclusion).toBe("cancelled");
    expect(await main()).toBe(before);
    expect(await on.events("blog")).toEqual(["acquired", "released"]);
    expect(done.job("write").summary).toMatch(/cancelled/);
  });

  it("failed: nothing is pushed, the lease is free", async () => {
    const before = await main();
    const done = await on.run(leased(commitStep("posts/2.md", "exit 3")));
    expect(done.conclusion).toBe("failure");
    expect(await main()).toBe(before);
    expect(await on.events("blog")).toEqual(["acquired", "released"]);
  });

  it("killed with its machine: free as soon as the run is known to have finished (C16)", async () => {
    const run = on.start(leased(commitStep("posts/2.md", waits())));
    await run.seen("ready");
    await run.kill();
    await run.done;
    const early = await on.run(leased(commitStep("posts/3.md")));
    expect(early.job("write").outputs.outcome).toBe("skipped_overlap");
    on.github.finishRun(run.id, "failure");
    const next = await on.run(leased(commitStep("posts/3.md")));
    expect(next.conclusion).toBe("success");
    expect(stepOf(next.job("write"), "lease").outputs.token).toBe("2");
    expect(stepOf(next.job("write"), "lease").log.join("\n")).toMatch(/had finished without releasing it/);
  });

  it("killed, and nobody may ask about runs: free after the TTL, and that is said once (C16, C18)", async () => {
    const permissions = "contents: write";
    const run = on.start(leased(commitStep("posts/2.md", waits()), {}, permissions));
    await run.seen("ready");
    await run.kill();
    await run.done;
    on.github.finishRun(run.id, "failure");
    const early = await on.run(leased(commitStep("posts/3.md"), {}, permissions));
    expect(early.job("write").outputs.outcome).toBe("skipped_overlap");
    expect(
      stepOf(early.job("write"), "lease").log.filter((line) => line.includes("actions: read")),
    ).toHaveLength(1);
    on.github.clock.advance(16 * 60_000);
    const next = await on.run(leased(commitStep("posts/3.md"), {}, permissions));
    expect(stepOf(next.job("write"), "lease").outputs).toMatchObject({ acquired: "true", token: "2" });
  });

  it("a further attempt of a run takes the lease of the earlier one at once", async () => {
    const run = on.start(leased(commitStep("posts/2.md", waits())), { id: 77 });
    await run.seen("ready");
    await run.kill();
    await run.done;
    const again = await on.run(leased(commitStep("posts/2.md"), {}, "contents: write"), {
      id: 77,
      attempt: 2,
    });
    expect(stepOf(again.job("write"), "lease").outputs).toMatchObject({ acquired: "true", token: "2" });
    expect(again.conclusion).toBe("success");
  });
});

describe("a run that was superseded (C10, C11)", () => {
  it("fails with one sentence; main is untouched, its commits are on the rescue ref, the summary links to it", async () => {
    const late = on.start(leased(commitStep("posts/late.md", waits())));
    await late.seen("ready");
    // The machine stands still for longer than the TTL.
    on.github.clock.advance(20 * 60_000);
    const next = await on.run(leased(commitStep("posts/2.md"), {}, "contents: write"));
    expect(next.conclusion).toBe("success");
    const after = await main();
    writeFileSync(go, "");
    const done = await late.done;
    expect(done.conclusion).toBe("failure");
    const post = stepOf(done.job("write"), "lease", "post");
    const errors = post.annotations.filter((a) => a.level === "error");
    expect(errors).toHaveLength(1);
    expect(errors[0]?.message).toMatch(
      /superseded: the push was refused and main is untouched, because token 1 of "blog" no longer holds the lease/,
    );
    expect(await main()).toBe(after);
    const rescued = await on.github.log("refs/heads/fencepost/rescue/blog/1");
    expect(rescued[0]?.message.trim()).toBe("article posts/late.md");
    expect(post.summaries.join()).toMatch(/fencepost\/rescue\/blog\/1/);
    expect(await on.events("blog")).toEqual(["acquired", "acquired", "pushed", "released"]);
  });

  it("is told by its heartbeat, which can cancel the run", async () => {
    const late = on.start(
      leased(
        commitStep("posts/late.md", waits()),
        { ttl: "10s", "on-lost": "cancel" },
        "contents: write\n  actions: write",
      ),
    );
    await late.seen("ready");
    on.github.clock.advance(60_000);
    const next = await on.run(leased(commitStep("posts/2.md"), {}, "contents: write"));
    expect(stepOf(next.job("write"), "lease").outputs.token).toBe("2");
    for (let i = 0; i < 200 && on.github.cancellations.length === 0; i++)
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect(on.github.cancellations).toMatchObject([{ run: late.id }]);
    late.cancel();
    const done = await late.done;
    expect(
      stepOf(done.job("write"), "lease", "post")
        .annotations.map((a) => a.message)
        .join(),
    ).toMatch(/superseded: the lease "blog" is no longer ours/);
  });
});

describe("a lease that spans", () => {
  it("several pushes in the middle of a job", async () => {
    const push = "- uses: fencepost/fencepost/push@v1\n  id: early\n";
    const done = await on.run(
      leased(
        `${commitStep("posts/2.md")}\n${push}${commitStep("posts/3.md").replace("id: work", "id: more")}`,
      ),
    );
    expect(done.conclusion).toBe("success");
    const early = stepOf(done.job("write"), "early").outputs;
    expect(early).toMatchObject({ outcome: "pushed", pushed: "true" });
    expect(await on.events("blog")).toEqual(["acquired", "pushed", "pushed", "released"]);
    const log = await on.github.log("refs/heads/main");
    expect(log[1]?.oid).toBe(early.commit);
  });

  it("several jobs, by its claim", async () => {
    const yaml = `
on: workflow_dispatch
permissions: { contents: write, actions: read }
jobs:
  take:
    runs-on: ubuntu-latest
    outputs: { claim: "\${{ steps.lease.outputs.claim }}" }
    steps:
      - uses: fencepost/fencepost@v1
        id: lease
        with: { lease: blog, release: manual }
  publish:
    needs: take
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v7
      - run: |
          git config user.name agent
          git config user.email agent@example.org
          git commit -q --allow-empty -m published
      - uses: fencepost/fencepost/push@v1
        with: { claim: "\${{ needs.take.outputs.claim }}", branch: main }
  free:
    needs: [take, publish]
    if: always()
    runs-on: ubuntu-latest
    steps:
      - uses: fencepost/fencepost/release@v1
        id: release
        with: { claim: "\${{ needs.take.outputs.claim }}" }
`;
    const done = await on.run(yaml);
    expect(done.conclusion).toBe("success");
    expect(stepOf(done.job("free"), "release").outputs.outcome).toBe("released");
    expect(await on.events("blog")).toEqual(["acquired", "pushed", "released"]);
  });
});

describe("who may do what", () => {
  it("a token that may not write fails at once, before any work, with the YAML that cures it (C35)", async () => {
    const done = await on.run(leased(commitStep(), {}, "contents: read"));
    expect(done.conclusion).toBe("failure");
    const lease = stepOf(done.job("write"), "lease");
    expect(lease.annotations.map((a) => a.message).join()).toMatch(/permissions:[\s\S]*contents: write/);
    expect(stepOf(done.job("write"), "work").conclusion).toBe("skipped");
    expect(
      on.github.requests.filter((r) => r.kind !== "git" && r.fields?.includes("createCommitOnBranch")).length,
    ).toBeLessThanOrEqual(1);
    expect(await on.github.tip("refs/heads/fencepost/lease/blog")).toBeNull();
  });

  it("a ruleset that refuses the push: one attempt, the cure, the lease is free (C33, C34)", async () => {
    on.github.protect({ ref: "refs/heads/main", rule: "GH013", bypass: ["app"] });
    const before = await main();
    const done = await on.run(leased(commitStep()));
    expect(done.conclusion).toBe("failure");
    const post = stepOf(done.job("write"), "lease", "post");
    expect(post.annotations.find((a) => a.level === "error")?.message).toMatch(
      /refused: .*GH013.*bypass list/s,
    );
    expect(await main()).toBe(before);
    expect(await on.events("blog")).toEqual(["acquired", "released"]);
    expect((await on.github.log("refs/heads/fencepost/rescue/blog/1"))[0]?.message.trim()).toBe(
      "article posts/2.md",
    );
  });

  it("an app's token may push where GITHUB_TOKEN may not", async () => {
    on.github.protect({ ref: "refs/heads/main", rule: "GH013", bypass: ["app"] });
    const yaml = leased(commitStep(), { "push-token": "TOKEN" })
      .replace(
        "      - uses: fencepost",
        "      - uses: actions/create-github-app-token@v3\n        id: app\n        with: { app-id: '1', private-key: x }\n      - uses: fencepost",
      )
      .replace('"TOKEN"', "${{ steps.app.outputs.token }}");
    const done = await on.run(yaml);
    expect(
      done.job("write").log.join("\n") + stepOf(done.job("write"), "lease", "post").log.join("\n"),
    ).not.toMatch(/GH013/);
    expect(done.conclusion).toBe("success");
    expect((await on.github.log("refs/heads/main"))[0]?.message.trim()).toBe("article posts/2.md");
  });

  it("commits that change workflows are refused for GITHUB_TOKEN, with the cure (C36)", async () => {
    const done = await on.run(
      leased(
        commitStep(
          "x.txt",
          "mkdir -p .github/workflows && echo 'on: push' > .github/workflows/x.yml && git add . && git commit -q -m workflow",
        ),
      ),
    );
    expect(done.conclusion).toBe("failure");
    expect(
      stepOf(done.job("write"), "lease", "post")
        .annotations.map((a) => a.message)
        .join(),
    ).toMatch(/workflows permission/);
  });

  it("a push with GITHUB_TOKEN says that it starts no other workflow (C37)", async () => {
    const done = await on.run(leased(commitStep()));
    const notices = stepOf(done.job("write"), "lease", "post").annotations.filter(
      (a) => a.level === "notice",
    );
    expect(notices.map((a) => a.message).join()).toMatch(/starts no other workflow/);
  });
});

describe("GitHub's limits and clock", () => {
  it("a secondary limit is waited for, and the work is not lost (C38)", async () => {
    on.github.faults.next(
      { kind: "graphql", operation: "createCommitOnBranch" },
      { kind: "secondary-limit", retryAfter: 1 },
    );
    const done = await on.run(leased(commitStep()));
    expect(done.conclusion).toBe("success");
    expect(await on.events("blog")).toEqual(["acquired", "pushed", "released"]);
  });

  it("a runner whose clock is 20 minutes ahead does not take a lease that GitHub's clock says is held (C44)", async () => {
    const first = on.start(leased(commitStep("posts/2.md", waits()), { ttl: "10m" }, "contents: write"));
    await first.seen("ready");
    // All runners' clocks are now 20 minutes ahead of GitHub's.
    on.github.clock.advance(-20 * 60_000);
    const second = await on.run(leased(commitStep("posts/3.md"), { ttl: "10m" }, "contents: write"));
    expect(second.job("write").outputs.outcome).toBe("skipped_overlap");
    writeFileSync(go, "");
    expect((await first.done).conclusion).toBe("success");
  });

  it("a job that waited for hours before it acquires works on the branch as it is then (C15)", async () => {
    const yaml = leased(commitStep("posts/9.md")).replace(
      "      - uses: actions/checkout@v7",
      `      - run: ${waits()}\n      - uses: actions/checkout@v7\n        with: { ref: main }`,
    );
    const late = on.start(yaml);
    await late.seen("ready");
    await on.github.commit("main", { "posts/8.md": "moved on" }, "moved on");
    on.github.clock.advance(6 * 3_600_000);
    writeFileSync(go, "");
    expect((await late.done).conclusion).toBe("success");
    expect((await on.github.log("refs/heads/main")).slice(0, 2).map((c) => c.message.trim())).toEqual([
      "article posts/9.md",
      "moved on",
    ]);
  });
});

describe("the store of choice", () => {
  it("may be plain git, without the API", async () => {
    const done = await on.run(leased(commitStep(), { store: "git" }));
    expect(done.conclusion).toBe("success");
    expect(await on.events("blog")).toEqual(["acquired", "pushed", "released"]);
    expect(
      on.github.requests.some(
        (r) => r.operation === "createCommitOnBranch" || r.fields?.includes("createCommitOnBranch"),
      ),
    ).toBe(false);
  });
});

describe("input", () => {
  it.each([
    ["ttl", "soon", /Input "ttl": "soon" is not a duration\. Good ones: 90s, 15m, 1h30m/],
    ["push", "yes", /Input "push": "yes" is neither true nor false/],
    ["on-overlap", "queue", /Input "on-overlap": "queue" is not one of skip, wait, fail/],
    ["lease", "../x", /lease name "\.\.\/x"/],
    ["repository", "blog", /Input "repository": "blog" is not OWNER\/NAME/],
    ["branch", "a..b", /branch name "a\.\.b"/],
    ["on-moved", "regenerate", /input "regenerate" is empty/],
  ])("%s: %s is refused before anything is written", async (name, value, words) => {
    const done = await on.run(leased(commitStep(), { [name]: value }));
    const lease = stepOf(done.job("write"), "lease");
    expect(lease.conclusion).toBe("failure");
    expect(lease.annotations[0]?.message).toMatch(words);
    expect(on.github.requests.filter((r) => r.kind !== "git")).toEqual([]);
  });

  it("no branch to push to, since the run is for a tag (C40)", async () => {
    await on.github.repository().force("refs/tags/v1", await main());
    const done = await on.run(leased(commitStep()), { github: { ref: "refs/tags/v1" } });
    expect(stepOf(done.job("write"), "lease").annotations[0]?.message).toMatch(
      /Input "branch" is missing.*"refs\/tags\/v1"/,
    );
  });

  it("push without a checkout is found out before the lease is taken", async () => {
    const done = await on.run(leased(commitStep()).replace("      - uses: actions/checkout@v7\n", ""));
    expect(stepOf(done.job("write"), "lease").annotations[0]?.message).toMatch(
      /is not in a git clone. Put actions\/checkout before/,
    );
    expect(await on.github.tip("refs/heads/fencepost/lease/blog")).toBeNull();
  });

  it("no heartbeat warns (C22)", async () => {
    const done = await on.run(leased(commitStep(), { heartbeat: "false" }));
    expect(
      stepOf(done.job("write"), "lease")
        .annotations.map((a) => a.message)
        .join(),
    ).toMatch(/not renewed: a job that takes longer than 10m/);
    expect(done.conclusion).toBe("success");
  });
});

describe("secrets", () => {
  it("stand in no argument, file, record, log or summary", async () => {
    const search = [
      'coded=$(printf "x-access-token:%s" "$SECRET" | base64 -w0)',
      'pushed=$(printf "x-access-token:%s" "$PUSH" | base64 -w0)',
      // Among them the heartbeat's folder, and the files of state, outputs and environment of the steps before.
      `grep -rlaF -e "$SECRET" -e "$coded" -e "$PUSH" -e "$pushed" "$RUNNER_TEMP" "$GITHUB_WORKSPACE" > ${folder}/files || true`,
      `tr '\\0' '\\n' < /proc/$(echo "$FENCEPOST_PULSE" | grep -o '"pid":[0-9]*' | cut -d: -f2)/environ > ${folder}/heartbeat`,
      `grep -c "FENCEPOST_HEARTBEAT=" ${folder}/heartbeat`,
      `grep -F -e "$PUSH" ${folder}/heartbeat > ${folder}/shown || true`,
      `cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' > ${folder}/argv || true`,
    ].join("; ");
    const yaml = leased(commitStep("posts/2.md", search), { "push-token": "TOKEN" })
      .replace('"TOKEN"', "${{ steps.app.outputs.token }}")
      .replace(
        "      - uses: fencepost",
        "      - uses: actions/create-github-app-token@v3\n        id: app\n        with: { app-id: '1', private-key: x }\n      - uses: fencepost",
      )
      .replace(
        "  run: |",
        "  env:\n          SECRET: ${{ github.token }}\n          PUSH: ${{ steps.app.outputs.token }}\n        run: |",
      );
    const tokens: string[] = [];
    const run = on.start(yaml, {});
    const done = await run.done;
    expect(done.conclusion).toBe("success");
    for (const request of on.github.requests) tokens.push(JSON.stringify(request));
    const files = execFileSync("cat", [join(folder, "files")], { encoding: "utf8" })
      .trim()
      .split("\n");
    // Only what checkout leaves for git itself, which also shows that the search finds what is there.
    expect(files.map((file) => file.replace(/.*\//, ""))).toEqual([
      expect.stringMatching(/^git-credentials-/),
    ]);
    expect(readFileSync(join(folder, "heartbeat"), "utf8")).toMatch(/^FENCEPOST_HEARTBEAT=/m);
    expect(readFileSync(join(folder, "shown"), "utf8")).toBe("");
    const argv = execFileSync("cat", [join(folder, "argv")], { encoding: "utf8" });
    const everything = [
      argv,
      done.job("write").summary,
      JSON.stringify(stepOf(done.job("write"), "lease").outputs),
      ...done.job("write").steps.flatMap((s) => s.log),
      ...(await on.github.log("refs/heads/fencepost/lease/blog")).map((c) => c.message),
    ].join("\n");
    expect(everything).not.toMatch(/gh[sp]_[A-Za-z0-9]{20,}/);
    expect(everything).not.toMatch(/eC1hY2Nlc3MtdG9rZW46/);
  });
});
