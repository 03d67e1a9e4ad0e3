// Renewing, releasing and unlocking: only the current claim changes anything, except for people who say what they saw.
import { describe, expect, test } from "vitest";
import { acquireLease, succeedLease, unlockLease } from "../../src/lease/lease.js";
import { faultyStore } from "../support/faulty-store.js";
import { ask, claim, hold, lease, leaseRecord, ports, ttl } from "./ports.js";

const people = { lease, by: "maria", reason: "its machine burned" };

describe("renewing", () => {
  test("moves the expiry, keeps the token, and counts from when it was sent", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    await on.clock.advance(300_000);
    const sent = on.clock.read();
    const slow = on.with(faultyStore(on.store, on.clock, { swap: [{ delay: 4000 }] }));
    const renewing = succeedLease(slow, holding, "renewed");
    await on.clock.advance(4000);
    expect(await renewing).toMatchObject({ outcome: "written", sentAt: sent, holding: { token: 1 } });
    await on.clock.advance(ttl - 1000);
    expect((await acquireLease(on, ask("two"))).outcome).toBe("skipped_overlap");
  });

  test("goes on from a tip that another process of the same claim has moved", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    const theirs = await succeedLease(on, holding, "renewed");
    const mine = await succeedLease(on, holding, "renewed");
    expect(mine).toMatchObject({ outcome: "written", holding: { token: 1 } });
    expect(on.record().previous).toBe(theirs.outcome === "written" ? theirs.holding.oid : "");
    expect(on.record().depth).toBe(3);
  });

  test("goes on after a renewal that was applied though its reply was lost", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    const lossy = on.with(faultyStore(on.store, on.clock, { swap: ["unavailable-after"] }));
    await expect(succeedLease(lossy, holding, "renewed")).rejects.toMatchObject({ name: "StoreUnavailable" });
    expect(await succeedLease(lossy, holding, "renewed")).toMatchObject({ outcome: "written" });
    expect(on.record()).toMatchObject({ token: 1, depth: 3 });
  });

  test("by a superseded claim changes nothing", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    await on.clock.advance(ttl);
    const next = await hold(on, "two");
    expect(await succeedLease(on, holding, "renewed")).toMatchObject({
      outcome: "not-mine",
      seen: { record: { token: 2, holder: claim("two") } },
    });
    expect(on.seen()?.oid).toBe(next.holding.oid);
  });

  test("by another acquisition of the same claim changes nothing", async () => {
    const on = ports();
    const first = await hold(on, "one");
    await succeedLease(on, first.holding, "released");
    const second = await hold(on, "one");
    expect((await succeedLease(on, first.holding, "renewed")).outcome).toBe("not-mine");
    expect(on.seen()?.oid).toBe(second.holding.oid);
  });

  test("after a release changes nothing", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    await succeedLease(on, holding, "released");
    expect((await succeedLease(on, holding, "renewed")).outcome).toBe("not-mine");
    expect(on.record()).toMatchObject({ state: "released", depth: 2 });
  });

  test("a lease whose record vanished stops, and does not create it", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    await on.store.swap([{ name: leaseRecord, expected: holding.oid, next: null }]);
    await expect(succeedLease(on, holding, "renewed")).rejects.toMatchObject({ name: "TokenRegressed" });
    expect(on.seen()).toBeNull();
  });

  test("against a swap that is always lost ends as an unavailable store", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    const swap = Array.from({ length: 60 }, () => "conflict" as const);
    const store = faultyStore(on.store, on.clock, { swap });
    await expect(succeedLease(on.with(store), holding, "renewed")).rejects.toMatchObject({
      name: "StoreUnavailable",
    });
    expect(on.seen()?.oid).toBe(holding.oid);
  });
});

describe("releasing", () => {
  test("frees the lease at once and keeps its token", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    expect(await succeedLease(on, holding, "released")).toMatchObject({ outcome: "written" });
    expect(on.record()).toMatchObject({ state: "released", token: 1, event: "released" });
    expect((await hold(on, "two")).holding.token).toBe(2);
  });

  test("goes on from a tip that a heartbeat has moved", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    await succeedLease(on, holding, "renewed");
    expect(await succeedLease(on, holding, "released")).toMatchObject({ outcome: "written" });
    expect(on.record().state).toBe("released");
  });

  test("by a superseded claim leaves the new holder its lease", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    await on.clock.advance(ttl);
    const next = await hold(on, "two");
    expect((await succeedLease(on, holding, "released")).outcome).toBe("not-mine");
    expect(on.seen()?.oid).toBe(next.holding.oid);
    expect(on.record().state).toBe("held");
  });

  test("twice, after a lost reply, is one release", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    const lossy = on.with(faultyStore(on.store, on.clock, { swap: ["unavailable-after"] }));
    await expect(succeedLease(lossy, holding, "released")).rejects.toMatchObject({
      name: "StoreUnavailable",
    });
    expect((await succeedLease(lossy, holding, "released")).outcome).toBe("not-mine");
    expect(on.record()).toMatchObject({ state: "released", depth: 2 });
  });
});

describe("unlocking", () => {
  test("frees a held lease, advances its token, and records who and why", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    const result = await unlockLease(on, { ...people, token: 1 });
    expect(result).toMatchObject({ outcome: "unlocked", token: 2, was: { oid: holding.oid } });
    expect(on.record()).toMatchObject({
      state: "released",
      event: "unlocked",
      token: 2,
      unlock: { by: "maria", reason: "its machine burned" },
    });
    expect((await hold(on, "two")).holding.token).toBe(3);
  });

  test("ends the holder: it can neither renew nor release", async () => {
    const on = ports();
    const { holding } = await hold(on, "one");
    await unlockLease(on, { ...people, token: 1 });
    const unlocked = on.seen();
    for (const event of ["renewed", "released"] as const)
      expect((await succeedLease(on, holding, event)).outcome).toBe("not-mine");
    expect(on.seen()).toEqual(unlocked);
  });

  test("a lease that has changed hands since it was looked at changes nothing", async () => {
    const on = ports();
    await hold(on, "one");
    await on.clock.advance(ttl);
    const next = await hold(on, "two");
    const result = await unlockLease(on, { ...people, token: 1 });
    expect(result).toMatchObject({ outcome: "moved-on", seen: { record: { token: 2 } } });
    expect(on.seen()?.oid).toBe(next.holding.oid);
  });

  test("what is free or absent changes nothing", async () => {
    const on = ports();
    expect(await unlockLease(on, { ...people, token: 1 })).toEqual({ outcome: "absent" });
    const { holding } = await hold(on, "one");
    await succeedLease(on, holding, "released");
    const released = on.seen();
    expect((await unlockLease(on, { ...people, token: 1 })).outcome).toBe("free");
    expect(on.seen()).toEqual(released);
  });

  test("between two renewals still unlocks: the token counts, not the tip", async () => {
    let beat: (() => Promise<unknown>) | undefined;
    const on = ports({ afterRead: async () => void (await beat?.()) });
    const { holding } = await hold(on, "one");
    beat = () => {
      beat = undefined;
      return succeedLease(on, holding, "renewed");
    };
    expect(await unlockLease(on, { ...people, token: 1 })).toMatchObject({ outcome: "unlocked", token: 2 });
    expect(on.record()).toMatchObject({ event: "unlocked", depth: 3 });
  });

  test("beside a takeover leaves the new holder its lease", async () => {
    let takeover: (() => Promise<unknown>) | undefined;
    const on = ports({ afterRead: async () => void (await takeover?.()) });
    await hold(on, "one");
    await on.clock.advance(ttl);
    takeover = () => {
      takeover = undefined;
      return hold(on, "two");
    };
    expect((await unlockLease(on, { ...people, token: 1 })).outcome).toBe("moved-on");
    expect(on.record()).toMatchObject({ state: "held", holder: claim("two") });
  });
});
