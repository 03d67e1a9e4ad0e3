// Drafts in jobs: claimed at the tip, published with the push, tried again, set aside; on the bundles in dist/.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { draftRecordName } from "../../src/protocol/draft.js";
import { refOf } from "../../src/protocol/names.js";
import { statsRecordName } from "../../src/protocol/stats.js";
import { post } from "../support/blog.js";
import { type Hub, hub } from "../support/hub.js";
import { type RunResult, stepOf } from "../support/runner/index.js";

let on: Hub;
let folder: string;
let go: string;
beforeEach(async () => {
  on = await hub();
  folder = mkdtempSync(join(tmpdir(), "fp-draft-"));
  go = join(folder, "go");
  await write("posts/a.md", post("A"));
});
afterEach(async () => {
  expect(on.github.violations).toEqual([]);
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

const write = (path: string, text: string) => on.github.commit("main", { [path]: text }, `write ${path}`);
const main = () => on.github.tip("refs/heads/main");
const ref = (path = "posts/a.md") => refOf("fencepost", draftRecordName(path));
const draft = (path?: string) => on.record(ref(path));
const waits = () => `echo ready; until [ -f ${go} ]; do sleep 0.05; done`;
const minutes = (n: number) => on.github.clock.advance(n * 60_000);
const articles = async () =>
  (await on.github.log("refs/heads/main"))
    .map((commit) => commit.message.trim())
    .filter((line) => line.startsWith("publish "));

const publishing = `git config user.name agent
    git config user.email agent@example.org
    sed -i "s/draft: true/draft: false/" "$FENCEPOST_DRAFT"
    git commit -qam "publish $FENCEPOST_DRAFT"`;

interface Shape {
  path?: string;
  inputs?: Record<string, string>;
  /** Lines of the script, before what publishes. */
  before?: string;
  work?: string;
  after?: string;
  permissions?: string;
  job?: string;
}

function workflow({
  path = "posts/a.md",
  inputs = {},
  before = ":",
  work = publishing,
  ...more
}: Shape = {}) {
  const given = Object.entries({ draft: path, convention: "hugo", push: "true", ...inputs }).map(
    ([name, value]) => `          ${name}: ${value.startsWith("${{") ? value : JSON.stringify(value)}`,
  );
  return `
name: agent
on: workflow_dispatch
permissions:
  ${more.permissions ?? "contents: write\n  actions: read"}
jobs:
  write:
    runs-on: ubuntu-latest
${more.job ?? ""}
    steps:
      - uses: actions/checkout@v7
      - uses: fencepost/fencepost@v1
        id: lease
        with:
${given.join("\n")}
      - name: work
        id: work
        if: steps.lease.outputs.acquired == 'true'
        run: |
          ${before}
          ${work.replace(/\n\s*/g, "\n          ")}
${more.after ?? ""}
`;
}

const run = (shape?: Shape) => on.run(workflow(shape));
const outputs = (done: RunResult) => stepOf(done.job("write"), "lease").outputs;
const warnings = (done: RunResult, stage: "main" | "post" = "post") =>
  stepOf(done.job("write"), "lease", stage)
    .annotations.filter((a) => a.level === "warning")
    .map((a) => a.message)
    .join("\n");

describe("a draft that is pending at the tip", () => {
  it("is published in the same atomic push, and its record says where", async () => {
    const done = await run();
    expect(done.conclusion).toBe("success");
    expect(outputs(done)).toMatchObject({
      acquired: "true",
      outcome: "acquired",
      draft: "posts/a.md",
      attempt: "1",
      token: "1",
      lease: "",
    });
    expect(await articles()).toEqual(["publish posts/a.md"]);
    expect(await draft()).toMatchObject({
      state: "published",
      token: 1,
      attempts: 1,
      published: { "refs/heads/main": await main() },
    });
    const { summary } = done.job("write");
    expect(summary).toContain("### Draft `posts/a.md`");
    expect(summary).toMatch(/\*\*pushed\*\*/);
    expect(summary).toMatch(/\| Draft is \| published \|/);
    expect(await on.github.tip("refs/heads/fencepost/lease/agent")).toBeNull();
  });

  it("a job that was not asked to push has published it too", async () => {
    const before = await main();
    const done = await run({ inputs: { push: "false" }, work: "echo elsewhere" });
    expect(done.conclusion).toBe("success");
    expect(await main()).toBe(before);
    expect(await draft()).toMatchObject({ state: "published", attempts: 1, published: {} });
  });

  it("with a lease both are held, both move in the push, and the lease is released", async () => {
    const done = await run({ inputs: { lease: "blog" } });
    expect(done.conclusion).toBe("success");
    expect(outputs(done)).toMatchObject({ lease: "blog", draft: "posts/a.md", token: "1", attempt: "1" });
    expect(await on.events("blog")).toEqual(["acquired", "pushed", "released"]);
    expect(await draft()).toMatchObject({
      state: "published",
      published: { "refs/heads/main": await main() },
    });
    expect(done.job("write").summary).toContain("### Lease `blog`");
    expect(done.job("write").summary).toMatch(/\| Draft is \| published \|/);
  });

  it("outlives its TTL while the heartbeat renews it", async () => {
    const going = on.start(workflow({ inputs: { ttl: "10s" }, before: waits() }));
    await going.seen("ready");
    await new Promise((resolve) => setTimeout(resolve, 4500));
    expect(await draft()).toMatchObject({ event: "renewed", state: "held" });
    writeFileSync(go, "");
    expect((await going.done).conclusion).toBe("success");
    expect(await draft()).toMatchObject({ state: "published" });
  });
});

describe("a draft for which there is nothing to do", () => {
  it("published meanwhile: a stale checkout does not count, the tip does", async () => {
    const stale = await on.github.tip("refs/heads/main");
    await write("posts/a.md", post("A").replace("true", "false"));
    const yaml = workflow().replace(
      "actions/checkout@v7",
      `actions/checkout@v7\n        with: { ref: ${stale} }`,
    );
    const done = await on.run(yaml);
    expect(done.conclusion).toBe("success");
    expect(outputs(done)).toMatchObject({ acquired: "false", outcome: "not_pending", draft: "posts/a.md" });
    expect(stepOf(done.job("write"), "work").conclusion).toBe("skipped");
    expect(done.job("write").summary).toMatch(/not\\_pending/);
    expect(await on.github.tip(ref())).toBeNull();
  });

  it("pending at the tip, published in the checkout: it is claimed", async () => {
    await write("posts/a.md", post("A").replace("true", "false"));
    const stale = await main();
    await write("posts/a.md", post("A"));
    const yaml = workflow({ inputs: { push: "false" }, work: "grep -q 'draft: false' posts/a.md" });
    const done = await on.run(
      yaml.replace("actions/checkout@v7", `actions/checkout@v7\n        with: { ref: ${stale} }`),
    );
    expect(done.conclusion).toBe("success");
    expect(outputs(done)).toMatchObject({ acquired: "true" });
  });

  it("gone: not_pending, in a sentence; the lease that was taken for it is free again", async () => {
    const done = await run({ path: "posts/gone.md", inputs: { lease: "blog" } });
    expect(done.conclusion).toBe("success");
    expect(outputs(done)).toMatchObject({ acquired: "false", outcome: "not_pending" });
    expect(stepOf(done.job("write"), "lease").log.join("\n")).toMatch(
      /not_pending: the draft "posts\/gone.md": it is not at the tip of main\./,
    );
    expect(await on.events("blog")).toEqual(["acquired", "released"]);
  });

  it("due in the future: nothing_due, until it is", async () => {
    const due = new Date(on.github.clock.now() + 3_600_000).toISOString();
    await write("posts/a.md", post("A", `publishDate: ${due}\n`));
    const early = await run();
    expect(outputs(early)).toMatchObject({ acquired: "false", outcome: "nothing_due" });
    minutes(61);
    const done = await run();
    expect(outputs(done)).toMatchObject({ acquired: "true" });
    expect(await articles()).toHaveLength(1);
  });

  it("held by another run: skipped_overlap with who holds it; not a failure unless asked", async () => {
    const first = on.start(workflow({ before: waits() }));
    await first.seen("ready");
    const second = await run();
    expect(second.conclusion).toBe("success");
    expect(outputs(second)).toMatchObject({
      acquired: "false",
      outcome: "skipped_overlap",
      holder: `octo/blog run ${first.id}.1 (write)`,
    });
    expect(second.job("write").summary).toMatch(/skipped\\_overlap/);
    const counters = refOf("fencepost", statsRecordName("posts/a.md"));
    expect(await on.record(counters)).toMatchObject({ name: "posts/a.md", row: 1, token: 1 });
    const third = await run({ inputs: { "on-overlap": "fail" } });
    expect(third.conclusion).toBe("failure");
    expect(third.job("write").summary).toContain("2 runs in a row met this holder.");
    expect(await on.record(counters)).toMatchObject({ row: 2 });
    writeFileSync(go, "");
    expect((await first.done).conclusion).toBe("success");
    expect(await articles()).toHaveLength(1);
  });

  it("unreadable: that run fails with the parser's word, and nothing is written", async () => {
    await write("posts/a.md", "---\ntitle: [\ndraft: true\n---\n");
    const done = await run({ inputs: { lease: "blog" } });
    expect(done.conclusion).toBe("failure");
    expect(stepOf(done.job("write"), "lease").annotations[0]?.message).toMatch(
      /The draft "posts\/a.md" cannot be read: .*Correct its front matter on main/s,
    );
    expect(await on.events("blog")).toEqual(["acquired", "released"]);
    expect(await on.github.tip(ref())).toBeNull();
  });
});

describe("an attempt that fails", () => {
  it("waits with the reason and the run's link, and is tried again after that", async () => {
    const failed = on.start(workflow({ before: "exit 3" }));
    const first = await failed.done;
    expect(first.conclusion).toBe("failure");
    const record = await draft();
    expect(record).toMatchObject({
      state: "pending",
      event: "failed",
      attempts: 1,
      reason: "the job failed",
    });
    expect(record.run).toContain(`/actions/runs/${failed.id}/`);
    expect(Date.parse(String(record.notBefore))).toBeGreaterThan(on.github.clock.now() + 60_000);
    expect(first.job("write").summary).toMatch(/pending: the job failed\. Tried again after/);
    const early = await run();
    expect(early.conclusion).toBe("success");
    expect(outputs(early)).toMatchObject({ acquired: "false", outcome: "backing_off" });
    expect(early.job("write").summary).toMatch(/backing\\_off.*attempt 1 failed/);
    minutes(6);
    const again = await run();
    expect(outputs(again)).toMatchObject({ acquired: "true", attempt: "2", token: "2" });
    expect(await draft()).toMatchObject({ state: "published", attempts: 2 });
  });

  it("three times: dead, with a warning; edited: alive, and published", async () => {
    for (const attempt of [1, 2, 3]) {
      const failed = await run({ before: "exit 3" });
      expect(outputs(failed)).toMatchObject({ attempt: String(attempt) });
      if (attempt < 3) expect(warnings(failed)).not.toMatch(/dead/);
      else
        expect(warnings(failed)).toMatch(
          /dead: the draft "posts\/a.md".*after 3 attempts \(the job failed\)/,
        );
      minutes(60);
    }
    expect(await draft()).toMatchObject({ state: "dead", attempts: 3 });
    const idle = await run();
    expect(idle.conclusion).toBe("success");
    expect(outputs(idle)).toMatchObject({ acquired: "false", outcome: "dead" });
    expect(await articles()).toEqual([]);
    await write("posts/a.md", post("A, better"));
    const done = await run();
    expect(outputs(done)).toMatchObject({ acquired: "true", attempt: "1" });
    expect(await articles()).toEqual(["publish posts/a.md"]);
  });

  it("max-attempts says how many", async () => {
    const failed = await run({ before: "exit 3", inputs: { "max-attempts": "1" } });
    expect(warnings(failed)).toMatch(/dead/);
    expect(await draft()).toMatchObject({ state: "dead", attempts: 1 });
  });

  it("cancelled: pending, with the reason", async () => {
    const going = on.start(workflow({ before: waits() }));
    await going.seen("ready");
    going.cancel();
    await going.done;
    expect(await draft()).toMatchObject({
      state: "pending",
      event: "released",
      reason: "the job was cancelled",
    });
    expect(await articles()).toEqual([]);
  });

  it("nothing to push, although a push was asked for: a failed attempt", async () => {
    const done = await run({ work: "echo nothing" });
    expect(done.conclusion).toBe("failure");
    expect(
      stepOf(done.job("write"), "lease", "post")
        .annotations.map((a) => a.message)
        .join(),
    ).toMatch(/unchanged: .*nothing came out for the draft/);
    expect(await draft()).toMatchObject({
      state: "pending",
      event: "failed",
      reason: "it was to push, and there was nothing to push",
    });
  });
});

describe("an executor that is lost", () => {
  it("killed, and known to have finished: another one publishes at once", async () => {
    const going = on.start(workflow({ before: waits() }));
    await going.seen("ready");
    await going.kill();
    await going.done;
    expect(outputs(await run())).toMatchObject({ outcome: "skipped_overlap" });
    on.github.finishRun(going.id, "failure");
    const done = await run();
    expect(outputs(done)).toMatchObject({ acquired: "true", attempt: "2", token: "2" });
    expect(await draft()).toMatchObject({ state: "published", attempts: 2, lost: 1 });
    expect(await articles()).toHaveLength(1);
  });

  it("killed, and nobody may ask: another one publishes after the TTL", async () => {
    const permissions = "contents: write";
    const going = on.start(workflow({ before: waits(), permissions }));
    await going.seen("ready");
    await going.kill();
    await going.done;
    on.github.finishRun(going.id, "failure");
    expect(outputs(await run({ permissions }))).toMatchObject({ outcome: "skipped_overlap" });
    minutes(16);
    expect(outputs(await run({ permissions }))).toMatchObject({ acquired: "true", attempt: "2" });
    expect(await articles()).toHaveLength(1);
  });

  it("too late: its push is refused, and the other one's article is the only one (S5)", async () => {
    const late = on.start(workflow({ before: waits() }));
    await late.seen("ready");
    minutes(20);
    const next = await run({ permissions: "contents: write" });
    expect(outputs(next)).toMatchObject({ token: "2", attempt: "2" });
    const after = await main();
    writeFileSync(go, "");
    const done = await late.done;
    expect(done.conclusion).toBe("failure");
    const post = stepOf(done.job("write"), "lease", "post");
    expect(post.annotations.map((a) => a.message).join()).toMatch(
      /superseded: .*token 1 no longer holds the draft "posts\/a.md"/,
    );
    expect(post.summaries.join()).toMatch(/another run took the draft over/);
    expect(await main()).toBe(after);
    expect(await draft()).toMatchObject({ state: "published", token: 2 });
    expect(await articles()).toHaveLength(1);
  });

  it("told by its heartbeat that its draft is another's: nothing is pushed, and the lease is released", async () => {
    const late = on.start(workflow({ before: waits(), inputs: { ttl: "10s", lease: "one" } }));
    await late.seen("ready");
    minutes(1);
    const next = await run({ permissions: "contents: write", inputs: { lease: "two" } });
    expect(outputs(next)).toMatchObject({ token: "1", attempt: "2" });
    await new Promise((resolve) => setTimeout(resolve, 4500));
    writeFileSync(go, "");
    const done = await late.done;
    expect(done.conclusion).toBe("failure");
    expect(
      stepOf(done.job("write"), "lease", "post")
        .annotations.map((a) => a.message)
        .join(),
    ).toMatch(/superseded: the draft "posts\/a.md" is no longer ours/);
    expect((await on.events("one")).at(-1)).toBe("released");
    expect(await articles()).toHaveLength(1);
  });
});

describe("a push in the middle of the job", () => {
  const push = "      - uses: fencepost/fencepost/push@v1\n        id: early\n";

  for (const inputs of [{}, { lease: "blog" }] as Record<string, string>[])
    it(`publishes the draft${inputs.lease ? " and moves the lease" : ""}, and the post step does not fail on it`, async () => {
      const done = await run({ after: push, inputs: { ...inputs, push: "true" } });
      expect(stepOf(done.job("write"), "early").outputs).toMatchObject({ outcome: "pushed" });
      expect(done.conclusion).toBe("success");
      expect(await draft()).toMatchObject({ state: "published", attempts: 1 });
      expect(await articles()).toHaveLength(1);
      if (inputs.lease) expect(await on.events("blog")).toEqual(["acquired", "pushed", "released"]);
    });

  it("is all that is pushed where the action was not asked to", async () => {
    const done = await run({ after: push, inputs: { push: "false" } });
    expect(done.conclusion).toBe("success");
    expect(await draft()).toMatchObject({
      state: "published",
      published: { "refs/heads/main": await main() },
    });
  });

  it("counts, though the job fails after it, and though its heartbeat goes on", async () => {
    const after = `${push}      - run: sleep 4.5; exit 3\n`;
    const done = await run({ after, inputs: { ttl: "10s" } });
    expect(done.conclusion).toBe("failure");
    expect(await draft()).toMatchObject({ state: "published" });
    const post = stepOf(done.job("write"), "lease", "post");
    expect(post.annotations.filter((a) => a.level === "warning" || a.level === "error")).toEqual([]);
  });

  it("is refused after a takeover, for the draft's sake alone", async () => {
    const late = on.start(
      workflow({ before: waits(), after: push, inputs: { lease: "one", push: "false" } }),
    );
    await late.seen("ready");
    // Only the draft goes to another run.
    minutes(20);
    await run({ permissions: "contents: write", inputs: { lease: "two" } });
    writeFileSync(go, "");
    const done = await late.done;
    expect(stepOf(done.job("write"), "early").outputs).toMatchObject({ outcome: "superseded" });
    expect(await articles()).toHaveLength(1);
  });
});

it("three drafts in a matrix: three articles", async () => {
  await on.github.commit("main", { "posts/b.md": post("B"), "posts/c.md": post("C") }, "write two");
  const job = "    strategy:\n      matrix:\n        draft: [posts/a.md, posts/b.md, posts/c.md]";
  const done = await on.run(workflow({ path: "${{ matrix.draft }}", job }));
  expect(done.conclusion).toBe("success");
  expect((await articles()).sort()).toEqual([
    "publish posts/a.md",
    "publish posts/b.md",
    "publish posts/c.md",
  ]);
  for (const path of ["posts/a.md", "posts/b.md", "posts/c.md"])
    expect(await draft(path)).toMatchObject({ state: "published", attempts: 1 });
});

describe("inputs that make no sense are refused before anything is written", () => {
  for (const [what, inputs, message] of [
    ["no convention", { convention: "" }, /Input "convention" is empty.*One of: folder/],
    ["an unknown convention", { convention: "wordpress" }, /"wordpress" is not known/],
    ["custom without a predicate", { convention: "custom" }, /input "predicate" is empty/],
    ["a path out of the repository", { draft: "../x.md" }, /is not a path from the top/],
    ["a convention without a draft", { draft: "" }, /go with input "draft"/],
    ["release: manual", { release: "manual" }, /a draft is settled when this job ends/],
    ["waiting for a draft", { "on-overlap": "wait" }, /is not waited for/],
    ["a schedule as well", { schedule: "0 * * * *" }, /do not go together/],
  ] as const)
    it(what, async () => {
      const done = await run({ inputs });
      expect(done.conclusion).toBe("failure");
      expect(stepOf(done.job("write"), "lease").annotations[0]?.message).toMatch(message);
      expect(await on.github.tip(ref())).toBeNull();
    });
});
