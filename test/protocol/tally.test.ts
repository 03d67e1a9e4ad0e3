// The history that a lease carries: what is counted on which day, which holders are remembered, and that it stays small.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Claim } from "../../src/protocol/claim.js";
import {
  acquire,
  type LeaseRecord,
  type LeaseWrite,
  leaseMessage,
  leaseRecordName,
  longestChain,
  readLease,
  type SeenLease,
  succeed,
  unlock,
} from "../../src/protocol/lease.js";
import { encodeRecord } from "../../src/protocol/record.js";
import { countDay, dayOf, daysKept, holdersKept, lastDays, utcDay } from "../../src/protocol/tally.js";

const ttl = 900_000;
const day = 86_400_000;
const start = Date.UTC(2026, 10, 30, 7, 0, 2);
const today = "2026-11-30";

let writes = 0;

/** What a store has after the write, at the time of the write. */
function stored(write: LeaseWrite, at: number): SeenLease {
  writes++;
  const { record, expected, root } = write;
  const seen = readLease({
    name: leaseRecordName(record.name),
    oid: writes.toString(16).padStart(40, "0"),
    writtenAt: at,
    parents: root || expected === null ? [] : [expected],
    message: leaseMessage(record),
  });
  if (seen === null) throw new Error("nothing was stored");
  return seen;
}

function claim(run: number, more: Partial<Claim> = {}): Claim {
  const id = `claim-${String(run).padStart(8, "0")}`;
  const url = `https://github.com/octo/blog/actions/runs/${run}/attempts/1`;
  return { id, repository: "octo/blog", runId: String(run), runAttempt: 1, job: "write", url, ...more };
}

const nonce = "nonce-of-mine";

function take(seen: SeenLease | null, by: Claim, now: number, finished = false): SeenLease {
  const ask = { lease: "blog-main", claim: by, ttl, now, skew: 0, nonce, holderFinished: finished };
  const decision = acquire(seen, ask);
  if (decision.outcome !== "grant") throw new Error("refused");
  return stored(decision.write, now);
}

function mine(seen: SeenLease) {
  return { token: seen.record.token, claim: seen.record.holder };
}

function release(seen: SeenLease, now: number): SeenLease {
  return stored(succeed(seen, mine(seen), { event: "released", nonce }) as LeaseWrite, now);
}

function renew(seen: SeenLease, now: number): SeenLease {
  return stored(succeed(seen, mine(seen), { event: "renewed", nonce }) as LeaseWrite, now);
}

function push(seen: SeenLease, now: number): SeenLease {
  const published = { "refs/heads/main": "c".repeat(40) };
  return stored(succeed(seen, mine(seen), { event: "pushed", nonce, published, now }) as LeaseWrite, now);
}

function free(seen: SeenLease, now: number): SeenLease {
  const ask = { lease: "blog-main", token: seen.record.token, by: "mona", reason: "stuck", now, nonce };
  const decision = unlock(seen, ask);
  if (decision.outcome !== "unlock") throw new Error(decision.outcome);
  return stored(decision.write, now);
}

const iso = (at: number) => new Date(at).toISOString();

describe("the day of a lease counts", () => {
  it("acquisitions, pushes and an unlock", () => {
    const seen = free(push(push(take(null, claim(1), start), start + 1), start + 2), start + 3);
    expect(seen.record.days).toEqual({ [today]: { acquired: 1, pushed: 2, unlocked: 1 } });
  });

  it.each<[string, SeenLease]>([
    ["expired", take(take(null, claim(1), start), claim(2), start + ttl)],
    ["finished", take(take(null, claim(1), start), claim(2), start + 1, true)],
    ["retried", take(take(null, claim(1), start), claim(1, { id: "claim-again", runAttempt: 2 }), start + 1)],
  ])("a takeover as %s, and as an acquisition", (reason, seen) => {
    expect(seen.record.days).toEqual({ [today]: { acquired: 2, [reason]: 1 } });
  });

  it("no takeover when the lease was released or unlocked before", () => {
    const released = release(take(null, claim(1), start), start + 1);
    expect(take(released, claim(2), start + 2).record.days).toEqual({ [today]: { acquired: 2 } });
    const unlocked = free(take(null, claim(1), start), start + 1);
    expect(take(unlocked, claim(2), start + 2).record.days).toEqual({
      [today]: { acquired: 2, unlocked: 1 },
    });
  });

  it("by the store's now of each event", () => {
    const acquired = take(null, claim(1), start);
    const pushed = push(acquired, start + day);
    const freed = free(pushed, start + 2 * day);
    expect(freed.record.days).toEqual({
      "2026-11-30": { acquired: 1 },
      "2026-12-01": { pushed: 1 },
      "2026-12-02": { unlocked: 1 },
    });
  });

  it("a push of unknown time on the day of the write before it", () => {
    const seen = take(null, claim(1), start);
    const write = succeed(seen, mine(seen), { event: "pushed", nonce, published: {} });
    expect(write?.record.days).toEqual({ [today]: { acquired: 1, pushed: 1 } });
  });

  it("nothing for a renewal or a release, which carry it along", () => {
    const seen = take(null, claim(1), start);
    const later = release(renew(seen, start + day), start + 2 * day);
    expect(later.record.days).toEqual(seen.record.days);
  });
});

describe("days", () => {
  it("are kept for 35 days, and not for one more", () => {
    const first = countDay(undefined, start, ["acquired"]);
    expect(Object.keys(countDay(first, start + (daysKept - 1) * day, ["acquired"]))).toContain(today);
    expect(Object.keys(countDay(first, start + daysKept * day, ["acquired"]))).not.toContain(today);
  });

  it("of a clock far ahead do not stay", () => {
    const ahead = countDay<"acquired" | "pushed">(undefined, start + 400 * day, ["acquired"]);
    expect(countDay(ahead, start, ["pushed"])).toEqual({ [today]: { pushed: 1 } });
  });

  it("that a clock slightly ahead has begun are gone on with, so that nothing is dropped at midnight", () => {
    const ahead = countDay(undefined, start + day, ["acquired"]);
    expect(dayOf(ahead, start)).toBe("2026-12-01");
    expect(countDay(ahead, start, ["acquired"])).toEqual({ "2026-12-01": { acquired: 2 } });
    expect(dayOf({}, start)).toBe(today);
  });

  it("count no further than a number can", () => {
    const days = countDay({ [today]: { pushed: Number.MAX_SAFE_INTEGER }, "2026-11-29": {} }, start, [
      "pushed",
    ]);
    expect(Object.entries(days)).toEqual([
      ["2026-11-29", {}],
      [today, { pushed: Number.MAX_SAFE_INTEGER }],
    ]);
  });

  it("are told newest first, the empty ones too", () => {
    const days = { "2026-11-28": { acquired: 3 }, "2026-11-01": { acquired: 9 } };
    expect(lastDays(days, start, 3)).toEqual([
      { day: "2026-11-30", counts: {} },
      { day: "2026-11-29", counts: {} },
      { day: "2026-11-28", counts: { acquired: 3 } },
    ]);
  });
});

describe("a holder that ended is remembered", () => {
  const first = {
    token: 1,
    who: "octo/blog run 1.1 (write)",
    url: "https://github.com/octo/blog/actions/runs/1/attempts/1",
    from: iso(start),
  };

  it("until its release", () => {
    const seen = take(release(take(null, claim(1), start), start + 60_000), claim(2), start + day);
    expect(seen.record.recent).toEqual([{ ...first, to: iso(start + 60_000), end: "released" }]);
  });

  it("until its time was up, even if it was taken over long after", () => {
    const seen = take(renew(take(null, claim(1), start), start + 1000), claim(2), start + day);
    expect(seen.record.recent).toEqual([{ ...first, to: iso(start + 1000 + ttl), end: "expired" }]);
  });

  it("until now, if it was taken over before its time was up", () => {
    const seen = take(take(null, claim(1), start), claim(2), start + 5000, true);
    expect(seen.record.recent).toEqual([{ ...first, to: iso(start + 5000), end: "finished" }]);
  });

  it("until now, if the date of its last write makes no sense", () => {
    for (const writtenAt of [Number.NaN, 0, 8.64e15, start + 2 * day]) {
      const odd = { ...release(take(null, claim(1), start), start + 1), writtenAt };
      expect(take(odd, claim(2), start + day).record.recent?.[0]?.to).toBe(iso(start + day));
    }
  });

  it("once, by its unlock, and not again by the next acquisition", () => {
    const freed = free(take(null, claim(1), start), start + 1);
    const told = [{ ...first, to: iso(start + 1), end: "unlocked" }];
    expect(freed.record.recent).toEqual(told);
    expect(take(freed, claim(2), start + 2).record.recent).toEqual(told);
  });

  it("with its own pushes, and not with those of the holder before", () => {
    const one = push(renew(push(take(null, claim(1), start), start + 1), start + 2), start + 3);
    const two = take(release(one, start + 4), claim(2), start + 5);
    expect(two.record).not.toHaveProperty("pushes");
    const three = take(push(two, start + 6), claim(3), start + 7, true);
    const four = take(three, claim(4), start + 8, true);
    expect(four.record.recent?.map((each) => each.pushed)).toEqual([2, 1, undefined]);
    expect(free(one, start + 9).record).not.toHaveProperty("pushes");
  });

  it("among the last eight", () => {
    let seen = take(null, claim(1), start);
    for (let run = 2; run <= 12; run++) seen = take(seen, claim(run), start + run, true);
    expect(seen.record.recent).toHaveLength(holdersKept);
    expect(seen.record.recent?.map((each) => each.token)).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it("without the rest of a very long name, and without a very long address", () => {
    const job = "j".repeat(98 - "octo/blog run 1.1 (".length).concat("😀".repeat(50));
    const url = `https://example.com/${"u".repeat(200)}`;
    const seen = take(take(null, claim(1, { job, url }), start), claim(2), start + 1, true);
    const [ended] = seen.record.recent ?? [];
    expect(ended?.who.length).toBeLessThanOrEqual(100);
    expect(ended?.who.isWellFormed()).toBe(true);
    expect(ended).not.toHaveProperty("url");
  });

  it("across a new root", () => {
    const old = release(take(null, claim(1), start), start + 1);
    const long = { ...old, record: { ...old.record, depth: longestChain } };
    const seen = take(long, claim(2), start + 2);
    expect(seen.record.depth).toBe(1);
    expect(seen.record.recent).toHaveLength(1);
    expect(seen.record.days).toEqual({ [today]: { acquired: 2 } });
  });
});

describe("a record's history", () => {
  function read(change: object): LeaseRecord | undefined {
    const { record } = take(null, claim(1), start);
    const message = encodeRecord("lease", { ...record, ...change });
    return readLease({
      name: leaseRecordName("blog-main"),
      oid: "a".repeat(40),
      writtenAt: start,
      parents: [],
      message,
    })?.record;
  }

  it("may be missing, as in records of old", () => {
    const record = read({ days: undefined, recent: undefined, pushes: undefined });
    expect(record).not.toHaveProperty("days");
    expect(record).not.toHaveProperty("recent");
    const seen = { record: record as LeaseRecord, oid: "a".repeat(40), writtenAt: start };
    expect(take(seen, claim(2), start + 1, true).record).toMatchObject({
      days: { [today]: { acquired: 1, finished: 1 } },
      recent: [{ token: 1 }],
    });
  });

  it.each([
    [{ days: "many" }, { days: {} }],
    [{ days: { yesterday: { acquired: 1 } } }, { days: {} }],
    [{ days: { [today]: { acquired: -1 } } }, { days: {} }],
    [{ recent: [{ token: 1 }] }, { recent: [] }],
    [{ recent: {} }, { recent: [] }],
    [{ pushes: "two" }, { pushes: 0 }],
  ])("that is damaged is forgotten, and keeps nobody from the lease: %j", (damaged, left) => {
    expect(read(damaged)).toMatchObject({ token: 1, ...left });
  });

  it("has one line a day and one a holder", () => {
    const { record } = take(take(null, claim(1), start), claim(2), start + 1, true);
    const lines = leaseMessage(record).split("\n");
    expect(lines).toContain('    "2026-11-30": { "acquired": 2, "finished": 1 }');
    expect(lines.filter((line) => line.includes('"end": "finished"'))).toHaveLength(1);
  });

  const kinds = ["take", "finish", "retry", "renew", "push", "release", "unlock"] as const;
  const event = fc.record({ kind: fc.constantFrom(...kinds), wait: fc.nat(2 * 100 * (day / 500)) });
  const names = fc.constantFrom("write", "w".repeat(300), "😀".repeat(150), '"'.repeat(300));

  it("adds up, and stays below 8 kB after 500 events within a hundred days", () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 500, maxLength: 500 }), names, (events, job) => {
        const counted = new Map<string, number>();
        let [now, run] = [start, 1];
        const add = (key: string) =>
          counted.set(`${utcDay(now)} ${key}`, (counted.get(`${utcDay(now)} ${key}`) ?? 0) + 1);
        let seen = take(null, claim(run), now);
        add("acquired");
        let ended = 0;
        const took = (finished: boolean, by = claim(++run, { job })) => {
          const { state, event } = seen.record;
          const over = now >= seen.writtenAt + ttl;
          if (state === "held" && !over && !finished && by.runAttempt === 1) return;
          const retried = by.runAttempt !== 1;
          if (state === "held") add(finished ? "finished" : retried ? "retried" : "expired");
          add("acquired");
          if (event !== "unlocked") ended++;
          seen = take(seen, by, now, finished);
        };
        for (const { kind, wait } of events) {
          now += wait;
          const held = seen.record.state === "held";
          const again = {
            ...seen.record.holder,
            id: `again-${now}-${ended}`,
            runAttempt: (seen.record.holder.runAttempt ?? 1) + 1,
          };
          if (kind === "take") took(false);
          else if (kind === "finish") took(true);
          else if (kind === "retry") took(false, again);
          else if (held && kind === "renew") seen = renew(seen, now);
          else if (held && kind === "release") seen = release(seen, now);
          else if (held && kind === "push") {
            add("pushed");
            seen = push(seen, now);
          } else if (held && kind === "unlock") {
            add("unlocked");
            ended++;
            seen = free(seen, now);
          }
        }
        const days = Object.entries(seen.record.days ?? {});
        expect(days.length).toBeLessThanOrEqual(daysKept);
        for (const [key, counts] of days)
          for (const [name, many] of Object.entries(counts))
            expect([name, many]).toEqual([name, counted.get(`${key} ${name}`)]);
        const shown = days.flatMap(([key, counts]) => Object.keys(counts).map((name) => `${key} ${name}`));
        const oldest = utcDay(Date.parse(days.at(-1)?.[0] ?? "") - (daysKept - 1) * day);
        expect(shown.sort()).toEqual([...counted.keys()].filter((key) => key.slice(0, 10) >= oldest).sort());
        expect(seen.record.recent ?? []).toHaveLength(Math.min(ended, holdersKept));
        expect(new TextEncoder().encode(leaseMessage(seen.record)).length).toBeLessThan(8192);
      }),
      { numRuns: 25 },
    );
  });
});
