// Acquiring: at once, after waiting, after the TTL, against others, and never from a record that went back.
import { describe, expect, test } from "vitest";
import { type AcquireResult, acquireLease, type Held, succeedLease } from "../../src/lease/lease.js";
import { leaseMessage } from "../../src/protocol/lease.js";
import { faultyStore } from "../support/faulty-store.js";
import { ask, claim, hold, lease, leaseRecord, ports, ttl } from "./ports.js";

describe("a free lease", () => {
  test("is acquired with token 1 when it is new, and the store says by whom", async () => {
    const on = ports();
    const { holding, reason } = await hold(on, "one");
    expect({ token: holding.token, reason }).toEqual({ token: 1, reason: "new" });
    expect(on.record()).toMatchObject({
      state: "held",
      event: "acquired",
      token: 1,
      holder: claim("one"),
      ttl,
    });
  });

  test("is acquired with the next token after a release", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    await succeedLease(on, holding, "released");
    const next = await hold(on, "two");
    expect({ token: next.holding.token, reason: next.reason }).toEqual({ token: 2, reason: "released" });
  });

  test("counts its time from before the request, however long the store takes", async () => {
    const on = ports();
    const slow = on.with(
      faultyStore(on.store, on.clock, { read: [{ delay: 5000 }], swap: [{ delay: 7000 }] }),
    );
    const before = on.clock.read();
    const acquired = hold(slow, "one");
    await on.clock.advance(12_000);
    expect((await acquired).sentAt).toEqual(before);
  });
});

describe("a held lease", () => {
  test("is skipped by one who does not wait, who learns by whom and until when", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    await on.clock.advance(60_000);
    const result = await acquireLease(on, ask("two"));
    expect(result).toMatchObject({
      outcome: "skipped_overlap",
      waitedFor: 0,
      seen: { oid: holding.oid, record: { holder: claim("one") } },
      expiresAt: holding.writtenAt + ttl,
      now: on.clock.read().wall,
    });
    expect(on.seen()?.oid).toBe(holding.oid);
  });

  test("is not taken one millisecond before its TTL has passed, and is at that moment", async () => {
    const on = ports();
    await hold(on, "one");
    await on.clock.advance(ttl - 1);
    expect((await acquireLease(on, ask("two"))).outcome).toBe("skipped_overlap");
    await on.clock.advance(1);
    const next = await hold(on, "two");
    expect({ token: next.holding.token, reason: next.reason }).toEqual({ token: 2, reason: "expired" });
  });

  test("lasts longer by the skew where the writers' clocks stamp it", async () => {
    const on = ports();
    const unstamped = on.with({ ...on.store, stamps: false });
    await hold(unstamped, "one");
    await on.clock.advance(ttl + 29_999);
    expect((await acquireLease(unstamped, ask("two", { skew: 30_000 }))).outcome).toBe("skipped_overlap");
    await on.clock.advance(1);
    expect((await hold(unstamped, "two", { skew: 30_000 })).reason).toBe("expired");
  });

  test("lasts no longer for a skew where the store stamps it", async () => {
    const on = ports();
    await hold(on, "one");
    await on.clock.advance(ttl);
    expect((await hold(on, "two", { skew: 30_000 })).reason).toBe("expired");
  });

  test("is taken at once by a later attempt of the same run, and by no other", async () => {
    const on = ports();
    const run = { repository: "octo/blog", runId: "81", runAttempt: 1 };
    await hold(on, "one", { claim: claim("one", run) });
    for (const other of [
      run,
      { ...run, runId: "82", runAttempt: 2 },
      { ...run, repository: "octo/x", runAttempt: 2 },
    ])
      expect((await acquireLease(on, ask("two", { claim: claim("two", other) }))).outcome).toBe(
        "skipped_overlap",
      );
    const again = await hold(on, "two", { claim: claim("two", { ...run, runAttempt: 2 }) });
    expect({ token: again.holding.token, reason: again.reason }).toEqual({ token: 2, reason: "retried" });
  });

  test("is never free because its record cannot be read", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    await on.store.swap([{ name: leaseRecord, expected: holding.oid, next: { message: "by hand\n" } }]);
    await on.clock.advance(10 * ttl);
    await expect(acquireLease(on, ask("two"))).rejects.toMatchObject({ name: "RecordInvalid" });
    expect(on.store.tip(leaseRecord)?.message).toBe("by hand\n");
  });

  test("stays with a claim whose acquisition was applied though its reply was lost, until the TTL", async () => {
    const on = ports();
    const lossy = on.with(faultyStore(on.store, on.clock, { swap: ["unavailable-after"] }));
    await expect(acquireLease(lossy, ask("one"))).rejects.toMatchObject({ name: "StoreUnavailable" });
    expect((await acquireLease(on, ask("two"))).outcome).toBe("skipped_overlap");
    await on.clock.advance(ttl);
    expect((await hold(on, "two")).holding.token).toBe(2);
  });
});

describe("waiting", () => {
  test("ends when the holder releases", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    const result = track(acquireLease(on, ask("two", { wait: ttl })));
    await on.clock.advance(120_000);
    expect(result.value).toBeUndefined();
    await succeedLease(on, holding, "released");
    await on.clock.advance(60_000);
    expect(result.value).toMatchObject({ outcome: "acquired", reason: "released", holding: { token: 2 } });
  });

  test("ends with a skip when the wait is over, and not a poll later", async () => {
    const on = ports();
    await hold(on, "one");
    const result = track(acquireLease(on, ask("two", { wait: 95_500 })));
    await on.clock.advance(95_499);
    expect(result.value).toBeUndefined();
    await on.clock.advance(1);
    expect(result.value).toMatchObject({ outcome: "skipped_overlap", waitedFor: 95_500 });
  });

  test("is measured by the monotonic clock, so that a jump of the wall clock does not end it", async () => {
    const on = ports();
    const unstamped = on.with({ ...on.store, stamps: false });
    await hold(unstamped, "one");
    const result = track(acquireLease(unstamped, ask("two", { wait: 100_000 })));
    on.clock.jumpWall(300_000);
    await on.clock.advance(99_999);
    expect(result.value).toBeUndefined();
    await on.clock.advance(1);
    expect(result.value).toMatchObject({ outcome: "skipped_overlap" });
  });

  test("ends when the caller aborts", async () => {
    const on = ports();
    await hold(on, "one");
    const stop = new AbortController();
    const waiting = acquireLease(on, ask("two", { wait: ttl, signal: stop.signal }));
    const rejected = expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    await on.clock.advance(60_000);
    stop.abort();
    await rejected;
    expect(on.clock.sleepers()).toBe(0);
    expect(on.record().holder).toEqual(claim("one"));
  });

  test("tells of the holder at first, at every change, and every half minute", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    const told: { oid: string; at: number }[] = [];
    const onHeld = (held: Held, waitedFor: number) => told.push({ oid: held.seen.oid, at: waitedFor });
    track(acquireLease(on, ask("two", { wait: ttl, onHeld })));
    await on.clock.advance(5000);
    expect(told).toEqual([{ oid: holding.oid, at: 0 }]);
    const renewed = await succeedLease(on, holding, "renewed");
    await on.clock.advance(15_000);
    const oid = renewed.outcome === "written" ? renewed.holding.oid : "";
    expect(told.slice(1)).toEqual([{ oid, at: 10_000 }]);
    await on.clock.advance(120_000);
    expect(told.slice(2).map((each) => each.at)).toEqual([40_000, 70_000, 100_000, 130_000]);
  });

  test("takes over from a holder that stands still for a TTL, though its date lies in the future", async () => {
    const on = ports();
    const unstamped = on.with({ ...on.store, stamps: false });
    on.clock.jumpWall(86_400_000);
    await hold(unstamped, "one");
    on.clock.jumpWall(-86_400_000);
    const result = track(acquireLease(unstamped, ask("two", { wait: 2 * ttl, skew: 30_000 })));
    await on.clock.advance(ttl - 1);
    expect(result.value).toBeUndefined();
    await on.clock.advance(20_000);
    expect(result.value).toMatchObject({ outcome: "acquired", reason: "expired", holding: { token: 2 } });
  });

  test("does not take over from a holder that renews, however long it watches", async () => {
    const on = ports();
    const unstamped = on.with({ ...on.store, stamps: false });
    let { holding } = await hold(unstamped, "one");
    const result = track(acquireLease(unstamped, ask("two", { wait: 5 * ttl, skew: 30_000 })));
    for (let i = 0; i < 12; i++) {
      await on.clock.advance(ttl / 3);
      const renewed = await succeedLease(unstamped, holding, "renewed");
      if (renewed.outcome === "written") holding = renewed.holding;
    }
    expect(result.value).toBeUndefined();
    expect(on.record().token).toBe(1);
  });

  test("does not take a jump of the wall clock for a TTL of watching", async () => {
    const on = ports();
    const unstamped = on.with({ ...on.store, stamps: false });
    on.clock.jumpWall(86_400_000);
    await hold(unstamped, "one");
    on.clock.jumpWall(-86_400_000);
    const result = track(acquireLease(unstamped, ask("two", { wait: 2 * ttl })));
    await on.clock.advance(60_000);
    on.clock.jumpWall(ttl);
    await on.clock.advance(60_000);
    expect(result.value).toBeUndefined();
  });
});

describe("a swap that is lost", () => {
  test("to somebody faster is decided again, and skips", async () => {
    let fast: (() => Promise<unknown>) | undefined;
    const on = ports({ afterRead: async () => void (await fast?.()) });
    fast = () => {
      fast = undefined;
      return hold(on, "fast");
    };
    const slow = track(acquireLease(on, ask("slow")));
    await on.clock.advance(2000);
    expect(slow.value).toMatchObject({
      outcome: "skipped_overlap",
      seen: { record: { holder: claim("fast") } },
    });
    expect(on.record().token).toBe(1);
  });

  test("to somebody who has released again is decided again, and takes the next token", async () => {
    let fast: (() => Promise<unknown>) | undefined;
    const on = ports({ afterRead: async () => void (await fast?.()) });
    fast = async () => {
      fast = undefined;
      await succeedLease(on, (await hold(on, "fast")).holding, "released");
    };
    const slow = track(acquireLease(on, ask("slow")));
    await on.clock.advance(2000);
    expect(slow.value).toMatchObject({ outcome: "acquired", holding: { token: 2 }, reason: "released" });
  });

  test("a few times in a row does not matter", async () => {
    const on = ports();
    const store = faultyStore(on.store, on.clock, { swap: ["conflict", "conflict", "conflict"] });
    const result = track(acquireLease(on.with(store), ask("one")));
    await on.clock.advance(5000);
    expect(result.value).toMatchObject({ outcome: "acquired", holding: { token: 1 } });
    expect(store.calls.filter((call) => call.act === "swap")).toHaveLength(4);
  });

  test("for ever is an unavailable store in the end", async () => {
    const on = ports();
    const store = faultyStore(on.store, on.clock, { swap: forever("conflict") });
    const rejected = expect(acquireLease(on.with(store), ask("one"))).rejects.toMatchObject({
      name: "StoreUnavailable",
    });
    await on.clock.advance(120_000);
    await rejected;
    expect(store.calls.filter((call) => call.act === "swap").length).toBeLessThanOrEqual(50);
  });

  test("many times, with a holder each time in between, does not end the wait", async () => {
    let rival: (() => Promise<void>) | undefined;
    const on = ports({ afterRead: async () => rival?.() });
    let { holding } = await hold(on, "rival");
    const result = track(acquireLease(on, ask("patient", { wait: 100 * ttl })));
    for (let round = 0; round < 60; round++) {
      await succeedLease(on, holding, "released");
      const taken = new Promise<void>((resolve) => {
        rival = async () => {
          rival = undefined;
          ({ holding } = await hold(on, "rival"));
          resolve();
        };
      });
      await on.clock.advance(60_000);
      await taken;
    }
    expect(result.value).toBeUndefined();
    await succeedLease(on, holding, "released");
    await on.clock.advance(60_000);
    expect(result.value).toMatchObject({ outcome: "acquired", holding: { token: 62 } });
  });

  test("after a stale read is decided again on what is there", async () => {
    const on = ports();
    const store = faultyStore(on.store, on.clock, { read: ["ok", "stale"] });
    const { holding } = await hold(on.with(store), "one");
    await succeedLease(on, holding, "released");
    const result = track(acquireLease(on.with(store), ask("two")));
    await on.clock.advance(5000);
    expect(result.value).toMatchObject({ outcome: "acquired", holding: { token: 2 } });
  });
});

describe("a lease that goes backwards between two reads", () => {
  test("because its record vanished is not taken, and nothing is written", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    const rejected = expect(acquireLease(on, ask("two", { wait: ttl }))).rejects.toMatchObject({
      name: "TokenRegressed",
    });
    await on.clock.advance(1000);
    await on.store.swap([{ name: leaseRecord, expected: holding.oid, next: null }]);
    await on.clock.advance(60_000);
    await rejected;
    expect(on.seen()).toBeNull();
  });

  test("because its token fell is not taken, free though it looks", async () => {
    const on = ports();
    const first = await hold(on, "zero");
    await succeedLease(on, first.holding, "released");
    const { holding } = await hold(on, "one");
    const rejected = expect(acquireLease(on, ask("two", { wait: ttl }))).rejects.toMatchObject({
      name: "TokenRegressed",
    });
    await on.clock.advance(1000);
    const older = leaseMessage({ ...first.holding.record, state: "released", event: "released", depth: 1 });
    await on.store.swap([{ name: leaseRecord, expected: holding.oid, next: { message: older, root: true } }]);
    const put = on.seen();
    await on.clock.advance(60_000);
    await rejected;
    expect(on.seen()).toEqual(put);
  });

  test("cannot be told from a new one by somebody who never saw it", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    await on.store.swap([{ name: leaseRecord, expected: holding.oid, next: null }]);
    expect((await hold(on, "two")).holding.token).toBe(1);
  });
});

test("twenty claimants hold one after the other, with tokens 1 to 20", async () => {
  const on = ports();
  const tokens: number[] = [];
  let holders = 0;
  const claimants = Array.from({ length: 20 }, async (_, i) => {
    const { holding } = await hold(on, `number-${i}`, { wait: 100 * ttl });
    tokens.push(holding.token);
    expect(++holders).toBe(1);
    await on.clock.sleep(30_000);
    holders--;
    await succeedLease(on, holding, "released");
  });
  await on.clock.advance(2 * ttl + 600_000);
  await Promise.all(claimants);
  expect(tokens).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  expect((await on.store.history(leaseRecord, 99)).length).toBe(40);
});

test("a name that git cannot hold as it is makes no difference", async () => {
  const on = ports();
  const name = "Ærø / ブログ";
  expect((await hold(on, "one", { lease: name })).holding).toMatchObject({ lease: name, token: 1 });
  expect((await acquireLease(on, ask("two", { lease: name }))).outcome).toBe("skipped_overlap");
  expect((await hold(on, "two", { lease })).holding.token).toBe(1);
});

/** The outcome as soon as there is one, without waiting for it. */
function track(promise: Promise<AcquireResult>): { value?: AcquireResult } {
  const tracked: { value?: AcquireResult } = {};
  promise.then((value) => {
    tracked.value = value;
  });
  return tracked;
}

function* forever<T>(value: T): Generator<T> {
  for (;;) yield value;
}
