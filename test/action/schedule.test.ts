// The slots of a schedule in jobs: those due since the last success, which the lease's record remembers.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { commitStep, type Hub, hub, leased } from "../support/hub.js";
import { type RunResult, stepOf } from "../support/runner/index.js";

const hour = 3_600_000;
const record = "refs/heads/fencepost/lease/blog";

let on: Hub;
let folder: string;
let go: string;
beforeEach(async () => {
  on = await hub();
  folder = mkdtempSync(join(tmpdir(), "fp-slots-"));
  go = join(folder, "go");
  // Half past, so that no slot begins while a test runs.
  const now = on.github.clock.now();
  on.github.clock.advance(Math.ceil(now / hour) * hour + hour / 2 - now);
});
afterEach(async () => {
  expect(on.github.violations).toEqual([]);
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

const say = `
- name: work
  id: work
  if: steps.lease.outputs.acquired == 'true'
  run: echo "slot is [$FENCEPOST_SLOT]"
`.trim();
const failing = `${say}\n- run: exit 3`;
const run = (inputs: Record<string, string | boolean> = {}, steps = say) =>
  on.run(leased(steps, { push: false, schedule: "0 * * * *", ...inputs }));
const outputs = (done: RunResult) => stepOf(done.job("write"), "lease").outputs;
const slots = (done: RunResult): { slot: string; key: string }[] => JSON.parse(outputs(done).slots ?? "");
/** The nominal time that many hours before the newest slot. */
const slotAt = (back = 0) =>
  new Date(Math.floor(on.github.clock.now() / hour) * hour - back * hour).toISOString();
const keyAt = (back = 0) => `0 * * * * UTC ${slotAt(back).slice(0, 16)}Z`;
const lastSuccess = async () => (await on.record(record)).slots;

describe("the first run ever", () => {
  it("works on the newest slot, with its key in the environment, and its success is on record", async () => {
    const done = await run();
    expect(done.conclusion).toBe("success");
    expect(outputs(done)).toMatchObject({ acquired: "true", outcome: "acquired", dropped: "0" });
    expect(slots(done)).toEqual([{ slot: slotAt(), key: keyAt() }]);
    expect(stepOf(done.job("write"), "work").log.join("\n")).toContain(`slot is [${keyAt()}]`);
    expect(await lastSuccess()).toEqual({ "0 * * * * UTC": slotAt() });
    // The success is in the write that releases.
    expect(await on.events("blog")).toEqual(["acquired", "released"]);
    expect(done.job("write").summary).toContain("| Slots done | ");
  });

  it("with a push, the success is in the push, and stays through the release", async () => {
    const done = await run({ push: true }, commitStep());
    expect(done.conclusion).toBe("success");
    expect(await on.events("blog")).toEqual(["acquired", "pushed", "released"]);
    const log = await on.github.log(record);
    const pushed = log[1]?.message ?? "";
    expect(JSON.parse(pushed.slice(pushed.indexOf("\n\n")))).toMatchObject({
      event: "pushed",
      slots: { "0 * * * * UTC": slotAt() },
    });
    expect(await lastSuccess()).toEqual({ "0 * * * * UTC": slotAt() });
  });

  it("with nothing to push, the slot is done as well", async () => {
    const done = await run({ push: true });
    expect(done.conclusion).toBe("success");
    expect(await lastSuccess()).toEqual({ "0 * * * * UTC": slotAt() });
  });
});

describe("a second firing for the same slot", () => {
  it("is nothing_due: green, the lease released at once, no work done", async () => {
    await run();
    const again = await run();
    expect(again.conclusion).toBe("success");
    expect(outputs(again)).toMatchObject({
      acquired: "false",
      outcome: "nothing_due",
      slots: "[]",
      dropped: "0",
    });
    expect(stepOf(again.job("write"), "work").conclusion).toBe("skipped");
    expect(again.job("write").summary).toMatch(/nothing\\_due.*Every slot of/);
    expect(await on.events("blog")).toEqual(["acquired", "released", "acquired", "released"]);
    expect(await lastSuccess()).toEqual({ "0 * * * * UTC": slotAt() });
  });

  it("has a slot again an hour later", async () => {
    await run();
    on.github.clock.advance(hour);
    const next = await run();
    expect(slots(next)).toEqual([{ slot: slotAt(), key: keyAt() }]);
  });

  it("while the first still works is an overlap, not a second run", async () => {
    const waits = `${say}\n- run: echo ready; until [ -f ${go} ]; do sleep 0.05; done`;
    const first = on.start(leased(waits, { push: false, schedule: "0 * * * *" }));
    await first.seen("ready");
    expect(outputs(await run())).toMatchObject({ acquired: "false", outcome: "skipped_overlap" });
    writeFileSync(go, "");
    expect((await first.done).conclusion).toBe("success");
    expect(outputs(await run())).toMatchObject({ outcome: "nothing_due" });
  });

  it("of another schedule under the same lease is another slot", async () => {
    await run();
    const other = await run({ schedule: "*/30 * * * *" });
    expect(outputs(other)).toMatchObject({ acquired: "true" });
    expect(Object.keys((await lastSuccess()) as object).sort()).toEqual([
      "*/30 * * * * UTC",
      "0 * * * * UTC",
    ]);
  });
});

describe("a slot whose job did not succeed", () => {
  it("stays due", async () => {
    const failed = await run({}, failing);
    expect(failed.conclusion).toBe("failure");
    expect(await lastSuccess()).toBeUndefined();
    expect(failed.job("write").summary).toContain("Slots that stay due");
    expect(slots(await run())).toEqual([{ slot: slotAt(), key: keyAt() }]);
  });

  it("stays due when the push is refused", async () => {
    on.github.protect({ ref: "refs/heads/main", rule: "GH013", bypass: ["app"] });
    const failed = await run({ push: true }, commitStep());
    expect(failed.conclusion).toBe("failure");
    expect(await lastSuccess()).toBeUndefined();
  });
});

describe("after a week without a machine, 168 slots are due", () => {
  beforeEach(async () => {
    await run();
    on.github.clock.advance(168 * hour);
  });

  it("with max-backfill 1: one run for the newest, 167 dropped and counted, and nothing left", async () => {
    const done = await run();
    expect(done.conclusion).toBe("success");
    expect(slots(done)).toEqual([{ slot: slotAt(), key: keyAt() }]);
    expect(outputs(done).dropped).toBe("167");
    expect(stepOf(done.job("write"), "lease").log.join("\n")).toMatch(
      /168 slots are due; 167 older ones are dropped/,
    );
    expect(done.job("write").summary).toContain("| Slots dropped | 167 |");
    expect(outputs(await run())).toMatchObject({ outcome: "nothing_due" });
  });

  it("with max-backfill 10: ten, the oldest of them first, one key each", async () => {
    const done = await run({ "max-backfill": "10" });
    expect(slots(done)).toEqual(
      Array.from({ length: 10 }, (_, i) => ({ slot: slotAt(9 - i), key: keyAt(9 - i) })),
    );
    expect(outputs(done).dropped).toBe("158");
    // Ten keys are no one key.
    expect(stepOf(done.job("write"), "work").log.join("\n")).toContain("slot is []");
    expect(await lastSuccess()).toEqual({ "0 * * * * UTC": slotAt() });
    expect(outputs(await run({ "max-backfill": "10" }))).toMatchObject({ outcome: "nothing_due" });
  });

  it("that failed are due again, all 168", async () => {
    await run({}, failing);
    const done = await run();
    expect(outputs(done).dropped).toBe("167");
  });
});

it("a timezone is the schedule's: nine in Tokyo is midnight in UTC", async () => {
  const done = await run({ schedule: "0 9 * * *", timezone: "Asia/Tokyo" });
  expect(slots(done)[0]?.slot).toMatch(/T00:00:00\.000Z$/);
  expect(slots(done)[0]?.key).toMatch(/^0 9 \* \* \* Asia\/Tokyo \d{4}-\d\d-\d\dT00:00Z$/);
});

describe("inputs that make no sense are refused before anything is written", () => {
  for (const [what, inputs, message] of [
    ["a schedule of six fields", { schedule: "0 0 * * * *" }, /has 6 fields; it takes five/],
    ["an unknown zone", { timezone: "Mars/Olympus" }, /Mars\/Olympus/],
    ["max-backfill of none", { "max-backfill": "0" }, /whole number from 1 to 1000/],
    ["release: manual", { release: "manual" }, /slots are settled when this job ends/],
  ] as const)
    it(what, async () => {
      const done = await run(inputs);
      expect(done.conclusion).toBe("failure");
      expect(stepOf(done.job("write"), "lease").annotations[0]?.message).toMatch(message);
      expect(await on.github.tip(record)).toBeNull();
    });
});
