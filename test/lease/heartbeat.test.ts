// The heartbeat: renews each third of the TTL, survives what passes, and calls itself lost in time.
import { afterEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../src/clock.js";
import { type Beat, heartbeat } from "../../src/lease/heartbeat.js";
import { type Acquired, acquireLease, type Ports, succeedLease } from "../../src/lease/lease.js";
import type { Reading } from "../../src/protocol/doubt.js";
import { leaseRecordName } from "../../src/protocol/lease.js";
import { memoryStore } from "../../src/store/memory.js";
import type { Store } from "../../src/store/store.js";
import { settled } from "../support/fake-clock.js";
import { type Fault, type FaultPlan, faultyStore } from "../support/faulty-store.js";
import { ask, claim, hold, leaseRecord, ports, type TestPorts, ttl } from "./ports.js";

interface Beating {
  beats: (Beat & { at: number })[];
  stop: AbortController;
  /** Whether it has ended, and how. */
  ended?: "returned" | { threw: unknown };
}

const running: AbortController[] = [];
afterEach(() => {
  for (const each of running.splice(0)) each.abort();
});

/** Starts a heartbeat; `at` counts milliseconds of the monotonic clock from here. */
function beat(on: Ports, { holding, sentAt }: Acquired): Beating {
  const stop = new AbortController();
  running.push(stop);
  const start = on.clock.read().monotonic;
  const beating: Beating = { beats: [], stop };
  heartbeat({
    ...on,
    holding,
    sentAt,
    signal: stop.signal,
    onBeat: (each) => beating.beats.push({ ...each, at: on.clock.read().monotonic - start }),
  }).then(
    () => {
      beating.ended = "returned";
    },
    (threw) => {
      beating.ended = { threw };
    },
  );
  return beating;
}

const events = ({ beats }: Beating) => beats.map((each) => (each.event === "lost" ? each.why : each.event));

function failing(on: TestPorts, plan: FaultPlan) {
  const store = faultyStore(on.store, on.clock, plan);
  return { store, on: on.with(store) };
}

function* forever(...faults: Fault[]): Generator<Fault> {
  for (;;) yield* faults;
}

describe("while all is well", () => {
  test("it renews each third of the TTL, and the lease never expires", async () => {
    const on = ports();
    const beating = beat(on, await hold(on, "one"));
    for (let i = 0; i < 8; i++) {
      await on.clock.advance(ttl / 2);
      expect((await acquireLease(on, ask("two"))).outcome).toBe("skipped_overlap");
    }
    expect(new Set(events(beating))).toEqual(new Set(["renewed"]));
    const gaps = beating.beats.map((each, i) => each.at - (beating.beats[i - 1]?.at ?? 0));
    for (const gap of gaps) {
      expect(gap).toBeGreaterThanOrEqual(ttl / 3);
      expect(gap).toBeLessThanOrEqual(ttl / 3 + 2000);
    }
    expect(on.record()).toMatchObject({ token: 1, event: "renewed", depth: beating.beats.length + 1 });
  });

  test("it hands on the new tip and the moment at which the renewal was sent", async () => {
    const on = ports();
    const slow = failing(on, { swap: [{ delay: 5000 }] });
    const beating = beat(slow.on, await hold(on, "one"));
    const start = on.clock.read();
    await on.clock.advance(ttl / 3 + 7000);
    expect(beating.beats).toMatchObject([
      {
        event: "renewed",
        holding: { oid: on.seen()?.oid, token: 1 },
        sentAt: { wall: start.wall + ttl / 3, monotonic: start.monotonic + ttl / 3 },
      },
    ]);
  });

  test("it goes on when another process of the claim renews beside it", async () => {
    const on = ports();
    const acquired = await hold(on, "one");
    const beating = beat(on, acquired);
    await on.clock.advance(ttl / 4);
    await succeedLease(on, acquired.holding, "renewed");
    await on.clock.advance(ttl);
    expect(events(beating)).toEqual(["renewed", "renewed", "renewed"]);
    expect(on.record()).toMatchObject({ token: 1, depth: 5 });
  });

  test("it does not lose its rhythm when the wall clock goes back", async () => {
    const on = ports();
    const beating = beat(on, await hold(on, "one"));
    await on.clock.advance(1000);
    on.clock.jumpWall(-3_600_000);
    await on.clock.advance(ttl / 3);
    expect(events(beating)).toEqual(["renewed"]);
  });

  test("it stops when the signal aborts, asks for nothing more, and says nothing more", async () => {
    const on = ports();
    const { store, on: watched } = failing(on, {});
    const beating = beat(watched, await hold(on, "one"));
    await on.clock.advance(ttl / 3 + 1000);
    beating.stop.abort();
    await settled();
    expect(beating.ended).toBe("returned");
    expect(on.clock.sleepers()).toBe(0);
    await on.clock.advance(2 * ttl);
    expect(events(beating)).toEqual(["renewed"]);
    expect(store.calls).toHaveLength(1);
  });

  test("it stops in the middle of a request when the signal aborts", async () => {
    const on = ports();
    const beating = beat(failing(on, { swap: ["hang"] }).on, await hold(on, "one"));
    await on.clock.advance(ttl / 3);
    beating.stop.abort();
    await settled();
    expect(beating.ended).toBe("returned");
    expect(beating.beats).toEqual([]);
  });
});

describe("while requests fail", () => {
  test("it tries again soon, and counts from the renewal that succeeded", async () => {
    const on = ports();
    const beating = beat(failing(on, { swap: ["unavailable-before"] }).on, await hold(on, "one"));
    await on.clock.advance(ttl);
    expect(events(beating)).toEqual(["failing", "renewed", "renewed"]);
    const [failed, renewed, next] = beating.beats.map((each) => each.at);
    expect((renewed ?? 0) - (failed ?? 0)).toBeLessThanOrEqual(ttl / 12 + 2000);
    expect((next ?? 0) - (renewed ?? 0)).toBeGreaterThanOrEqual(ttl / 3);
  });

  test("it survives any failure until two thirds of the TTL have passed, and is lost at that moment", async () => {
    const on = ports();
    const errors = [new TypeError("undefined is not a store"), new Error("500"), "a string"];
    let asked = 0;
    const broken: Store = {
      ...on.store,
      swap: () => Promise.reject(errors[asked++ % errors.length]),
    };
    const beating = beat(on.with(broken), await hold(on, "one"));
    await on.clock.advance((ttl * 2) / 3 - 1);
    expect(new Set(events(beating))).toEqual(new Set(["failing"]));
    expect(asked).toBeGreaterThan(2);
    await on.clock.advance(1001);
    expect(events(beating).at(-1)).toBe("doubt");
    expect(beating.beats.at(-1)?.at).toBeLessThanOrEqual((ttl * 2) / 3 + 1000);
    expect(beating.ended).toBe("returned");
    const before = asked;
    await on.clock.advance(ttl);
    expect(asked).toBe(before);
  });

  test("it calls itself lost while nobody else can have the lease yet", async () => {
    const on = ports();
    const beating = beat(failing(on, { swap: forever("unavailable-before") }).on, await hold(on, "one"));
    while (beating.ended === undefined) await on.clock.advance(1000);
    expect(events(beating).at(-1)).toBe("doubt");
    expect((await acquireLease(on, ask("two"))).outcome).toBe("skipped_overlap");
  });

  test.each([
    ["every second one", ["unavailable-before", "ok"]],
    ["every third one", ["ok", "ok", "unavailable-before"]],
    ["two of three", ["unavailable-before", "unavailable-before", "ok"]],
    ["every third reply", ["unavailable-after", "ok", "ok"]],
    [
      "all kinds in turn",
      ["conflict", "ok", "unavailable-after", "ok", "ok", "unavailable-before", { delay: 9000 }],
    ],
  ] as [string, Fault[]][])("it keeps the lease through many TTLs when %s is lost", async (_, faults) => {
    const on = ports();
    const beating = beat(failing(on, { swap: forever(...faults) }).on, await hold(on, "one"));
    for (let i = 0; i < 20; i++) {
      await on.clock.advance(ttl / 2);
      expect((await acquireLease(on, ask("two"))).outcome).toBe("skipped_overlap");
    }
    expect(beating.ended).toBeUndefined();
    expect(events(beating)).not.toContain("doubt");
    expect(on.record()).toMatchObject({ token: 1, holder: claim("one") });
  });
});

describe("when the lease is somebody else's", () => {
  test("it says that it is superseded, by which token, and writes nothing", async () => {
    const on = ports();
    const acquired = await hold(on, "one");
    const beating = beat(on, acquired);
    await succeedLease(on, acquired.holding, "released");
    const next = await hold(on, "two");
    await on.clock.advance(ttl);
    expect(beating.beats).toMatchObject([{ event: "lost", why: "superseded" }]);
    expect(JSON.stringify(beating.beats[0])).toContain("token 2 is held");
    expect(beating.ended).toBe("returned");
    expect(on.seen()?.oid).toBe(next.holding.oid);
  });

  test("it says that it is superseded when its own claim released it", async () => {
    const on = ports();
    const acquired = await hold(on, "one");
    const beating = beat(on, acquired);
    await succeedLease(on, acquired.holding, "released");
    await on.clock.advance(ttl / 2);
    expect(events(beating)).toEqual(["superseded"]);
    expect(on.record().state).toBe("released");
  });

  test("it says that the lease regressed when its record vanished, and does not create it", async () => {
    const on = ports();
    const acquired = await hold(on, "one");
    const beating = beat(on, acquired);
    await on.store.swap([{ name: leaseRecord, expected: acquired.holding.oid, next: null }]);
    await on.clock.advance(ttl);
    expect(events(beating)).toEqual(["regressed"]);
    expect(on.seen()).toBeNull();
  });

  test("it does not take an unreadable record for a lost one, and is in doubt in the end", async () => {
    const on = ports();
    const acquired = await hold(on, "one");
    const beating = beat(on, acquired);
    const next = { message: "by hand\n" };
    await on.store.swap([{ name: leaseRecord, expected: acquired.holding.oid, next }]);
    await on.clock.advance(ttl);
    expect(new Set(events(beating))).toEqual(new Set(["failing", "doubt"]));
    expect(on.store.tip(leaseRecord)?.message).toBe("by hand\n");
  });
});

describe("when clocks jump or the machine sleeps", () => {
  const tooLong = (ttl * 2) / 3;

  test.each([
    ["the wall clock", (on: TestPorts, ms: number) => on.clock.jumpWall(ms)],
    ["the monotonic clock", (on: TestPorts, ms: number) => on.clock.jumpMonotonic(ms)],
  ])("two thirds of the TTL by %s alone are doubt, without another request", async (_, jump) => {
    const on = ports();
    const { store, on: watched } = failing(on, {});
    const beating = beat(watched, await hold(on, "one"));
    await on.clock.advance(10_000);
    jump(on, tooLong - 10_000);
    await on.clock.advance(1000);
    expect(events(beating)).toEqual(["doubt"]);
    expect(store.calls).toEqual([]);
  });

  test.each([
    ["the wall clock", (on: TestPorts, ms: number) => on.clock.jumpWall(ms)],
    ["the monotonic clock", (on: TestPorts, ms: number) => on.clock.jumpMonotonic(ms)],
  ])("a little less by %s alone is a renewal at once", async (_, jump) => {
    const on = ports();
    const beating = beat(on, await hold(on, "one"));
    await on.clock.advance(10_000);
    jump(on, tooLong - 12_000);
    await on.clock.advance(1000);
    expect(events(beating)).toEqual(["renewed"]);
  });

  test("a renewal during which the machine slept too long does not hide the doubt", async () => {
    const on = ports();
    const beating = beat(failing(on, { swap: [{ delay: 5000 }] }).on, await hold(on, "one"));
    await on.clock.advance(ttl / 3 + 1000);
    on.clock.jumpWall(tooLong);
    await on.clock.advance(6000);
    expect(events(beating).at(-1)).toBe("doubt");
    expect(beating.ended).toBe("returned");
  });

  test("a heartbeat that starts when it is already in doubt says so and asks for nothing", async () => {
    const on = ports();
    const acquired = await hold(on, "one");
    await on.clock.advance(tooLong);
    const { store, on: watched } = failing(on, {});
    const beating = beat(watched, acquired);
    await settled();
    expect(events(beating)).toEqual(["doubt"]);
    expect(store.calls).toEqual([]);
  });

  test.each([900_000, 100_000, 10_000, 7001])(
    "clocks that count fractions do not end it (TTL %i ms)",
    async (each) => {
      const on = ports();
      const acquired = await hold(on, "one", { ttl: each });
      on.clock.jumpMonotonic(0.123);
      const beating = beat(failing(on, { swap: forever("unavailable-before") }).on, acquired);
      await on.clock.advance(each);
      expect(beating.ended).toBe("returned");
      expect(events(beating).at(-1)).toBe("doubt");
    },
  );
});

describe("when the store hangs", () => {
  const short = 3000;

  test("each request is cut off before a third of the TTL is over, and the next one is made", async () => {
    const on = ports();
    const { store, on: hanging } = failing(on, { swap: ["hang"] });
    const beating = beat(hanging, await hold(on, "one", { ttl: short }));
    await on.clock.advance(short / 3);
    expect(events(beating)).toEqual([]);
    await on.clock.advance(short / 5 + short / 30);
    expect(events(beating)).toEqual(["failing"]);
    await on.clock.advance(short / 8);
    expect(events(beating)).toEqual(["failing", "renewed"]);
    // The swap that hung, the read that settles what became of it, and the next swap.
    expect(store.calls).toHaveLength(3);
  });

  test("a renewal whose reply was lost counts from when it was sent, and is not made twice", async () => {
    const on = ports();
    const { store, on: lossy } = failing(on, { swap: ["unavailable-after"] });
    const beating = beat(lossy, await hold(on, "one", { ttl: short }));
    await on.clock.advance(short / 3 + short / 8);
    expect(events(beating)).toEqual(["failing", "renewed"]);
    expect(store.calls).toHaveLength(2);
    const renewed = beating.beats.at(-1);
    const sent = renewed?.event === "renewed" ? renewed.sentAt.monotonic : Number.NaN;
    expect(on.clock.read().monotonic - sent).toBeGreaterThan(short / 30);
  });

  test("a hanging read after a lost swap is cut off as well", async () => {
    const on = ports();
    const plan: FaultPlan = { swap: ["conflict"], read: ["hang"] };
    const beating = beat(failing(on, plan).on, await hold(on, "one", { ttl: short }));
    await on.clock.advance(short / 3 + short / 5 + short / 30);
    expect(events(beating)).toEqual(["failing"]);
  });

  async function lostAfter(swap: Store["swap"]): Promise<{ beats: Beat[]; after: number }> {
    const inner = memoryStore({ now: Date.now });
    const store: Store = {
      ...inner,
      swap: (...call) => (count++ === 0 ? inner.swap(...call) : swap(...call)),
    };
    let count = 0;
    const on: Ports = { ...ports(), clock: systemClock, store };
    const acquired = await hold(on, "one", { ttl: short });
    const beating = beat(on, acquired);
    await vi.waitFor(() => expect(beating.ended).toBeDefined(), { timeout: 2 * short });
    expect(beating.ended).toBe("returned");
    return { beats: beating.beats, after: since(acquired.sentAt) };
  }

  const since = (sent: Reading) => systemClock.read().monotonic - sent.monotonic;

  test("for ever, it is lost in time by the clocks of the machine", async () => {
    const { beats, after } = await lostAfter(async (_, options = {}) => {
      await systemClock.sleep(60_000, options.signal);
      return { outcome: "conflict" };
    });
    expect(beats.at(-1)).toMatchObject({ event: "lost", why: "doubt" });
    expect(after).toBeLessThan(short);
  });

  test("for ever and heeds no signal, it is lost in time all the same", async () => {
    const { beats, after } = await lostAfter(() => new Promise(() => {}));
    expect(beats.at(-1)).toMatchObject({ event: "lost", why: "doubt" });
    expect(after).toBeLessThan(short);
  });
});

test("heartbeats of two leases do not meet", async () => {
  const on = ports();
  const other = "docs-main";
  const beating = [beat(on, await hold(on, "one")), beat(on, await hold(on, "two", { lease: other }))];
  await on.clock.advance(ttl);
  expect(beating.map(events)).toEqual([
    ["renewed", "renewed", "renewed"],
    ["renewed", "renewed", "renewed"],
  ]);
  expect(on.store.tip(leaseRecordName(other))?.parents).toHaveLength(1);
});
