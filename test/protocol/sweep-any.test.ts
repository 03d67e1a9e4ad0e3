// The rules of the sweep that hold for any drafts and records.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type SeenDraft, startDraft } from "../../src/protocol/draft.js";
import { RecordInvalid } from "../../src/protocol/record.js";
import { headings, planSweep } from "../../src/protocol/sweep.js";
import {
  blobA,
  blobB,
  type DraftRef,
  due,
  heldRef,
  minute,
  nonce,
  published,
  start,
} from "./draft-fixture.js";
import { draft, dueAt, ended, fail, publish, started, sweep } from "./sweep-fixture.js";

describe("for any drafts and records", () => {
  const reading = fc.oneof(
    { weight: 3, arbitrary: fc.constant(due) },
    fc.constant(published),
    fc.constant({ state: "unreadable", reason: "x" } as const),
    fc.integer({ min: -9, max: 9 }).map((n) => ({ state: "pending", due: start + n * minute }) as const),
  );
  const refOf = fc.constantFrom(
    () => null,
    heldRef,
    started,
    (path: string) => ended(path, fail),
    (path: string) => ended(path, fail, 1),
    (path: string) => ended(path, publish),
    () => new RecordInvalid("draft/x" as never, "broken", "broken"),
  );
  const one = fc.record({
    reading,
    age: fc.option(fc.integer({ min: 0, max: 120 }).map((n) => n * minute)),
    blob: fc.constantFrom(blobA, blobB),
    record: refOf,
    finished: fc.boolean(),
  });
  const world = fc.record({
    drafts: fc.array(one, { maxLength: 12 }),
    maxStart: fc.integer({ min: 0, max: 5 }),
    now: fc.integer({ min: 0, max: 60 }).map((n) => start + n * minute),
    trigger: fc.constantFrom("event" as const, "clock" as const),
    maxAttempts: fc.integer({ min: 1, max: 3 }),
  });

  test("each is under one heading, the headings add up, and no more than max-start begin, the oldest of all", () => {
    fc.assert(
      fc.property(world, ({ drafts, ...rest }) => {
        const records = new Map<string, SeenDraft | RecordInvalid>();
        const given = drafts.map((each, i) => {
          const made = each.record(`p${i}`);
          if (made instanceof RecordInvalid) records.set(`p${i}`, made);
          else if (made) records.set(`p${i}`, made.read() as SeenDraft);
          return { path: `p${i}`, blob: each.blob, reading: each.reading, age: each.age };
        });
        const finished = new Set(given.filter((_, i) => drafts[i]?.finished).map(({ path }) => path));
        const plan = planSweep({ drafts: given, records, skew: 0, finished, ...rest });

        expect(plan.report.map(({ path }) => path)).toEqual(given.map(({ path }) => path));
        expect(headings.reduce((sum, heading) => sum + plan.counts[heading], 0)).toBe(given.length);
        expect(Object.keys(plan.counts).sort()).toEqual([...headings].sort());
        for (const heading of headings)
          expect(plan.report.filter((each) => each.heading === heading)).toHaveLength(plan.counts[heading]);

        expect(plan.start.length).toBeLessThanOrEqual(rest.maxStart);
        expect(plan.start).toHaveLength(plan.counts.started);
        if (plan.counts.over_cap > 0) expect(plan.start).toHaveLength(rest.maxStart);

        // One draft's fault is never another's: without the unreadable ones the plan for the others is the same.
        const readable = given.filter(({ path }) => {
          const heading = plan.report.find((each) => each.path === path)?.heading;
          return heading !== "unreadable" && heading !== "dead";
        });
        const without = planSweep({ drafts: readable, records, skew: 0, finished, ...rest });
        expect(without.start).toEqual(plan.start);

        // What the plan starts can be started, and nothing is both started and repaired.
        for (const { path, blob, reading } of plan.start) {
          const seen = (records.get(path) as SeenDraft | undefined) ?? null;
          const view = { draft: path, blob, reading, now: rest.now, skew: 0, maxAttempts: rest.maxAttempts };
          const write = startDraft(seen, {
            ...view,
            holderFinished: finished.has(path),
            staleAfter: 20 * minute,
            nonce: nonce(),
          });
          expect(write).not.toBeNull();
          expect(plan.repairs.map((repair) => repair.path)).not.toContain(path);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("the oldest pending draft is among the started whenever any is", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1 }),
        fc.integer({ min: 1, max: 3 }),
        (dues, maxStart) => {
          const drafts = dues.map((n, i) => draft(`p${i}`, dueAt(start - n * minute)));
          const oldest = Math.max(...dues);
          const [first] = sweep(drafts, [], { maxStart }).start;
          expect(first?.reading).toEqual(dueAt(start - oldest * minute).reading);
        },
      ),
    );
  });
});

test("10,000 drafts with 200 records are planned in well under 200 ms", () => {
  const drafts = Array.from({ length: 10_000 }, (_, i) =>
    draft(`posts/${i}.md`, dueAt(start - ((i * 7919) % 10_000) * minute)),
  );
  const refs = Array.from(
    { length: 200 },
    (_, i) => [heldRef, started, (p: string) => ended(p, fail)][i % 3]?.(`posts/${i}.md`) as DraftRef,
  );
  const records = new Map(refs.map((ref) => [ref.path, ref.read() as SeenDraft]));
  const ask = {
    drafts,
    records,
    now: start,
    skew: 0,
    trigger: "clock",
    maxStart: 5,
    maxAttempts: 3,
  } as const;
  planSweep(ask);
  const begun = performance.now();
  const plan = planSweep(ask);
  expect(performance.now() - begun).toBeLessThan(200);
  expect(plan.counts).toMatchObject({ started: 5, held: 67 });
});
