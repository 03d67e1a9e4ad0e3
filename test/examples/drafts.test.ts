// The workflows for drafts and for slots, run as they stand: on the bundled actions, a local runner and a local GitHub.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { draftRecordName } from "../../src/protocol/draft.js";
import { refOf } from "../../src/protocol/names.js";
import { post } from "../support/blog.js";
import { type Hub, type HubRun, hub } from "../support/hub.js";
import type { Conclusion, RunEvent, RunResult } from "../support/runner/index.js";
import { root } from "./workflows.js";

const hour = 3_600_000;
const slow = { timeout: 240_000 };
const push: RunEvent = { name: "push" };
const byHand: RunEvent = { name: "workflow_dispatch" };
const byClock: RunEvent = { name: "schedule", payload: { schedule: "13,43 * * * *" } };

const [one, two, three] = ["one", "two", "three"].map((name) => `content/posts/${name}.md`) as [
  string,
  string,
  string,
];

let local: Hub;
beforeEach(async () => {
  local = await hub();
});
afterEach(async () => {
  await local.close();
  expect(local.github.violations).toEqual([]);
});

describe("drafts.yml", () => {
  test("a draft that is pushed is published, without anything else", slow, async () => {
    await write({ [one]: post("one") });
    const result = await run("drafts.yml", push);
    expect(ends(result)).toEqual({ sweep: ["success"], publish: ["success"] });
    expect(await published()).toEqual([one]);
    expect(await file(one)).toBe(post("one").replace("draft: true", "draft: false"));
    expect(await draft(one)).toMatchObject({ state: "published", token: 1, attempts: 1 });
  });

  test("three drafts in one push are three articles", slow, async () => {
    await write({ [one]: post("one"), [two]: post("two"), [three]: post("three") });
    const result = await run("drafts.yml", push);
    expect(ends(result)).toEqual({ sweep: ["success"], publish: ["success", "success", "success"] });
    expect((await published()).sort()).toEqual([one, three, two]);
    for (const path of [one, two, three]) expect(await draft(path)).toMatchObject({ state: "published" });
  });

  test("what an event forgot the schedule publishes, once it is old enough", slow, async () => {
    await writeEarlier({ [one]: post("forgotten") });
    await write({ [two]: post("just pushed") });
    expect(ends(await run("drafts.yml", byClock))).toEqual({ sweep: ["success"], publish: ["success"] });
    expect(await published()).toEqual([one]);
  });

  test("with nothing to do it does nothing, and succeeds", slow, async () => {
    await write({
      [one]: post("later", "date: 2999-01-01\n"),
      [two]: "---\ntitle: done\n---\ndraft: true\n",
    });
    for (const event of [push, byClock, byHand]) {
      const result = await run("drafts.yml", event);
      expect(ends(result)).toEqual({ sweep: ["success"], publish: ["skipped"] });
    }
    expect(await published()).toEqual([]);
  });

  test("a draft that fails waits, and the others are published", slow, async () => {
    // What YAML reads as true, and the script does not find.
    const odd = post("odd").replace("draft: true", 'draft: "true"');
    await write({ [one]: odd, [two]: post("two"), [three]: post("three") });
    const result = await run("drafts.yml", push);
    expect(legsOf(result, "publish").toSorted()).toEqual(["failure", "success", "success"]);
    expect((await published()).sort()).toEqual([three, two]);
    expect(await draft(one)).toMatchObject({ state: "pending", event: "failed", attempts: 1 });
    // It is not started again before its time.
    expect(ends(await run("drafts.yml", byHand))).toEqual({ sweep: ["success"], publish: ["skipped"] });
  });

  test("two runs for one push publish a draft once", slow, async () => {
    await write({ [one]: post("one") });
    const results = await Promise.all([run("drafts.yml", push), run("drafts.yml", byHand)]);
    expect(results.map(({ conclusion }) => conclusion)).toEqual(["success", "success"]);
    expect(await published()).toEqual([one]);
  });
});

describe("drafts-dispatch.yml and drafts-publish.yml", () => {
  beforeEach(() => {
    local.github.repository().runs.declare(".github/workflows/drafts-publish.yml", { inputs: ["draft"] });
  });

  test("one run for each draft, started once, and each publishes its own", slow, async () => {
    await write({ [one]: post("one"), [two]: post("two") });
    await run("drafts-dispatch.yml", push);
    const started = local.github.dispatches;
    expect(started.map(({ inputs }) => inputs.draft).sort()).toEqual([one, two]);
    expect(started.map(({ workflow }) => workflow)).toEqual([
      expect.stringContaining("drafts-publish.yml"),
      expect.stringContaining("drafts-publish.yml"),
    ]);
    await run("drafts-dispatch.yml", byClock);
    expect(local.github.dispatches).toHaveLength(2);
    for (const path of [one, two]) await publishOne(path);
    expect((await published()).sort()).toEqual([one, two]);
  });

  test("a draft that is published already is left alone", slow, async () => {
    await write({ [one]: post("one") });
    await publishOne(one);
    const again = await publishOne(one);
    const step = again.jobs[0]?.steps.find(({ id, stage }) => id === "draft" && stage === "main");
    expect(step?.outputs).toMatchObject({ acquired: "false", outcome: "not_pending" });
    expect(await published()).toEqual([one]);
  });

  async function publishOne(path: string): Promise<RunResult> {
    const result = await run("drafts-publish.yml", { name: "workflow_dispatch", inputs: { draft: path } });
    expect(ends(result)).toEqual({ publish: ["success"] });
    return result;
  }
});

test(
  "zenn.yml publishes what is due in Japanese time, and what has no date stays a draft",
  slow,
  async () => {
    const japan = (ms: number) =>
      new Date(Date.now() + 9 * hour + ms).toISOString().slice(0, 16).replace("T", " ");
    const article = (more: string) => `---\ntitle: "記事"\nemoji: "😸"\npublished: false\n${more}---\n本文\n`;
    await writeEarlier({
      "articles/due.md": article(`published_at: ${japan(-hour)}\n`),
      "articles/later.md": article(`published_at: ${japan(2 * hour)}\n`),
      "articles/idea.md": article(""),
    });
    await write({ "README.md": "Something newer\n" });
    expect(ends(await run("zenn.yml", byClock))).toEqual({ sweep: ["success"], publish: ["success"] });
    expect(ends(await run("zenn.yml", byClock))).toEqual({ sweep: ["success"], publish: ["skipped"] });
    expect(await published()).toEqual(["articles/due.md"]);
    expect(await file("articles/due.md")).toContain("published: true\n");
  },
);

describe("billing.yml", () => {
  const billed = async () => ((await file("billed.txt")) ?? "").trim().split("\n");
  const slot = (at: string) => `0 * * * * UTC 2026-11-${at}Z`;
  const outputs = (result: RunResult) =>
    result.jobs[0]?.steps.find(({ id, stage }) => id === "lease" && stage === "main")?.outputs;

  test("an hour is billed once, however often the schedule fires", slow, async () => {
    local.github.clock.set("2026-11-29T00:11:00Z");
    expect(ends(await run("billing.yml", byClock))).toEqual({ bill: ["success"] });
    const again = await run("billing.yml", byClock);
    expect(ends(again)).toEqual({ bill: ["success"] });
    expect(outputs(again)).toMatchObject({ acquired: "false", outcome: "nothing_due" });
    expect(await billed()).toEqual([slot("29T00:00")]);
  });

  test(
    "after twelve hours off the ten newest are billed, the oldest first, and two are dropped",
    slow,
    async () => {
      local.github.clock.set("2026-11-29T00:11:00Z");
      await run("billing.yml", byClock);
      local.github.clock.set("2026-11-29T12:11:00Z");
      expect(outputs(await run("billing.yml", byClock))).toMatchObject({ dropped: "2" });
      const hours = Array.from({ length: 10 }, (_, i) => slot(`29T${String(i + 3).padStart(2, "0")}:00`));
      expect(await billed()).toEqual([slot("29T00:00"), ...hours]);
      expect(await local.record("refs/heads/fencepost/lease/billing")).toMatchObject({
        slots: { "0 * * * * UTC": "2026-11-29T12:00:00.000Z" },
      });
    },
  );

  test("an hour whose job failed stays due under the same key", slow, async () => {
    local.github.clock.set("2026-11-29T00:11:00Z");
    await run("billing.yml", byClock);
    local.github.clock.set("2026-11-29T01:11:00Z");
    const before = await local.github.tip("main");
    const failing = readFileSync(join(root, "examples/billing.yml"), "utf8").replace(
      'git commit --message "Bill what was due"',
      "exit 1",
    );
    const failed = await local.run(failing, { event: byClock });
    expect(ends(failed)).toEqual({ bill: ["failure"] });
    expect(await local.github.tip("main")).toBe(before);
    await run("billing.yml", byClock);
    expect(await billed()).toEqual([slot("29T00:00"), slot("29T01:00")]);
  });
});

function run(example: string, event: RunEvent): Promise<RunResult> {
  return start(example, event).done;
}

function start(example: string, event: RunEvent): HubRun {
  return local.start(readFileSync(join(root, "examples", example), "utf8"), {
    event,
    github: { repository: "octo/blog" },
  });
}

/** Each job's conclusions, leg by leg. */
function ends(result: RunResult): Record<string, Conclusion[]> {
  const ids = [...new Set(result.jobs.map(({ id }) => id))];
  return Object.fromEntries(ids.map((id) => [id, legsOf(result, id)]));
}

function legsOf(result: RunResult, id: string): Conclusion[] {
  return result.legs(id).map(({ conclusion }) => conclusion);
}

async function write(files: Record<string, string>): Promise<void> {
  await local.github.commit("main", files, "Write");
}

/** Long enough ago that no event can still be on the way. */
async function writeEarlier(files: Record<string, string>): Promise<void> {
  const { clock } = local.github;
  clock.advance(-hour);
  await write(files);
  clock.advance(hour);
}

/** What was published, by the commits on main, the newest first. */
async function published(): Promise<string[]> {
  return (await local.github.log("main"))
    .map(({ message }) => /^Publish (.*)$/m.exec(message)?.[1])
    .filter((path) => path !== undefined);
}

function file(path: string): Promise<string | null> {
  return local.github.repository().file("main", path);
}

function draft(path: string): Promise<Record<string, unknown>> {
  return local.record(refOf("fencepost", draftRecordName(path)));
}
