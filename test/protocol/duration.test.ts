// Durations: what people may write, what they get back, and what an error tells them.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DurationInvalid, formatDuration, parseDuration } from "../../src/protocol/duration.js";

const anyRange = { least: 0, most: Number.MAX_SAFE_INTEGER };

function parse(given: string): number {
  return parseDuration("ttl", given, anyRange);
}

function problem(given: string, range = anyRange): string {
  try {
    parseDuration("ttl", given, range);
  } catch (error) {
    expect(error).toBeInstanceOf(DurationInvalid);
    return (error as Error).message;
  }
  throw new Error(`${given} was accepted`);
}

describe("a duration", () => {
  it.each([
    ["250ms", 250],
    ["0.5s", 500],
    ["90s", 90_000],
    ["15m", 900_000],
    ["1h30m", 5_400_000],
    ["1.5h", 5_400_000],
    ["2d4h", 187_200_000],
    [" 15m ", 900_000],
    ["0s", 0],
  ])("%j is %d milliseconds", (given, ms) => {
    expect(parse(given)).toBe(ms);
  });

  it("is a whole number of milliseconds", () => {
    expect(parse("0.0014s")).toBe(1);
    expect(parse("0.1s0.2s")).toBe(300);
  });

  it.each([
    "",
    " ",
    "15",
    "m",
    "15 m",
    "15M",
    "15min",
    "15 minutes",
    "-15m",
    "+15m",
    "1e3s",
    "1,000s",
    ".5s",
    "1w",
    "1y",
    "15m,",
    "15m\n5s",
    "١٥m",
    "Infinitys",
    `${"9".repeat(400)}s`,
  ])("%j is refused, with the option and good examples in the error", (given) => {
    expect(problem(given)).toMatch(/^ttl: ".*" is not a duration\. Good ones: 90s, 15m, 1h30m$/);
  });

  it("is cut in the error where it is very long", () => {
    expect(problem("x".repeat(10_000)).length).toBeLessThan(120);
  });

  it("may be as small and as large as its range, and no further", () => {
    const range = { least: 1000, most: 60_000 };
    expect(parseDuration("ttl", "1s", range)).toBe(1000);
    expect(parseDuration("ttl", "1m", range)).toBe(60_000);
    expect(problem("999ms", range)).toBe('ttl: "999ms" is out of range; it takes 1s to 1m. A good one: 15m');
    expect(problem("60001ms", range)).toMatch(/^ttl: "60001ms" is out of range; it takes 1s to 1m\./);
  });

  it("is compared with its range before it is rounded", () => {
    expect(problem("999.9ms", { least: 1000, most: 60_000 })).toMatch(/out of range/);
    expect(problem("60000.1ms", { least: 1000, most: 60_000 })).toMatch(/out of range/);
  });

  it("never escapes its range, whatever is given", () => {
    const text = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom(..."0123456789.smhd ") }),
      fc
        .array(fc.tuple(fc.nat(100_000), fc.constantFrom("ms", "s", "m", "h", "d")))
        .map((parts) => parts.flat().join("")),
    );
    const range = { least: 1000, most: 3_600_000 };
    fc.assert(
      fc.property(text, (given) => {
        try {
          const ms = parseDuration("wait", given, range);
          return Number.isInteger(ms) && ms >= range.least && ms <= range.most;
        } catch (error) {
          return error instanceof DurationInvalid && /^wait: .*good one/is.test(error.message);
        }
      }),
    );
  });
});

describe("a formatted duration", () => {
  it.each([
    [0, "0s"],
    [-5, "0s"],
    [400, "400ms"],
    [1000, "1s"],
    [90_000, "1m30s"],
    [900_000, "15m"],
    [5_400_000, "1h30m"],
    [3_601_000, "1h"],
    [187_200_000, "2d4h"],
    [86_400_000 * 400, "400d"],
  ])("of %d ms is %s", (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it("is read back as the same duration when two neighbouring units can say it", () => {
    const units = [86_400, 3600, 60, 1];
    const exact = fc
      .tuple(fc.constantFrom(0, 1, 2), fc.integer({ min: 1, max: 23 }), fc.integer({ min: 0, max: 23 }))
      .map(([i, many, few]) => 1000 * (many * (units[i] as number) + few * (units[i + 1] as number)));
    fc.assert(fc.property(exact, (ms) => parse(formatDuration(ms)) === ms));
    fc.assert(fc.property(fc.integer({ min: 1, max: 999 }), (ms) => parse(formatDuration(ms)) === ms));
  });

  it("is always a duration that can be read, of at most two units, and close to what was meant", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e12 }), (ms) => {
        const text = formatDuration(ms);
        expect(text).toMatch(/^(\d+(ms|s|m|h|d)){1,2}$/);
        expect(Math.abs(parse(text) - ms)).toBeLessThanOrEqual(Math.max(500, ms / 24));
      }),
    );
  });
});
