import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type CatchUpPlan, countCatchUp, dueSlots, slotKey } from "../../src/protocol/catch-up.js";
import { parseSchedule } from "../../src/protocol/schedule.js";

const at = (text: string) => Date.parse(text);
const hourly = parseSchedule("0 * * * *");
const now = at("2026-11-30T12:34:56Z");
const hour = 3_600_000;
const last = at("2026-11-30T12:00Z");

function plan(lastSuccess: number | null, maxBackfill = 3, schedule = hourly): CatchUpPlan {
  return dueSlots({ schedule, lastSuccess, now, maxBackfill });
}

const hours = (found: CatchUpPlan) => found.run.map((slot) => new Date(slot.at).getUTCHours());

describe("dueSlots", () => {
  test.each<[string, number | null, number[], number, number]>([
    ["nothing is due twice", last, [], 0, 0],
    ["one slot", last - hour, [12], 0, 1],
    ["the newest run, the oldest of them first", last - 3 * hour, [10, 11, 12], 0, 3],
    ["older ones are dropped and counted", last - 10 * hour, [10, 11, 12], 7, 10],
    ["the first run ever has only the newest", null, [12], 0, 1],
    ["clocks that went backwards", now + hour, [], 0, 0],
    ["a last success between slots", last - hour + 1, [12], 0, 1],
  ])("%s", (_, lastSuccess, run, dropped, due) => {
    const found = plan(lastSuccess);
    expect(hours(found)).toEqual(run);
    expect(found).toMatchObject({ dropped, due, nothingDue: due === 0 });
  });

  test("a slot at this very moment is due", () => {
    expect(dueSlots({ schedule: hourly, lastSuccess: last - hour, now: last, maxBackfill: 3 }).due).toBe(1);
    expect(dueSlots({ schedule: hourly, lastSuccess: last - hour, now: last - 1, maxBackfill: 3 }).due).toBe(
      0,
    );
  });

  test("a moment before a slot, that slot takes nobody's place", () => {
    const found = dueSlots({ schedule: hourly, lastSuccess: last - 5 * hour, now: last - 1, maxBackfill: 3 });
    expect(hours(found)).toEqual([9, 10, 11]);
    expect(found).toMatchObject({ due: 4, dropped: 1 });
  });

  test.each([0, -1, 1.5, 1001, Number.NaN])("max-backfill %d is refused", (maxBackfill) => {
    expect(() => plan(last, maxBackfill)).toThrow(RangeError);
  });

  test("a slot has one key, whoever runs it and however late", () => {
    const tokyo = parseSchedule("0 9 * * mon-fri", "Asia/Tokyo");
    expect(slotKey(tokyo, at("2026-11-30T00:00Z"))).toBe("0 9 * * MON-FRI Asia/Tokyo 2026-11-30T00:00Z");
    const keys = (more: number) => plan(last - more * hour).run.map(({ key }) => key);
    expect(keys(9)).toEqual(keys(5));
    expect(new Set(keys(9)).size).toBe(3);
  });

  test("two runs that fire for the same hour: the second has nothing to do", () => {
    const first = plan(last - hour);
    const newest = first.run.at(-1)?.at ?? null;
    expect(plan(newest)).toMatchObject({ run: [], nothingDue: true });
  });

  test.each([
    ["0 * * * *", "UTC", 1, 8760],
    ["*/5 * * * *", "UTC", 1, 105_120],
    ["*/5 * * * *", "America/New_York", 10, 1_051_776],
    ["* * * * *", "Europe/Stockholm", 50, 26_297_280],
  ])("%s in %s, off for %i years, is counted without walking", (expression, timezone, years, due) => {
    const schedule = parseSchedule(expression, timezone);
    const lastSuccess = at(`${2026 - years}-11-30T12:30Z`);
    const count = () => dueSlots({ schedule, lastSuccess, now: at("2026-11-30T12:30Z"), maxBackfill: 3 });
    count();
    const begun = performance.now();
    const found = count();
    expect(performance.now() - begun).toBeLessThan(years > 10 ? 500 : 100);
    expect(found).toMatchObject({ due, dropped: due - 3 });
  });
});

describe("counts", () => {
  test("started, skipped, dropped and nothing due add up to due, whatever happened", () => {
    const outcome = fc.constantFrom("started" as const, "skipped_overlap" as const, "nothing_due" as const);
    fc.assert(
      fc.property(
        fc.option(fc.integer({ min: -5, max: 400 })),
        fc.integer({ min: 1, max: 20 }),
        fc.infiniteStream(outcome),
        (hoursAgo, maxBackfill, outcomes) => {
          const found = plan(hoursAgo === null ? null : now - hoursAgo * hour, maxBackfill);
          const counts = countCatchUp(found, [...outcomes.take(found.run.length)]);
          expect(counts.started + counts.skipped_overlap + counts.dropped + counts.nothing_due).toBe(
            counts.due,
          );
          expect(found.run.length).toBe(Math.min(found.due, maxBackfill));
          expect(found.run).toEqual(found.run.toSorted((a, b) => a.at - b.at));
          expect(counts.dropped).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });

  test("an outcome too few or too many is refused", () => {
    expect(() => countCatchUp(plan(last - hour), [])).toThrow(RangeError);
    expect(() => countCatchUp(plan(last), ["started"])).toThrow(RangeError);
  });
});
