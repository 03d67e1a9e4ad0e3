// A sweep's effects on a store: only over the very records that its plan saw, so that two at once are harmless.
import { describe, expect, test } from "vitest";
import { claimOnStore, readDraftOn, settleOnStore } from "../../src/draft/claim.js";
import { planOnStore, type SweepOptions, sweep } from "../../src/draft/sweep.js";
import type { Ports } from "../../src/lease/lease.js";
import { draftRecordName } from "../../src/protocol/draft.js";
import { floorRecordName, readFloor } from "../../src/protocol/floor.js";
import type { SweepDraft } from "../../src/protocol/sweep.js";
import { type Store, StoreRefused } from "../../src/store/store.js";
import { claim, ports, type TestPorts, ttl } from "../lease/ports.js";

const tip = "c".repeat(40);
const day = 86_400_000;

function draft(path: string, more: Partial<SweepDraft> = {}): SweepDraft {
  return { path, blob: "a".repeat(40), reading: { state: "pending", due: null }, age: null, ...more };
}
const many = (n: number) =>
  Array.from({ length: n }, (_, i) => draft(`posts/${String(i).padStart(2, "0")}.md`));

function options(drafts: SweepDraft[], more: Partial<SweepOptions> = {}): SweepOptions {
  return {
    find: async () => ({ tip, drafts }),
    matches: (path) => path.startsWith("posts/"),
    trigger: "clock",
    maxStart: 3,
    maxAttempts: 3,
    skew: 0,
    remember: true,
    ...more,
  };
}

async function take(on: Ports, which: SweepDraft, id: string) {
  const look = async () => ({ draft: which, tip });
  const ask = { draft: which.path, claim: claim(id), ttl, skew: 0, maxAttempts: 3, look };
  const result = await claimOnStore(on, ask);
  if (result.outcome !== "acquired") throw new Error(JSON.stringify(result));
  return result.holding;
}

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0);
const state = async (on: TestPorts, path: string) => (await readDraftOn(on.store, path))?.record;

describe("starts", () => {
  test("are remembered, so that the next sweep goes on with the others until they are stale", async () => {
    const on = ports();
    const rounds: string[][] = [];
    for (let i = 0; i < 3; i++)
      rounds.push((await sweep(on, options(many(8)))).started.map(({ path }) => path.slice(6, 8)));
    expect(rounds).toEqual([
      ["00", "01", "02"],
      ["03", "04", "05"],
      ["06", "07"],
    ]);
    expect((await sweep(on, options(many(8)))).plan.counts).toMatchObject({ already_started: 8 });
    await on.clock.advance(20 * 60_000 + 1000);
    expect((await sweep(on, options(many(8)))).started).toHaveLength(3);
  });

  test("of two sweeps at once are never the same, and the headings of both add up", async () => {
    for (const n of [1, 2, 5, 8]) {
      const on = ports();
      const swept = await Promise.all([1, 2].map(() => sweep(on, options(many(n), { maxStart: n }))));
      const paths = swept.flatMap(({ started }) => started.map(({ path }) => path));
      expect(new Set(paths).size).toBe(paths.length);
      expect(paths.length).toBe(n);
      for (const { plan } of swept) expect(sum(plan.counts)).toBe(n);
    }
  });

  test("twin: a sweep that does not swap on what it saw starts the same drafts again", async () => {
    const on = ports();
    const blind: Store = {
      ...on.store,
      swap: async (changes) => {
        const { records } = await on.store.read(changes.map(({ name }) => name));
        return on.store.swap(changes.map((each, i) => ({ ...each, expected: records[i]?.oid ?? null })));
      },
    };
    const swept = await Promise.all([1, 2].map(() => sweep(on.with(blind), options(many(3)))));
    expect(swept.map(({ started }) => started.length)).toEqual([3, 3]);
  });

  test("never exceed max-start, and with 0 are none", async () => {
    const on = ports();
    for (const maxStart of [0, 1, 2])
      expect((await sweep(on, options(many(5), { maxStart }))).started.length).toBeLessThanOrEqual(maxStart);
    await expect(sweep(on, options(many(1), { maxStart: -1 }))).rejects.toThrow(/max-start/);
  });

  test("of a sweep that works them itself leave no record", async () => {
    const on = ports();
    expect((await sweep(on, options(many(2), { remember: false }))).started).toHaveLength(2);
    expect(await state(on, "posts/00.md")).toBeUndefined();
  });
});

describe("repairs", () => {
  test("make the draft of an expired holder pending, and one whose attempts are used up dead", async () => {
    const on = ports();
    const [a, b] = many(2) as [SweepDraft, SweepDraft];
    await take(on, a, "one");
    for (let i = 0; i < 2; i++) {
      const holding = await take(on, b, "two");
      await settleOnStore(
        on,
        holding,
        { result: "failed", reason: "x" },
        { maxAttempts: 3, backoff: { first: 0, most: 0 } },
      );
    }
    await take(on, b, "two");
    await on.clock.advance(ttl + 1000);
    const swept = await sweep(on, options([a, b], { maxStart: 0 }));
    expect(swept).toMatchObject({ repaired: 2, conflicts: 0 });
    expect(await state(on, a.path)).toMatchObject({ state: "pending", lost: 1 });
    expect(await state(on, b.path)).toMatchObject({ state: "dead", attempts: 3 });
    expect(swept.plan.deadLetters).toMatchObject([{ path: b.path, fresh: true }]);
  });

  test("are skipped over a record that changed meanwhile; the holder that came back keeps its draft", async () => {
    const on = ports();
    const [a] = many(1) as [SweepDraft];
    await take(on, a, "one");
    await on.clock.advance(ttl + 1000);
    const find = async () => {
      // Between the sweep's read and its write another executor claims.
      await take(on, a, "two");
      return { tip, drafts: [a] };
    };
    const swept = await sweep(on, options([a], { maxStart: 0, find }));
    expect(swept).toMatchObject({ repaired: 0, conflicts: 1 });
    expect(await state(on, a.path)).toMatchObject({ state: "held", token: 2 });
  });

  test("of a holder whose run has finished need no waiting", async () => {
    const on = ports();
    const [a] = many(1) as [SweepDraft];
    await take(on, a, "one");
    const swept = await sweep(
      on,
      options([a], { maxStart: 0, finished: async ({ id }) => id === "claim-one" }),
    );
    expect(swept.repaired).toBe(1);
  });
});

describe("pruning", () => {
  async function old(on: TestPorts): Promise<SweepDraft> {
    const [a] = many(1) as [SweepDraft];
    for (let i = 0; i < 2; i++) {
      const holding = await take(on, a, "one");
      const result =
        i === 0
          ? ({ result: "failed", reason: "x" } as const)
          : ({ result: "published", published: {} } as const);
      await settleOnStore(on, holding, result, { maxAttempts: 3, backoff: { first: 0, most: 0 } });
    }
    await on.clock.advance(31 * day);
    return a;
  }

  test("removes an old record and raises the floor in the same swap; tokens go on above it", async () => {
    const on = ports();
    const a = await old(on);
    expect((await sweep(on, options([]))).pruned).toBe(1);
    expect(on.store.tip(draftRecordName(a.path))).toBeNull();
    expect(readFloor(on.store.tip(floorRecordName))?.record.token).toBe(2);
    expect((await take(on, a, "two")).token).toBe(3);
  });

  test("leaves records alone that are outside of the globs, or still needed", async () => {
    const on = ports();
    const a = await old(on);
    expect((await sweep(on, options([], { matches: () => false }))).pruned).toBe(0);
    expect((await sweep(on, options([a]))).plan.counts).toMatchObject({ published: 1 });
    expect(on.store.tip(draftRecordName(a.path))).not.toBeNull();
  });

  test("that the server forbids is a problem that is said, and no more", async () => {
    const on = ports();
    await old(on);
    const store: Store = {
      ...on.store,
      swap: async (changes) => {
        if (changes.some(({ next }) => next === null)) throw new StoreRefused("deletion prohibited");
        return on.store.swap(changes);
      },
    };
    const swept = await sweep(on.with(store), options([draft("posts/new.md")]));
    expect(swept.problems).toEqual([expect.stringMatching(/stay: deletion prohibited/)]);
    expect(swept.started).toHaveLength(1);
  });
});

test("a record that cannot be read is its own draft's failure", async () => {
  const on = ports();
  const [a, b] = many(2) as [SweepDraft, SweepDraft];
  const name = draftRecordName(a.path);
  await on.store.swap([{ name, expected: null, next: { message: "rubbish" } }]);
  const swept = await sweep(on, options([a, b]));
  expect(swept.plan.counts).toMatchObject({ unreadable: 1, started: 1 });
  expect(swept.started).toEqual([b]);
});

test("a plan alone changes nothing", async () => {
  const on = ports();
  const [a] = many(1) as [SweepDraft];
  await take(on, a, "one");
  await on.clock.advance(ttl + 1000);
  const before = on.store.tip(draftRecordName(a.path))?.oid;
  expect((await planOnStore(on.store, options([a]))).counts).toMatchObject({ started: 1 });
  expect(on.store.tip(draftRecordName(a.path))?.oid).toBe(before);
});
