// The lease protocol: who may take a lease, who may write after a record, and when a holder doubts itself.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Claim } from "../../src/protocol/claim.js";
import { doubtShare, elapsed, inDoubt } from "../../src/protocol/doubt.js";
import {
  type AcquireRequest,
  acquire,
  checkWitness,
  defaultSkew,
  expiresAt,
  isMine,
  type LeaseRecord,
  type LeaseWrite,
  leaseMessage,
  leaseRecordName,
  longestChain,
  readLease,
  type SeenLease,
  succeed,
  TokenRegressed,
  unlock,
} from "../../src/protocol/lease.js";
import { encodeRecord, RecordInvalid, type Versioned } from "../../src/protocol/record.js";

const ttl = 900_000;
const writtenAt = Date.UTC(2026, 0, 2, 3, 4, 5);

const holder: Claim = {
  id: "11111111-aaaa",
  repository: "octo/blog",
  runId: "812345",
  runAttempt: 1,
  job: "write",
};
const challenger: Claim = { ...holder, id: "22222222-bbbb", runId: "812399" };

let writes = 0;
function fresh(): string {
  writes++;
  return `nonce-${String(writes).padStart(4, "0")}`;
}

/** What a store has after the write: the real message, read by the real reader. */
function stored(write: LeaseWrite, at = writtenAt): SeenLease {
  const seen = readLease(versioned(write, at));
  if (seen === null) throw new Error("nothing was stored");
  return seen;
}

function versioned(write: LeaseWrite, at = writtenAt): Versioned {
  writes++;
  return {
    name: leaseRecordName(write.record.name),
    oid: writes.toString(16).padStart(40, "0"),
    writtenAt: at,
    parents: write.root || write.expected === null ? [] : [write.expected],
    message: leaseMessage(write.record),
  };
}

/** A request that is refused while the holder holds. */
function ask(change: Partial<AcquireRequest> = {}): AcquireRequest {
  return {
    lease: "blog-main",
    claim: challenger,
    ttl,
    now: writtenAt + 1,
    skew: 0,
    nonce: fresh(),
    ...change,
  };
}

function granted(seen: SeenLease | null, change: Partial<AcquireRequest> = {}): LeaseWrite {
  const decision = acquire(seen, ask(change));
  if (decision.outcome !== "grant") throw new Error("refused");
  return decision.write;
}

function held(change: Partial<LeaseRecord> = {}): SeenLease {
  const seen = stored(granted(null, { claim: holder, now: writtenAt }));
  return { ...seen, record: { ...seen.record, ...change } };
}

function succeeded(seen: SeenLease, event: "renewed" | "released"): SeenLease {
  const write = succeed(
    seen,
    { token: seen.record.token, claim: seen.record.holder },
    { event, nonce: fresh() },
  );
  if (write === null) throw new Error("not mine");
  return stored(write);
}

function pushed(seen: SeenLease): SeenLease {
  const published = { "refs/heads/main": "c".repeat(40) };
  const mine = { token: seen.record.token, claim: seen.record.holder };
  return stored(succeed(seen, mine, { event: "pushed", published, nonce: fresh() }) as LeaseWrite);
}

function unlocked(seen: SeenLease): SeenLease {
  const { token } = seen.record;
  const decision = unlock(seen, {
    lease: "blog-main",
    token,
    by: "mona",
    reason: "stuck",
    now: writtenAt,
    nonce: fresh(),
  });
  if (decision.outcome !== "unlock") throw new Error(decision.outcome);
  return stored(decision.write);
}

describe("a lease is free to take", () => {
  it("when it has no record", () => {
    const decision = acquire(null, ask({ nonce: "nonce-of-mine" }));
    expect(decision).toEqual({
      outcome: "grant",
      reason: "new",
      write: {
        expected: null,
        root: true,
        record: {
          fencepost: 1,
          kind: "lease",
          name: "blog-main",
          token: 1,
          state: "held",
          ttl,
          holder: challenger,
          since: "2026-01-02T03:04:05.001Z",
          event: "acquired",
          previous: null,
          depth: 1,
          nonce: "nonce-of-mine",
          days: { "2026-01-02": { acquired: 1 } },
        },
      },
    });
  });

  const retry: Claim = { ...holder, id: "33333333-cccc", runAttempt: 2 };
  it.each<[string, string, SeenLease, Partial<AcquireRequest>]>([
    ["its holder released it", "released", succeeded(held(), "released"), {}],
    ["a person unlocked it", "released", unlocked(held()), {}],
    ["its time is up", "expired", held(), { now: writtenAt + ttl }],
    [
      "its time is up by more than the clocks may differ",
      "expired",
      held(),
      { now: writtenAt + ttl + 30, skew: 30 },
    ],
    ["the challenger saw it stand still for the whole TTL", "expired", held(), { unchangedFor: ttl }],
    ["its holder's run is known to have finished", "finished", held(), { holderFinished: true }],
    ["its holder is an earlier attempt of the same run", "retried", held(), { claim: retry }],
  ])("when %s", (_, reason, seen, change) => {
    const request = ask(change);
    expect(acquire(seen, request)).toMatchObject({
      outcome: "grant",
      reason,
      write: {
        expected: seen.oid,
        root: false,
        record: {
          token: seen.record.token + 1,
          state: "held",
          holder: request.claim,
          event: "acquired",
          previous: seen.oid,
          depth: seen.record.depth + 1,
          nonce: request.nonce,
        },
      },
    });
  });
});

describe("a lease is not free", () => {
  it.each<[string, Partial<AcquireRequest>]>([
    ["while it is held", {}],
    ["a millisecond before its time is up", { now: writtenAt + ttl - 1 }],
    ["while the clocks may still differ", { now: writtenAt + ttl + 29, skew: 30 }],
    ["when the challenger watched for a little less than the TTL", { unchangedFor: ttl - 1 }],
    ["when its holder's run is known to be going on", { holderFinished: false }],
    ["for another leg of the same run and attempt", { claim: { ...holder, id: "44444444-dddd", leg: "de" } }],
    ["for the holder itself, since one claim acquires once", { claim: holder }],
  ])("%s, and the refusal names its holder and its end", (_, change) => {
    const seen = held();
    expect(acquire(seen, ask(change))).toEqual({
      outcome: "refuse",
      holding: seen,
      expiresAt: writtenAt + ttl,
    });
    expect(seen.record.holder).toEqual(holder);
  });

  it("by the holder's TTL, not by the challenger's", () => {
    const seen = held();
    expect(acquire(seen, ask({ ttl: 1, now: writtenAt + 10, unchangedFor: 10 })).outcome).toBe("refuse");
    expect(granted(seen, { ttl: 1, now: writtenAt + ttl }).record.ttl).toBe(1);
  });

  it("for the time of a renewal or a push, counted from its own write", () => {
    const acquired = held();
    const mine = { token: 1, claim: holder };
    const renewal = succeed(acquired, mine, { event: "renewed", nonce: fresh() }) as LeaseWrite;
    const renewed = stored(renewal, writtenAt + 600_000);
    expect(expiresAt(renewed)).toBe(writtenAt + 600_000 + ttl);
    expect(acquire(renewed, ask({ now: writtenAt + ttl })).outcome).toBe("refuse");
  });
});

describe("the token", () => {
  it("rises by one when the lease changes hands, and stays while it does not", () => {
    const first = held();
    const renewed = succeeded(first, "renewed");
    const published = pushed(renewed);
    const released = succeeded(published, "released");
    expect([first, renewed, published, released].map((seen) => seen.record.token)).toEqual([1, 1, 1, 1]);
    expect(granted(released).record.token).toBe(2);
  });

  it("advances at an unlock, so that the next holder's is two higher", () => {
    expect(unlocked(held()).record.token).toBe(2);
    expect(granted(unlocked(held())).record.token).toBe(3);
  });

  it("goes on rising across a new root, which replaces the tip that it names", () => {
    const old = held({ token: 41, depth: longestChain, state: "released", event: "released" });
    const write = granted(old);
    expect(write).toMatchObject({
      expected: old.oid,
      root: true,
      record: { token: 42, depth: 1, previous: old.oid },
    });
    expect(stored(write).record.token).toBe(42);
  });

  it("is followed by a new root at the longest chain and beyond, and no earlier", () => {
    for (const [depth, root] of [
      [longestChain - 1, false],
      [longestChain, true],
      [longestChain + 250, true],
    ] as const) {
      const write = granted(held({ depth, state: "released" }));
      expect([write.root, write.record.depth]).toEqual([root, root ? 1 : depth + 1]);
    }
  });

  it("never falls, whatever happens to the lease, and every write reads back and follows the one before", () => {
    const step = fc.constantFrom("acquire", "renew", "push", "release", "unlock");
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let seen = held({ depth: longestChain - 5 });
        for (const step of steps) {
          const before = seen;
          seen = after(step, before);
          if (seen === before) continue;
          expect(seen.record.previous).toBe(before.oid);
          const advances = step === "acquire" || step === "unlock";
          expect(seen.record.token).toBe(before.record.token + (advances ? 1 : 0));
        }
      }),
      { numRuns: 200 },
    );
  });

  function after(step: "acquire" | "renew" | "push" | "release" | "unlock", seen: SeenLease): SeenLease {
    if (step === "acquire") return stored(granted(seen, { holderFinished: true }));
    if (seen.record.state === "released") return seen;
    switch (step) {
      case "renew":
        return succeeded(seen, "renewed");
      case "push":
        return pushed(seen);
      case "release":
        return succeeded(seen, "released");
      case "unlock":
        return unlocked(seen);
    }
  }
});

describe("a lease whose token went backwards", () => {
  it("is never taken, even if it is released", () => {
    const back = held({ token: 41, state: "released" });
    expect(() => acquire(back, ask({ witness: 42 }))).toThrow(TokenRegressed);
    expect(() => acquire(back, ask({ witness: 42 }))).toThrow(
      /^The lease "blog-main" went backwards: token 42 was seen before, and now it says 41\. Nothing was written\./,
    );
  });

  it("is never taken when its record is gone", () => {
    expect(() => acquire(null, ask({ witness: 1 }))).toThrow(
      /token 1 was seen before, and now its record is gone/,
    );
  });

  it("stops also whoever would be refused", () => {
    expect(() => acquire(held(), ask({ witness: 2 }))).toThrow(TokenRegressed);
  });

  it("is told apart from one that stayed or went on", () => {
    const seen = held({ token: 42, state: "released" });
    expect(granted(seen, { witness: 42 }).record.token).toBe(43);
    expect(granted(seen, { witness: 41 }).record.token).toBe(43);
    expect(() => checkWitness("blog-main", null, 0)).not.toThrow();
  });
});

describe("a record is followed", () => {
  const mine = { token: 1, claim: holder };

  it.each(["renewed", "released"] as const)("by its holder, when it is %s", (event) => {
    const seen = held();
    expect(succeed(seen, mine, { event, nonce: "nonce-of-mine" })).toEqual({
      expected: seen.oid,
      root: false,
      record: {
        ...seen.record,
        event,
        state: event === "released" ? "released" : "held",
        previous: seen.oid,
        depth: 2,
        nonce: "nonce-of-mine",
      },
    });
  });

  it("by its holder's push, which says what was published and is a renewal too", () => {
    const seen = held();
    const published = { "refs/heads/main": "c".repeat(40), "refs/tags/v1": "d".repeat(40) };
    const write = succeed(seen, mine, { event: "pushed", published, nonce: fresh() });
    expect(write).toMatchObject({
      expected: seen.oid,
      record: { event: "pushed", state: "held", published },
    });
  });

  const other = { token: 1, claim: challenger };
  it.each<[string, SeenLease | null, { token: number; claim: Claim }]>([
    ["when there is none", null, mine],
    ["by another claim with the right token", held(), other],
    [
      "by another claim of the same job and run",
      held(),
      { token: 1, claim: { ...holder, id: "44444444-dddd" } },
    ],
    ["by its own claim with an older token", held({ token: 2 }), mine],
    ["by its own claim with a token from the future", held(), { ...mine, token: 2 }],
    ["after its holder released it", succeeded(held(), "released"), mine],
    ["after somebody took it over", stored(granted(held(), { holderFinished: true })), mine],
    ["after a person unlocked it", unlocked(held()), mine],
    ["by whoever quotes an unlock's token", unlocked(held()), { ...mine, token: 2 }],
  ])("not %s", (_, seen, who) => {
    expect(isMine(seen, who)).toBe(false);
    expect(succeed(seen, who, { event: "renewed", nonce: fresh() })).toBeNull();
    expect(succeed(seen, who, { event: "released", nonce: fresh() })).toBeNull();
    expect(succeed(seen, who, { event: "pushed", published: {}, nonce: fresh() })).toBeNull();
  });

  it("by its holder also after renewals and pushes of its own", () => {
    expect(isMine(pushed(succeeded(held(), "renewed")), mine)).toBe(true);
  });

  it("with the fields kept that this version does not know", () => {
    const seen = held({ region: "eu" } as Partial<LeaseRecord>);
    const write = succeed(seen, mine, { event: "renewed", nonce: fresh() });
    expect(write?.record).toMatchObject({ region: "eu", since: seen.record.since });
  });

  it("without what an earlier push published", () => {
    const before = pushed(held());
    expect(before.record.published).toBeDefined();
    expect(succeeded(before, "renewed").record).not.toHaveProperty("published");
    expect(succeeded(before, "released").record).not.toHaveProperty("published");
    expect(unlocked(before).record).not.toHaveProperty("published");
    expect(granted(succeeded(before, "released")).record).not.toHaveProperty("published");
    expect(granted(before, { holderFinished: true }).record).not.toHaveProperty("published");
  });

  it("without what an earlier unlock said", () => {
    const before = unlocked(held());
    expect(before.record.unlock).toBeDefined();
    expect(granted(before).record).not.toHaveProperty("unlock");
    const odd = held({ unlock: { by: "mona", reason: "stuck" } });
    expect(succeed(odd, mine, { event: "renewed", nonce: fresh() })?.record).not.toHaveProperty("unlock");
  });
});

describe("an unlock", () => {
  const request = {
    lease: "blog-main",
    token: 1,
    by: "mona",
    reason: "its runner burned down",
    now: writtenAt + 1000,
    nonce: "nonce-of-mine",
  };

  it("frees the lease, advances the token and records who and why", () => {
    const seen = held();
    expect(unlock(seen, request)).toEqual({
      outcome: "unlock",
      write: {
        expected: seen.oid,
        root: false,
        record: {
          ...seen.record,
          token: 2,
          state: "released",
          event: "unlocked",
          unlock: { by: "mona", reason: "its runner burned down" },
          previous: seen.oid,
          depth: 2,
          nonce: "nonce-of-mine",
          days: { "2026-01-02": { acquired: 1, unlocked: 1 } },
          recent: [
            {
              token: 1,
              who: "octo/blog run 812345.1 (write)",
              from: "2026-01-02T03:04:05.000Z",
              to: "2026-01-02T03:04:06.000Z",
              end: "unlocked",
            },
          ],
        },
      },
    });
  });

  it("changes nothing when there is no record", () => {
    expect(unlock(null, request)).toEqual({ outcome: "absent" });
  });

  it("changes nothing when the token is no longer, or not yet, the one that the person saw", () => {
    for (const token of [2, 40]) {
      const seen = held({ token });
      expect(unlock(seen, request)).toEqual({ outcome: "moved-on", seen });
      expect(unlock(seen, { ...request, token: 41 })).toEqual({ outcome: "moved-on", seen });
    }
  });

  it("changes nothing when the lease is free already", () => {
    const seen = succeeded(held(), "released");
    expect(unlock(seen, request)).toEqual({ outcome: "free", seen });
  });

  it("says that the lease moved on rather than that it is free, when both are so", () => {
    expect(unlock(unlocked(held()), request).outcome).toBe("moved-on");
  });
});

describe("a lease's record", () => {
  it.each<[SeenLease, string]>([
    [held(), "lease blog-main #1 acquired by octo/blog run 812345.1 (write) for 15m"],
    [succeeded(held(), "renewed"), "lease blog-main #1 renewed by octo/blog run 812345.1 (write) for 15m"],
    [pushed(held()), "lease blog-main #1 pushed main cccccccccc by octo/blog run 812345.1 (write)"],
    [succeeded(held(), "released"), "lease blog-main #1 released by octo/blog run 812345.1 (write)"],
    [unlocked(held()), "lease blog-main #2 unlocked by mona: stuck"],
  ])("%# has a sentence for people above it", ({ record }, sentence) => {
    expect(leaseMessage(record).split("\n\n")[0]).toBe(sentence);
  });

  it("is read back whatever people wrote into it", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(
      fc.property(text, text, text, (by, reason, job) => {
        const seen = held({ holder: { ...holder, job: job.slice(0, 300).toWellFormed() } });
        const decision = unlock(seen, {
          lease: "blog-main",
          token: 1,
          by,
          reason,
          now: writtenAt,
          nonce: fresh(),
        });
        if (decision.outcome !== "unlock") throw new Error(decision.outcome);
        expect(stored(decision.write).record).toEqual(decision.write.record);
        expect(leaseMessage(decision.write.record).split("\n\n")[0]).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      }),
    );
  });

  it("is null where there is none, and an error where it cannot be read", () => {
    expect(readLease(null)).toBeNull();
    const good = versioned(granted(null));
    expect(() => readLease({ ...good, message: "Fix a typo\n\nIt said teh." })).toThrow(RecordInvalid);
  });

  it.each([
    ["kind", "draft"],
    ["event", "stolen"],
    ["token", 0],
    ["token", 1.5],
    ["token", "1"],
    ["token", 2 ** 53],
    ["state", "free"],
    ["ttl", 0],
    ["ttl", 0.5],
    ["holder", undefined],
    ["holder", { id: "short" }],
    ["since", "yesterday"],
    ["published", { "refs/heads/main": 1 }],
    ["unlock", { by: "mona" }],
  ])("is an error where its %s is %j", (field, value) => {
    const write = granted(null);
    const record = { ...write.record, [field]: value } as LeaseRecord;
    const message = `lease\n\n${JSON.stringify(record)}`;
    expect(() => readLease({ ...versioned(write), message })).toThrow(RecordInvalid);
  });

  it("that its readers would refuse is never written", () => {
    const { record } = granted(null);
    expect(() => leaseMessage({ ...record, nonce: "short" })).toThrow(/length/);
    expect(() => leaseMessage({ ...record, ttl: 0 })).toThrow();
    expect(() => leaseMessage({ ...record, token: Number.MAX_SAFE_INTEGER + 1 })).toThrow();
    expect(() => leaseMessage({ ...record, holder: { ...record.holder, url: "file:///etc" } })).toThrow();
  });

  it("of a newer format is an error, not a free lease", () => {
    const write = granted(null);
    const message = encodeRecord("lease", { ...write.record, fencepost: 2, state: "released" });
    expect(() => readLease({ ...versioned(write), message })).toThrow(/Upgrade Fencepost/);
  });
});

describe("the allowance for clocks that differ", () => {
  it("is a third of a short TTL, and thirty seconds of a long one", () => {
    expect([1, 30_000, 90_000, 90_001, 900_000].map(defaultSkew)).toEqual([
      0, 10_000, 30_000, 30_000, 30_000,
    ]);
  });
});

describe("a holder", () => {
  const sentAt = { wall: 1_000_000, monotonic: 5000 };
  const limit = ttl * doubtShare;
  const later = (wall: number, monotonic: number) => ({
    wall: sentAt.wall + wall,
    monotonic: sentAt.monotonic + monotonic,
  });

  it.each([
    ["trusts its lease before two thirds of the TTL", limit - 1, limit - 1, false],
    ["doubts it at two thirds of the TTL", limit, limit, true],
    ["doubts it by the wall clock alone, as after the machine slept", limit, 10, true],
    ["doubts it by the monotonic clock alone, as when the wall clock was set back", -3_600_000, limit, true],
    ["is not younger for a wall clock that was set back", -3_600_000, limit - 1, false],
  ])("%s", (_, wall, monotonic, doubt) => {
    expect(inDoubt(ttl, sentAt, later(wall, monotonic))).toBe(doubt);
  });

  it("counts by whichever clock says more", () => {
    expect(elapsed(sentAt, later(3, 5))).toBe(5);
    expect(elapsed(sentAt, later(5, 3))).toBe(5);
  });

  it("doubts its lease before anybody may take it, on any two clocks that run at the same speed", () => {
    const span = fc.integer({ min: 0, max: 3 * ttl });
    fc.assert(
      fc.property(fc.integer({ min: 30_000, max: ttl }), span, span, (ttl, delay, passed) => {
        // Sent at 0, stamped by the store `delay` later; both then look `passed` after the sending.
        fc.pre(passed >= delay);
        const seen = { ...held(), writtenAt: delay, record: { ...held().record, ttl } };
        const taken = acquire(seen, ask({ now: passed })).outcome === "grant";
        return !taken || inDoubt(ttl, { wall: 0, monotonic: 0 }, { wall: 0, monotonic: passed });
      }),
    );
  });
});
