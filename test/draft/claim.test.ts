// Claims of a draft on a store: one at a time, decided again after a conflict, and ended by their own claim only.
import { describe, expect, test } from "vitest";
import {
  type Claimed,
  type ClaimOptions,
  type ClaimResult,
  claimOnStore,
  keptDraft,
  publishedByMe,
  readDraftOn,
  redriveOnStore,
  settleOnStore,
} from "../../src/draft/claim.js";
import { keepAlive } from "../../src/lease/heartbeat.js";
import type { Ports } from "../../src/lease/lease.js";
import { draftRecordName } from "../../src/protocol/draft.js";
import { floorRecordName, raiseFloor } from "../../src/protocol/floor.js";
import { TokenRegressed } from "../../src/protocol/lease.js";
import type { SweepDraft } from "../../src/protocol/sweep.js";
import { claim, ports, ttl } from "../lease/ports.js";
import { faultyStore } from "../support/faulty-store.js";

const path = "posts/締切.md";
const blob = (letter = "a") => letter.repeat(40);
const tip = "c".repeat(40);
const draft = (letter?: string) => ({
  path,
  blob: blob(letter),
  reading: { state: "pending", due: null } as const,
  age: null,
});

function options(id: string, more: Partial<ClaimOptions> = {}): ClaimOptions {
  const look = async () => ({ draft: draft(), tip });
  return { draft: path, claim: claim(id), ttl, skew: 0, maxAttempts: 3, look, ...more };
}

async function take(on: Ports, id: string, more: Partial<ClaimOptions> = {}): Promise<Claimed> {
  const result = await claimOnStore(on, options(id, more));
  if (result.outcome !== "acquired") throw new Error(JSON.stringify(result));
  return result;
}

const word = (result: ClaimResult) => (result.outcome === "refused" ? result.standing.is : result.outcome);
const end = { maxAttempts: 3, backoff: { first: 0, most: 0 } };

describe("claiming", () => {
  test("of twenty at once exactly one wins, and the others name it", async () => {
    const on = ports();
    const all = Promise.all(Array.from({ length: 20 }, (_, i) => claimOnStore(on, options(`c${i}`))));
    await on.clock.advance(60_000);
    const words = (await all).map(word);
    expect(words.filter((each) => each === "acquired")).toHaveLength(1);
    expect(words.filter((each) => each === "held")).toHaveLength(19);
  });

  test("after a conflict it looks and decides again", async () => {
    const on = ports();
    let looks = 0;
    const racing = claimOnStore(
      on,
      options("slow", {
        look: async () => {
          if (looks++ === 0) await take(on, "fast");
          return { draft: draft(), tip };
        },
      }),
    );
    await on.clock.advance(5000);
    expect(word(await racing)).toBe("held");
    expect(looks).toBe(2);
  });

  /** Somebody edits the draft and another executor publishes that, at one of three moments of a claim. */
  async function published(on: Ports, moment: "before" | "between" | "after", stale: boolean) {
    const first = await take(on, "one");
    await settleOnStore(on, first.holding, { result: "failed", reason: "x" }, end);
    const shown = { draft: draft("a") as SweepDraft };
    let pending = true;
    const meanwhile = async (now: typeof moment) => {
      if (now !== moment || !pending) return;
      pending = false;
      const two = await take(on, "two", { look: async () => ({ draft: draft("b"), tip }) });
      await settleOnStore(on, two.holding, { result: "published", published: {} }, end);
      shown.draft = { ...draft("d"), reading: { state: "not_pending" } };
    };
    const early = { ...shown };
    await meanwhile("before");
    const late = claimOnStore(
      on,
      options("three", {
        look: async () => {
          await meanwhile("between");
          const seen = { draft: (stale ? early : shown).draft, tip };
          await meanwhile("after");
          return seen;
        },
      }),
    );
    return late;
  }

  test.each(["before", "between", "after"] as const)(
    "the tip is looked at after the record is read: a publish %s is noticed",
    async (moment) => {
      const on = ports();
      const late = published(on, moment, false);
      await on.clock.advance(60_000);
      expect(word(await late)).toBe("not_pending");
    },
  );

  test("twin: with a tip that was looked at earlier, what was published is claimed again", async () => {
    const on = ports();
    const late = published(on, "before", true);
    await on.clock.advance(60_000);
    expect(word(await late)).toBe("acquired");
  });

  test("a draft that is gone from the tip is absent", async () => {
    expect(
      word(await claimOnStore(ports(), options("one", { look: async () => ({ draft: null, tip }) }))),
    ).toBe("absent");
  });

  test("a holder whose run has finished is replaced at once; without that it is not", async () => {
    const on = ports();
    await take(on, "one");
    expect(word(await claimOnStore(on, options("two", { finished: async () => false })))).toBe("held");
    const next = await take(on, "two", { finished: async (holder) => holder.id === "claim-one" });
    expect(next).toMatchObject({
      reason: "finished",
      attempt: 2,
      holding: { token: 2, record: { lost: 1 } },
    });
  });

  test("a token that fell while it tried stops it", async () => {
    const on = ports();
    const first = await take(on, "one");
    await settleOnStore(on, first.holding, { result: "failed", reason: "x" }, end);
    const old = on.store.tip(draftRecordName(path));
    const again = await take(on, "two");
    await settleOnStore(on, again.holding, { result: "failed", reason: "x" }, end);
    let reads = 0;
    const store = {
      ...on.store,
      read: async (names: Parameters<typeof on.store.read>[0]) => {
        const answer = await on.store.read(names);
        return reads++ === 0 ? answer : { ...answer, records: [old, null] };
      },
      swap: async () => ({ outcome: "conflict" as const }),
    };
    const trying = claimOnStore(on.with(store), options("three")).catch((error) => error);
    await on.clock.advance(5000);
    expect(await trying).toBeInstanceOf(TokenRegressed);
  });

  test("the floor of pruned records counts", async () => {
    const on = ports();
    const raised = raiseFloor(null, 41, "nonce-floor-1");
    await on.store.swap([
      { name: floorRecordName, expected: null, next: { message: raised?.message ?? "" } },
    ]);
    expect((await take(on, "one")).holding.token).toBe(42);
  });
});

describe("a heartbeat", () => {
  test("keeps a draft beyond its TTL, and ends when somebody else has it", async () => {
    const on = ports();
    const { holding, sentAt } = await take(on, "one");
    const beats: string[] = [];
    const stop = new AbortController();
    keepAlive(
      { ...on, holding, sentAt, signal: stop.signal, onBeat: (beat) => beats.push(beat.event) },
      keptDraft,
    );
    for (let i = 0; i < 5; i++) {
      await on.clock.advance(ttl / 2);
      expect(word(await claimOnStore(on, options("two")))).toBe("held");
    }
    await take(on, "two", { finished: async () => true });
    await on.clock.advance(ttl);
    expect(beats.at(-1)).toBe("lost");
    expect(new Set(beats.slice(0, -1))).toEqual(new Set(["renewed"]));
    stop.abort();
  });

  test("takes a renewal whose reply was lost for what it is", async () => {
    const on = ports();
    const { holding, sentAt } = await take(on, "one");
    const faulty = on.with(faultyStore(on.store, on.clock, { swap: ["unavailable-after"] }));
    const beats: string[] = [];
    const stop = new AbortController();
    const onBeat = (beat: { event: string }) => beats.push(beat.event);
    keepAlive({ ...faulty, holding, sentAt, signal: stop.signal, onBeat }, keptDraft);
    await on.clock.advance(ttl / 2);
    expect(beats.slice(0, 2)).toEqual(["failing", "renewed"]);
    stop.abort();
  });
});

describe("settling", () => {
  test("each result leads where it should", async () => {
    const on = ports();
    const settle = async (result: Parameters<typeof settleOnStore>[2]) => {
      const { holding } = await take(on, "one", { maxAttempts: 9 });
      return (await settleOnStore(on, holding, result, { ...end, maxAttempts: 9 })).record;
    };
    expect(await settle({ result: "failed", reason: "a" })).toMatchObject({ state: "pending", reason: "a" });
    expect(await settle({ result: "unchanged" })).toMatchObject({ event: "failed", attempts: 2 });
    expect(await settle({ result: "cancelled" })).toMatchObject({ event: "released", lost: 0 });
    expect(await settle({ result: "lost", reason: "b" })).toMatchObject({ event: "lost", lost: 1 });
    expect(await settle({ result: "published", published: {} })).toMatchObject({ state: "published" });
  });

  test("by anyone but the current claim it changes nothing", async () => {
    const on = ports();
    const { holding } = await take(on, "one");
    await take(on, "two", { finished: async () => true });
    const before = on.store.tip(draftRecordName(path))?.oid;
    const result = await settleOnStore(on, holding, { result: "published", published: {} }, end);
    expect(result).toMatchObject({ outcome: "not-mine", record: { token: 2 } });
    expect(on.store.tip(draftRecordName(path))?.oid).toBe(before);
  });

  test("writes over its own heartbeat's renewal", async () => {
    const on = ports();
    const { holding } = await take(on, "one");
    await keptDraft.renew(on, holding, {}, holding);
    const result = await settleOnStore(on, holding, { result: "failed", reason: "x" }, end);
    expect(result.outcome).toBe("written");
  });

  test("a publish from inside the command counts for the claim that made it, and for no other", async () => {
    const on = ports();
    const { holding } = await take(on, "one");
    const { record } = await settleOnStore(on, holding, { result: "published", published: {} }, end);
    expect(publishedByMe(record, holding)).toBe(true);
    expect(publishedByMe(record, { token: 1, claim: claim("two") })).toBe(false);
  });
});

test("redriving takes a dead draft only, and at once", async () => {
  const on = ports();
  const ask = { draft: path, by: "mona", reason: "ok" };
  expect(await redriveOnStore(on, ask)).toEqual({ outcome: "unknown" });
  const { holding } = await take(on, "one");
  expect((await redriveOnStore(on, ask)).outcome).toBe("not_dead");
  await settleOnStore(on, holding, { result: "failed", reason: "x" }, { maxAttempts: 1 });
  expect(await redriveOnStore(on, ask)).toEqual({ outcome: "redriven", token: 1 });
  expect((await readDraftOn(on.store, path))?.record).toMatchObject({ state: "pending", attempts: 0 });
  expect((await take(on, "two")).holding.token).toBe(2);
});
