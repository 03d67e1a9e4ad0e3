import { describe, expect, test } from "vitest";
import { holds, PredicateInvalid, parsePredicate } from "../../src/protocol/predicate.js";

const fields = {
  status: "ready",
  n: 3,
  on: true,
  off: false,
  none: null,
  extra: { stage: "二校" },
  状態: "可",
  "is-it": 1,
};

describe("predicates", () => {
  test.each([
    ['status == "ready"', true],
    ["status == 'ready'", true],
    ['status=="draft"', false],
    ['status != "draft"', true],
    ["n == 3", true],
    ['n == "3"', false],
    ["n != -3.5", true],
    ["on", true],
    ["off", false],
    ["!off", true],
    ["!!on", true],
    ["none", false],
    ["gone", false],
    ["gone == null", true],
    ["none == null", true],
    ['gone != "x"', true],
    ["on == true", true],
    ['extra.stage == "二校"', true],
    ['状態 == "可"', true],
    ["is-it == 1", true],
    ['status == "ready" && !off', true],
    ["off || on && n == 4", false],
    ["(off || on) && n == 3", true],
    ["on || off && off", true],
    ['status == "re\\"ady"', false],
    ["true == null", true],
  ])("%s is %s", (given, expected) => {
    expect(holds(parsePredicate(given), fields)).toBe(expected);
  });

  test.each([
    ["", /expected a field at character 1/],
    ["==", /expected a field/],
    ["status ==", /expected a value/],
    ["status == ready", /expected a value/],
    ['status = "x"', /cannot be read at character 7/],
    ['status == "x', /cannot be read at character 10/],
    ["(on", /expected `\)`/],
    ["on off", /expected `&&`, `\|\|` or the end at character 3/],
    ['"ready" == status', /expected a field/],
    ["n == 3px", /cannot be read/],
    [`a${" && a".repeat(400)}`, /longer than 1000/],
  ])("%j is refused", (given, why) => {
    expect(() => parsePredicate(given)).toThrow(PredicateInvalid);
    expect(() => parsePredicate(given)).toThrow(why);
  });
});
