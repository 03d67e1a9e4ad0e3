// `fencepost run --schedule`: each slot once, the newest after a gap, the rest counted.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { recordAt, rewrite } from "../support/blog.js";
import { leaseRef, type Sandbox, sandbox } from "../support/sandbox.js";

let box: Sandbox;
let log: string;
beforeEach(() => {
  box = sandbox();
  log = join(box.folder, "log");
});
afterEach(() => box.dispose());

const hour = 3_600_000;
const run = (options: string[] = [], script = `echo "$FENCEPOST_SLOT" >> ${log}`) =>
  box.cli([
    ...["run", "--lease", "hourly", "--store", box.origin, "--schedule", "0 * * * *", "--json", ...options],
    ...["--", "sh", "-c", script],
  ]);
const ran = () => readFileSync(log, "utf8").trim().split("\n");
const slots = () => recordAt(box, leaseRef("hourly")).slots as Record<string, string>;
const lastDone = (ago: number) => {
  const at = new Date(Math.floor(Date.now() / hour) * hour - ago).toISOString();
  rewrite(box, leaseRef("hourly"), { slots: { "0 * * * * UTC": at } });
};

describe("slots", () => {
  it("runs the newest one first ever, and nothing when cron fires twice", async () => {
    const first = await run();
    expect(JSON.parse(first.stdout)).toMatchObject({ outcome: "acquired", due: 1, dropped: 0 });
    const second = await run();
    expect(second.code).toBe(0);
    expect(JSON.parse(second.stdout)).toMatchObject({ outcome: "nothing_due", due: 0 });
    expect(ran()).toEqual([expect.stringMatching(/^0 \* \* \* \* UTC 20\d\d-\d\d-\d\dT\d\d:00Z$/)]);
  });

  it.each([
    [1, 167],
    [10, 158],
  ])("after a week off with 168 due: max-backfill %i runs as many and drops %i", async (most, dropped) => {
    await run([], "true");
    lastDone(168 * hour);
    const ended = await run(["--max-backfill", String(most)]);
    expect(JSON.parse(ended.stdout)).toMatchObject({ due: 168, dropped, left: [] });
    expect(ran()).toHaveLength(most);
    expect(ran()).toEqual([...ran()].sort());
    expect(JSON.parse((await run(["--max-backfill", String(most)])).stdout)).toMatchObject({
      outcome: "nothing_due",
    });
  });

  it("takes a year off as lightly", async () => {
    await run([], "true");
    lastDone(365 * 24 * hour);
    expect(JSON.parse((await run()).stdout)).toMatchObject({ due: 8760, dropped: 8759 });
  });

  it("stops at the first slot that fails; those before it are done, and it comes again", async () => {
    await run([], "true");
    lastDone(3 * hour);
    const script = `echo "$FENCEPOST_SLOT" >> ${log}; [ "$(wc -l < ${log})" -ne 2 ]`;
    const failed = await run(["--max-backfill", "5"], script);
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.stdout)).toMatchObject({
      due: 3,
      slots: [expect.any(String)],
      left: { length: 2 },
    });
    const again = JSON.parse((await run(["--max-backfill", "5"])).stdout);
    expect(again).toMatchObject({ due: 2, dropped: 0 });
    expect(ran()[2]).toBe(ran()[1]);
  });

  it("moves the last success in the very push of the slot", async () => {
    const clone = box.clone("a");
    const args = ["run", "--lease", "hourly", "--schedule", "0 * * * *", "--push", "main", "--json", "--"];
    const ended = await box.cli([...args, "git", "commit", "-q", "--allow-empty", "-m", "slot"], {
      cwd: clone,
    });
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "pushed", slots: { length: 1 } });
    const chain = box.git(box.origin, "log", "--format=%s%n%b", leaseRef("hourly"));
    const pushed = chain.slice(chain.indexOf(" pushed "));
    expect(pushed).toMatch(/"slots": \{\s+"0 \* \* \* \* UTC"/);
    // What was done stays on record through release and the next acquisition.
    expect(Object.keys(slots())).toEqual(["0 * * * * UTC"]);
    await box.cli(["run", "--lease", "hourly", "--", "true"], { cwd: clone });
    expect(Object.keys(slots())).toEqual(["0 * * * * UTC"]);
  });

  it("keeps the last success of each schedule of one lease apart", async () => {
    await run();
    const other = await box.cli([
      ...["run", "--lease", "hourly", "--store", box.origin, "--schedule", "30 9 * * *", "--timezone"],
      ...["Asia/Tokyo", "--json", "--", "true"],
    ]);
    expect(JSON.parse(other.stdout)).toMatchObject({ due: 1 });
    expect(Object.keys(slots()).sort()).toEqual(["0 * * * * UTC", "30 9 * * * Asia/Tokyo"]);
    expect(JSON.parse((await run()).stdout)).toMatchObject({ outcome: "nothing_due" });
  });

  it("says what is wrong with a schedule", async () => {
    for (const [args, words] of [
      [["--lease", "a", "--schedule", "* * *"], /has 3 fields; it takes five/],
      [["--lease", "a", "--max-backfill", "2"], /--max-backfill goes with --schedule/],
      [["--draft", "x", "--schedule", "* * * * *"], /keeps its last success in a lease/],
    ] as const) {
      const ended = await box.cli(["run", "--store", box.origin, ...args, "--", "true"]);
      expect([ended.code, ended.stderr]).toEqual([64, expect.stringMatching(words)]);
    }
  });
});
