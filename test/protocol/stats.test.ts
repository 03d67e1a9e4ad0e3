// Counters beside a lease: rows of skips, days, and records that follow each other as a lease's do.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longestChain } from "../../src/protocol/lease.js";
import { RecordInvalid, type Versioned } from "../../src/protocol/record.js";
import {
  countSkip,
  countSuperseded,
  readStats,
  type SeenStats,
  type StatsRecord,
  type StatsWrite,
  statsMessage,
  statsRecordName,
} from "../../src/protocol/stats.js";

const day = 86_400_000;
const now = Date.UTC(2026, 10, 30, 7, 0, 2);
let writes = 0;

function versioned({ record, expected, root }: StatsWrite): Versioned {
  writes++;
  return {
    name: statsRecordName(record.name),
    oid: writes.toString(16).padStart(40, "0"),
    writtenAt: now,
    parents: root || expected === null ? [] : [expected],
    message: statsMessage(record),
  };
}

function stored(write: StatsWrite): SeenStats {
  const seen = readStats(versioned(write));
  if (seen === null) throw new Error("nothing was stored");
  return seen;
}

const ask = { lease: "blog-main", now, nonce: "nonce-of-mine" };

function skipped(seen: SeenStats | null, token = 42, at = now): SeenStats {
  return stored(countSkip(seen, { ...ask, token, now: at }));
}

function refused(seen: SeenStats | null, at = now): SeenStats {
  return stored(countSuperseded(seen, { ...ask, now: at }));
}

function row(seen: SeenStats) {
  return seen.record.row;
}

describe("a skip", () => {
  it("is counted by the day, from the first on", () => {
    expect(countSkip(null, { ...ask, token: 42 })).toEqual({
      expected: null,
      root: true,
      record: {
        fencepost: 1,
        kind: "stats",
        name: "blog-main",
        event: "skipped_overlap",
        days: { "2026-11-30": { skipped_overlap: 1 } },
        row: 1,
        token: 42,
        previous: null,
        depth: 1,
        nonce: "nonce-of-mine",
      },
    });
  });

  it("goes on with the row while it meets the same token, also on another day", () => {
    const three = skipped(skipped(skipped(null)), 42, now + day);
    expect(row(three)).toBe(3);
    expect(three.record.days).toEqual({
      "2026-11-30": { skipped_overlap: 2 },
      "2026-12-01": { skipped_overlap: 1 },
    });
  });

  it("begins a new row when the lease has changed hands", () => {
    const other = skipped(skipped(skipped(null)), 43);
    expect([row(other), other.record.token]).toEqual([1, 43]);
    expect(other.record.days).toEqual({ "2026-11-30": { skipped_overlap: 3 } });
  });
});

describe("a refused late push", () => {
  it("is counted by the day, and leaves the row as it is", () => {
    const seen = refused(skipped(skipped(null)));
    expect(seen.record).toMatchObject({
      event: "superseded",
      days: { "2026-11-30": { skipped_overlap: 2, superseded: 1 } },
      row: 2,
      token: 42,
    });
    expect(row(skipped(seen))).toBe(3);
  });

  it("needs no skip before it", () => {
    const seen = refused(null);
    expect([row(seen), seen.record.token]).toEqual([0, undefined]);
    expect(row(skipped(seen))).toBe(1);
  });
});

describe("a stats record", () => {
  it.each<[string, SeenStats]>([
    ["stats blog-main: 1 skipped_overlap today, 1 in a row", skipped(null)],
    ["stats blog-main: 3 skipped_overlap today, 1 in a row", skipped(skipped(skipped(null)), 43)],
    ["stats blog-main: 1 skipped_overlap today, 2 in a row", skipped(skipped(null), 42, now + day)],
    ["stats blog-main: 1 superseded today", refused(skipped(null))],
  ])("has the sentence %j", (sentence, { record }) => {
    expect(statsMessage(record).split("\n\n")[0]).toBe(sentence);
  });

  it("keeps its sentence on one line, whatever the lease is called", () => {
    const write = countSkip(null, { ...ask, lease: "a\nb", token: 1 });
    expect(statsMessage(write.record).split("\n\n")[0]).toMatch(/^stats a b: /);
  });

  it.each(["skip", "superseded"])("starts a new root at the longest chain, at any count: %s", (kind) => {
    const write = (depth: number, keepChain = false) => {
      const seen = skipped(null);
      const long = { ...seen, record: { ...seen.record, depth } };
      return [
        long.oid,
        kind === "skip"
          ? countSkip(long, { ...ask, token: 42, keepChain })
          : countSuperseded(long, { ...ask, keepChain }),
      ] as const;
    };
    const [before, last] = write(longestChain - 1);
    expect(last).toMatchObject({ root: false, expected: before, record: { depth: longestChain } });
    const [tip, fresh] = write(longestChain);
    expect(fresh).toMatchObject({ root: true, expected: tip, record: { depth: 1, previous: tip } });
    expect(stored(fresh).record.days["2026-11-30"]?.skipped_overlap).toBe(kind === "skip" ? 2 : 1);
    expect(write(longestChain, true)[1]).toMatchObject({ root: false, record: { depth: longestChain + 1 } });
  });

  it("keeps the fields that this version does not know", () => {
    const seen = skipped(null);
    const more = { ...seen, record: { ...seen.record, region: "eu" } as StatsRecord };
    expect(countSkip(more, { ...ask, token: 42 }).record).toMatchObject({ region: "eu" });
  });

  it("that its readers would refuse is never written", () => {
    const { record } = countSkip(null, { ...ask, token: 42 });
    expect(() => statsMessage({ ...record, nonce: "short" })).toThrow(/length/);
    expect(() => statsMessage({ ...record, row: -1 })).toThrow();
    expect(() => statsMessage({ ...record, token: 0 })).toThrow();
    expect(() => statsMessage({ ...record, days: { today: {} } })).toThrow();
  });

  it.each([
    ["kind", "lease"],
    ["event", "acquired"],
    ["row", 0.5],
    ["token", "42"],
    ["days", { "2026-11-30": { skipped_overlap: -1 } }],
    ["days", undefined],
  ])("is an error where its %s is %j", (field, value) => {
    const seen = versioned(countSkip(null, { ...ask, token: 42 }));
    const { record } = readStats(seen) as SeenStats;
    const message = `stats\n\n${JSON.stringify({ ...record, [field]: value })}`;
    expect(() => readStats({ ...seen, message })).toThrow(RecordInvalid);
  });

  it("is null where there is none, and an error at another lease's ref or off its chain", () => {
    expect(readStats(null)).toBeNull();
    const seen = versioned(countSkip(skipped(null), { ...ask, token: 42 }));
    expect(() => readStats({ ...seen, name: statsRecordName("other") })).toThrow(/belongs to "blog-main"/);
    expect(() => readStats({ ...seen, parents: [] })).toThrow(/history was rewritten/);
  });

  it("adds up over 35 days, and stays small", () => {
    const events = fc.array(
      fc.record({ skip: fc.boolean(), token: fc.integer({ min: 1, max: 3 }), wait: fc.nat(day / 4) }),
      { maxLength: 400 },
    );
    fc.assert(
      fc.property(events, (events) => {
        let seen: SeenStats | null = null;
        let [at, row, last] = [now, 0, 0];
        const all: { skip: boolean; at: number }[] = [];
        for (const { skip, token, wait } of events) {
          at += wait;
          all.push({ skip, at });
          if (skip) [row, last] = [token === last ? row + 1 : 1, token];
          seen = skip ? skipped(seen, token, at) : refused(seen, at);
        }
        if (seen === null) return;
        const oldest = Math.floor(at / day) - 34;
        const kept = all.filter((event) => Math.floor(event.at / day) >= oldest);
        const sum = (key: "skipped_overlap" | "superseded") =>
          Object.values(seen?.record.days ?? {}).reduce((n, counts) => n + (counts[key] ?? 0), 0);
        expect(sum("skipped_overlap")).toBe(kept.filter((event) => event.skip).length);
        expect(sum("superseded")).toBe(kept.filter((event) => !event.skip).length);
        expect(seen.record.row).toBe(row);
        expect(statsMessage(seen.record).length).toBeLessThan(4096);
      }),
      { numRuns: 25 },
    );
  });
});
