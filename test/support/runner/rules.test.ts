// The runner's pure rules: file commands, masks, matrices, summaries.
import { describe, expect, test } from "vitest";
import { parsePairs } from "./file-commands.js";
import { Masks } from "./masks.js";
import { legName, legsOf } from "./matrix.js";
import { type StepResult, shownSummary } from "./result.js";

describe("file commands", () => {
  test("lines and blocks", () => {
    expect(parsePairs("a=1\n\nb<<END\nx=y\n\nz\nEND\nc=<<=")).toEqual([
      ["a", "1"],
      ["b", "x=y\n\nz"],
      ["c", "<<="],
    ]);
    expect(parsePairs("empty<<E\nE\n")).toEqual([["empty", ""]]);
  });

  test.each([
    ["nothing", "Invalid format 'nothing'"],
    ["a<<END\nvalue", "Matching delimiter not found 'END'"],
    ["<<END\nEND", "Name must not be empty"],
  ])("refuses %j", (text, message) => {
    expect(() => parsePairs(text)).toThrow(message);
  });
});

describe("masks", () => {
  test("hide a secret in every form, and each line of a long one", () => {
    const masks = new Masks();
    masks.add("s3cret/?");
    masks.add("line one\nline two");
    expect(masks.hide('s3cret/? czNjcmV0Lz8= s3cret%2F%3F "line two"')).toBe('*** *** *** "***"');
  });

  test("an empty secret hides nothing", () => {
    const masks = new Masks();
    masks.add("");
    masks.add("\n");
    expect(masks.hide("a b")).toBe("a b");
  });
});

describe("matrix", () => {
  test("product, exclude, include", () => {
    const legs = legsOf({
      node: [20, 24],
      os: ["linux", "mac"],
      exclude: [{ node: 20, os: "mac" }],
      include: [
        { os: "linux", fast: true },
        { node: 26, os: "linux" },
      ],
    });
    expect(legs).toEqual([
      { node: 20, os: "linux", fast: true },
      { node: 24, os: "linux", fast: true },
      { node: 24, os: "mac" },
      { node: 26, os: "linux" },
    ]);
    expect(legName("build", legs[2] ?? null)).toBe("build (24, mac)");
  });

  test("include alone makes legs; an empty vector is an error; no matrix is one leg", () => {
    expect(legsOf({ include: [{ a: 1 }, { a: 2 }] })).toEqual([{ a: 1 }, { a: 2 }]);
    expect(() => legsOf({ draft: [] })).toThrow("does not contain any values");
    expect(legsOf(null)).toEqual([null]);
  });
});

test("only the first twenty summaries are shown", () => {
  const steps = Array.from({ length: 25 }, (_, index) => ({ summaries: [`s${index}`] }) as StepResult);
  expect(shownSummary(steps).split("\n")).toHaveLength(20);
});
