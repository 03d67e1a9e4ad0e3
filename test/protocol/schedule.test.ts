import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  countSlots,
  newestSlots,
  parseSchedule,
  ScheduleInvalid,
  slotsBetween,
} from "../../src/protocol/schedule.js";
import { offsetAt, TimezoneInvalid } from "../../src/protocol/zone.js";

const at = (text: string) => Date.parse(text);
const day = 86_400_000;
const shown = (slots: number[]) => slots.map((slot) => new Date(slot).toISOString().slice(5, 16));

describe("parseSchedule", () => {
  test.each([
    "*/5 * * * *",
    "20/15 * * * *",
    "0 9 * * MON-FRI",
    "0 0 1 jan *",
    "5,10-20/2 0-23 * * 0",
    "0 0 29 2 *",
    " 0  9 * *\t1 ",
  ])("%s is read", (given) => {
    expect(parseSchedule(given).expression).toBe(given.trim().split(/\s+/).join(" ").toUpperCase());
  });

  test.each([
    ["", /has 0 fields; it takes five/],
    ["* * * *", /has 4 fields/],
    ["0 * * * * *", /has 6 fields/],
    ["@daily", /has 1 fields/],
    ["0 0 L * *", /has a field "L"/],
    ["0 0 15W * *", /has a field/],
    ["0 0 * * 5#2", /has a field/],
    ["? * * * *", /has a field/],
    ["MONFRI * * * *", /has a field/],
    [`${"1".repeat(5000)}x * * * *`, /has a field/],
    ["60 * * * *", /cannot be read: Invalid value for minute: 60/],
    ["0 24 * * *", /Invalid value for hour/],
    ["0 0 0 * *", /cannot be read/],
    ["30-10 * * * *", /cannot be read/],
    ["1-5/0 * * * *", /cannot be read/],
    ["0 0 * FOO *", /cannot be read/],
    ["0 0 31 2 *", /never comes/],
  ])("%j is refused", (given, why) => {
    expect(() => parseSchedule(given)).toThrow(ScheduleInvalid);
    expect(() => parseSchedule(given)).toThrow(why);
  });

  test("an unknown zone is refused", () => {
    expect(() => parseSchedule("0 9 * * *", "Asia/Tokio")).toThrow(TimezoneInvalid);
  });
});

describe("slots", () => {
  test.each<[string, string, string, string, string[]]>([
    [
      "20/15 * * * *",
      "UTC",
      "2026-01-01T00:00Z",
      "2026-01-01T01:20Z",
      ["01-01T00:20", "01-01T00:35", "01-01T00:50", "01-01T01:20"],
    ],
    [
      "0 9 * * MON-FRI",
      "Asia/Tokyo",
      "2026-01-02T00:00Z",
      "2026-01-06T00:00Z",
      ["01-05T00:00", "01-06T00:00"],
    ],
    ["0 0 1 * MON", "UTC", "2026-01-30T00:00Z", "2026-02-03T00:00Z", ["02-01T00:00", "02-02T00:00"]],
    [
      "30 2 * * *",
      "Europe/Stockholm",
      "2026-03-28T12:00Z",
      "2026-03-30T12:00Z",
      ["03-29T01:00", "03-30T00:30"],
    ],
    ["30 2 * * *", "Europe/Stockholm", "2026-10-24T12:00Z", "2026-10-25T12:00Z", ["10-25T00:30"]],
    [
      "30 * * * *",
      "Europe/Stockholm",
      "2026-10-24T23:00Z",
      "2026-10-25T02:00Z",
      ["10-24T23:30", "10-25T00:30", "10-25T01:30"],
    ],
    [
      "30 * * * *",
      "Europe/Stockholm",
      "2026-03-29T00:00Z",
      "2026-03-29T02:00Z",
      ["03-29T00:30", "03-29T01:30"],
    ],
  ])("%s in %s", (expression, timezone, after, upTo, slots) => {
    const schedule = parseSchedule(expression, timezone);
    expect(shown(slotsBetween(schedule, at(after), at(upTo)))).toEqual(slots);
    expect(shown(newestSlots(schedule, at(after), at(upTo), 99))).toEqual(slots);
    expect(countSlots(schedule, at(after), at(upTo))).toBe(slots.length);
  });

  test("the start is excluded and the end is included, to the millisecond", () => {
    const schedule = parseSchedule("0 9 * * *");
    const nine = at("2026-01-01T09:00Z");
    for (const [after, upTo, slots] of [
      [nine - 1, nine, 1],
      [nine, nine + 1, 0],
      [nine - 2, nine - 1, 0],
      [nine + 1, nine, 0],
    ] as const) {
      expect(countSlots(schedule, after, upTo)).toBe(slots);
      expect(newestSlots(schedule, after, upTo, 9)).toHaveLength(slots);
      expect(slotsBetween(schedule, after, upTo)).toHaveLength(slots);
    }
  });

  const zones = [
    "UTC",
    "Asia/Tokyo",
    "Europe/Stockholm",
    "America/New_York",
    "America/Sao_Paulo",
    "Africa/Cairo",
    "Africa/Casablanca",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "America/St_Johns",
  ];
  const list = (min: number, max: number) =>
    fc.oneof(
      { weight: 2, arbitrary: fc.constant("*") },
      fc.integer({ min, max }).map(String),
      fc.integer({ min: 2, max: Math.max(2, Math.floor(max / 2)) }).map((step) => `*/${step}`),
      fc
        .tuple(fc.integer({ min, max }), fc.integer({ min, max }))
        .map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
      fc.array(fc.integer({ min, max }), { minLength: 2, maxLength: 4 }).map((values) => values.join(",")),
    );
  // Not every minute: counting one by one, as this test does, is what the code avoids.
  const minutes = fc.oneof(
    fc.integer({ min: 0, max: 59 }).map(String),
    fc.constantFrom("0,30", "*/20", "50-59/3", "7"),
  );
  const expression = fc
    .tuple(minutes, list(0, 23), list(1, 28), list(1, 12), list(0, 6))
    .map((parts) => parts.join(" "));
  const times = fc.tuple(
    fc.integer({ min: at("2005-01-01T00:00Z"), max: at("2027-01-01T00:00Z") }),
    fc.integer({ min: 0, max: 40 * day }),
  );

  test("counting by days finds exactly what enumeration finds, in any zone", () => {
    fc.assert(
      fc.property(
        expression,
        fc.constantFrom(...zones),
        times,
        fc.integer({ min: 1, max: 9 }),
        (given, timezone, [after, span], most) => {
          const schedule = parseSchedule(given, timezone);
          const all = slotsBetween(schedule, after, after + span);
          expect(countSlots(schedule, after, after + span)).toBe(all.length);
          expect(newestSlots(schedule, after, after + span, most)).toEqual(all.slice(-most));
        },
      ),
      { numRuns: 150 },
    );
  });

  test.each(zones)("around every change of the clocks in %s", (timezone) => {
    const changes: number[] = [];
    for (const year of [2011, 2018, 2026])
      for (let hour = at(`${year}-01-01T00:00Z`); hour < at(`${year + 1}-01-01T00:00Z`); hour += day / 24)
        if (offsetAt(timezone, hour) !== offsetAt(timezone, hour - day / 24)) changes.push(hour);
    for (const given of [
      "30 2 * * *",
      "0 0 * * *",
      "30 0,23 * * *",
      "15,45 1-3 * * *",
      "*/30 * * * *",
      "0 2 * * 0",
    ]) {
      const schedule = parseSchedule(given, timezone);
      for (const change of changes)
        for (const [after, upTo] of [
          [change - 1.3 * day, change + 1.2 * day],
          [change - 1, change],
          [change, change + 1],
        ] as const)
          expect(countSlots(schedule, after, upTo)).toBe(slotsBetween(schedule, after, upTo).length);
    }
  });
});
