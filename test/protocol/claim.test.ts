// Claims: who is the same, who came earlier, and how a claim is told to people.
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import {
  type Claim,
  claimSchema,
  describeClaim,
  isEarlierAttempt,
  oneLine,
  sameClaim,
} from "../../src/protocol/claim.js";

const attempt: Claim = {
  id: "11111111-aaaa",
  repository: "octo/blog",
  runId: "812345",
  runAttempt: 1,
  workflow: "publish",
  job: "write",
  leg: "en",
};

describe("a claim", () => {
  it("is the same as another by its random part alone", () => {
    expect(sameClaim(attempt, { id: attempt.id })).toBe(true);
    expect(sameClaim(attempt, { ...attempt, id: "22222222-bbbb" })).toBe(false);
  });

  it("keeps fields that this version does not know", () => {
    const newer = { ...attempt, region: "eu" };
    expect(v.parse(claimSchema, newer)).toEqual(newer);
  });

  it("needs no more than its random part", () => {
    expect(v.is(claimSchema, { id: attempt.id })).toBe(true);
  });

  it.each([
    ["no id", { id: undefined }],
    ["a short id", { id: "1234567" }],
    ["a long id", { id: "x".repeat(65) }],
    ["an id with a line break", { id: "12345678\n" }],
    ["an id of other characters", { id: "1234 5678" }],
    ["an attempt that is no number", { runAttempt: "1" }],
    ["attempt 0", { runAttempt: 0 }],
    ["half an attempt", { runAttempt: 1.5 }],
    ["a run id that is a number", { runId: 812345 }],
    ["a job of 301 characters", { job: "j".repeat(301) }],
    ["an address that runs code", { url: "javascript:alert(1)" }],
  ])("with %s is refused", (_, change) => {
    expect(v.is(claimSchema, { ...attempt, ...change })).toBe(false);
  });
});

describe("an earlier attempt", () => {
  const retry: Claim = { ...attempt, id: "22222222-bbbb", runAttempt: 2 };

  it("of the same run is recognised", () => {
    expect(isEarlierAttempt(attempt, retry)).toBe(true);
  });

  it("of the same run is recognised across jobs and legs, since the whole run was started again", () => {
    expect(isEarlierAttempt({ ...attempt, job: "other", leg: "de" }, retry)).toBe(true);
  });

  it.each<[string, Partial<Claim>, Partial<Claim>]>([
    ["the same attempt, in another leg", { runAttempt: 2, leg: "de" }, {}],
    ["a later attempt", { runAttempt: 3 }, {}],
    ["another run", { runId: "812344" }, {}],
    ["another repository's run of the same number", { repository: "octo/fork" }, {}],
    ["a holder without a run", { runId: undefined }, {}],
    ["a challenger without a run", {}, { runId: undefined }],
    ["two processes outside any run", { runId: undefined }, { runId: undefined }],
    ["a holder of unknown attempt", { runAttempt: undefined }, {}],
    ["a challenger of unknown attempt", {}, { runAttempt: undefined }],
  ])("is not %s", (_, holder, challenger) => {
    expect(isEarlierAttempt({ ...attempt, ...holder }, { ...retry, ...challenger })).toBe(false);
  });
});

describe("a claim in words", () => {
  it.each<[Claim, string]>([
    [{ ...attempt, leg: undefined }, "octo/blog run 812345.1 (write)"],
    [attempt, "octo/blog run 812345.1 (write, en)"],
    [{ ...attempt, job: undefined, leg: "" }, "octo/blog run 812345.1"],
    [{ id: attempt.id, runId: "7" }, "? run 7.1"],
    [{ id: attempt.id, host: "vm-1", pid: 4242 }, "vm-1 process 4242"],
    [{ id: attempt.id, host: "vm-1", pid: 4242, job: "nightly" }, "vm-1 process 4242 (nightly)"],
    [{ id: attempt.id }, "unknown host"],
  ])("%j is %j", (claim, text) => {
    expect(describeClaim(claim)).toBe(text);
  });

  it("stays on one line, whatever its parts contain", () => {
    const part = fc.option(fc.string({ unit: "binary" }), { nil: undefined });
    const claims = fc.record({
      id: fc.constant("x".repeat(8)),
      repository: part,
      job: part,
      leg: part,
      host: part,
    });
    fc.assert(
      fc.property(claims, fc.boolean(), (claim, inRun) => {
        const text = describeClaim(inRun ? { ...claim, runId: "1" } : claim);
        expect(text).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
      }),
    );
  });
});

describe("text on one line", () => {
  it("has one space for every stretch of control characters and line ends", () => {
    expect(oneLine("a\r\n\n::error::b\u001b[31m\u0085c\u2028d\u2029e\u0000")).toBe("a ::error::b [31m c d e");
  });
});
