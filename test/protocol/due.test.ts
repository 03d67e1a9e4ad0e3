import { describe, expect, test } from "vitest";
import { DueInvalid, parseDue } from "../../src/protocol/due.js";
import { checkTimezone, instantOf, offsetAt, TimezoneInvalid } from "../../src/protocol/zone.js";

const at = (text: string) => Date.parse(text);

describe("parseDue", () => {
  test.each([
    ["2026-11-30T09:00:00Z", "2026-11-30T09:00:00Z"],
    ["2026-11-30T09:00:00.123Z", "2026-11-30T09:00:00Z"],
    ["2026-11-30T09:00:00+09:00", "2026-11-30T00:00:00Z"],
    ["2015-11-17 16:16:01 -0600", "2015-11-17T22:16:01Z"],
    ["2026-11-30 09:00 UTC", "2026-11-30T09:00:00Z"],
    ["2026-11-30 09:03", "2026-11-30T00:03:00Z"],
    ["2013/7/13 20:46:25", "2013-07-13T11:46:25Z"],
    ["2026-11-30", "2026-11-29T15:00:00Z"],
    ["  2026-11-30  ", "2026-11-29T15:00:00Z"],
  ])("%s in Tokyo is %s", (given, due) => {
    expect(parseDue(given, "Asia/Tokyo")).toBe(at(due));
  });

  test("a date alone is due from the first moment of that day, also where midnight is skipped", () => {
    expect(parseDue("2018-11-04", "America/Sao_Paulo")).toBe(at("2018-11-04T03:00:00Z"));
  });

  test.each([undefined, null, "", "   "])("%j is no due date", (given) => {
    expect(parseDue(given, undefined)).toBeNull();
  });

  test.each([
    "tomorrow",
    "2026-13-01",
    "2026-02-30",
    "2026-11-30T24:00:00Z",
    "2026-11-30T09:60:00Z",
    "2026-11/30",
    "26-11-30",
    20261130,
    true,
    ["2026-11-30"].concat("2026-12-01"),
    { at: "2026-11-30" },
  ])("%j cannot be read", (given) => {
    expect(() => parseDue(given, "UTC")).toThrow(DueInvalid);
  });

  test("a date without a zone needs one, and the message says what to do", () => {
    expect(() => parseDue("2026-11-30 09:00", undefined)).toThrow(
      /Set `timezone`, or write it as 2026-11-30T/,
    );
    expect(() => parseDue("2026-11-30", undefined)).toThrow(DueInvalid);
    expect(parseDue("2026-11-30T09:00:00Z", undefined)).toBe(at("2026-11-30T09:00:00Z"));
  });
});

describe("zones", () => {
  test("an unknown zone is refused by name", () => {
    expect(() => checkTimezone("Asia/Tokio")).toThrow(
      new TimezoneInvalid('"Asia/Tokio" is not a time zone. Good ones: Asia/Tokyo, UTC'),
    );
  });

  test("offsets of the past and of half hours", () => {
    expect(offsetAt("UTC", 0)).toBe(0);
    expect(offsetAt("Asia/Kolkata", 0)).toBe(5.5 * 3_600_000);
    expect(offsetAt("America/St_Johns", at("2026-01-01T00:00:00Z"))).toBe(-3.5 * 3_600_000);
    expect(offsetAt("Europe/London", at("2026-07-01T00:00:00Z"))).toBe(3_600_000);
  });

  test("a time that occurs twice is the first; one that is skipped comes an hour later", () => {
    expect(instantOf(at("2026-10-25T02:30:00Z"), "Europe/Stockholm")).toBe(at("2026-10-25T00:30:00Z"));
    expect(instantOf(at("2026-03-29T02:30:00Z"), "Europe/Stockholm")).toBe(at("2026-03-29T01:30:00Z"));
  });
});
