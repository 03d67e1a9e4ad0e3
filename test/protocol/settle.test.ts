import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SeenDraft } from "../../src/protocol/draft.js";
import {
  type AttemptResult,
  backoffDelay,
  redriveDraft,
  settleDraft,
  unlockDraft,
} from "../../src/protocol/settle.js";
import { blobB, claimOf, claimOn, heldRef, minute, nonce, start, ttl } from "./draft-fixture.js";

const path = "posts/a.md";
const one = { token: 1, claim: claimOf("1") };
const ask = (more: object = {}) => ({ now: start, maxAttempts: 3, random: 0.5, nonce: nonce(), ...more });
const published = { result: "published", published: { "refs/heads/main": blobB } } as const;

describe("settleDraft", () => {
  test("success is published, for good", () => {
    const ref = heldRef(path);
    ref.apply(settleDraft(ref.read(), one, published, ask()), start);
    expect(ref.read()?.record).toMatchObject({
      state: "published",
      event: "published",
      published: published.published,
      token: 1,
    });
  });

  test.each<[AttemptResult, string, string]>([
    [{ result: "unchanged" }, "failed", "it was to push, and there was nothing to push"],
    [{ result: "failed", reason: "exit\n code 1" }, "failed", "exit  code 1"],
    [{ result: "failed", reason: "" }, "failed", "no reason given"],
    [{ result: "failed", reason: "あ".repeat(600) }, "failed", `${"あ".repeat(500)}…`],
    [{ result: "cancelled" }, "released", "cancelled"],
    [{ result: "cancelled", reason: "by octocat" }, "released", "by octocat"],
  ])("%j is pending again, later", (result, event, reason) => {
    const write = settleDraft(heldRef(path).read(), one, result, ask());
    expect(write?.record).toMatchObject({ state: "pending", event, attempts: 1 });
    expect(write?.record.reason?.replace(/ +/g, " ")).toBe(reason.replace(/ +/g, " "));
    expect(write?.record.notBefore).toBe(new Date(start + 3.75 * minute).toISOString());
  });

  test("the last attempt is the end, however it failed", () => {
    for (const result of [
      { result: "unchanged" },
      { result: "cancelled" },
      { result: "failed", reason: "x" },
    ] as const) {
      const write = settleDraft(heldRef(path).read(), one, result, ask({ maxAttempts: 1 }));
      expect(write?.record).toMatchObject({ state: "dead", event: "dead", attempts: 1 });
      expect(write?.record.notBefore).toBeUndefined();
    }
  });

  test("the end of a superseded claim changes nothing", () => {
    const ref = heldRef(path);
    claimOn(ref, { now: start + ttl, claim: claimOf("2") });
    for (const result of [published, { result: "unchanged" }, { result: "failed", reason: "x" }] as const)
      expect(settleDraft(ref.read(), one, result, ask())).toBeNull();
    expect(settleDraft(null, one, published, ask())).toBeNull();
  });
});

describe("backoffDelay", () => {
  test.each([
    [1, 0, 2.5],
    [1, 1, 5],
    [2, 0, 5],
    [3, 0.5, 15],
    [40, 0, 180],
    [9999, 1, 360],
  ])("attempt %i, chance %f: %f minutes", (attempts, random, minutes) => {
    expect(backoffDelay(attempts, random)).toBe(minutes * minute);
  });

  test("is between half and all of the exponential, and never over the cap", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempts, random) => {
          const delay = backoffDelay(attempts, random, { first: 1000, most: 60_000 });
          const whole = Math.min(60_000, 1000 * 2 ** (attempts - 1));
          expect(delay).toBeGreaterThanOrEqual(whole / 2);
          expect(delay).toBeLessThanOrEqual(whole);
        },
      ),
    );
  });
});

describe("redriveDraft", () => {
  const who = { by: "octocat", reason: "the API is back" };

  test("a dead draft is pending at once, with its attempts back and the reason on record", () => {
    const ref = heldRef(path);
    ref.apply(settleDraft(ref.read(), one, { result: "unchanged" }, ask({ maxAttempts: 1 })), start);
    const decision = redriveDraft(ref.read(), { ...who, nonce: nonce() });
    expect(decision.outcome === "redriven" && ref.apply(decision.write, start)).toBe(true);
    expect(ref.read()?.record).toMatchObject({
      state: "pending",
      event: "redriven",
      attempts: 0,
      lost: 0,
      token: 1,
      redrive: who,
    });
    expect(claimOn(ref).record).toMatchObject({ attempts: 1, token: 2 });
  });

  test("an unknown draft, and one that is not dead, are refused by name", () => {
    expect(redriveDraft(null, { ...who, nonce: nonce() })).toEqual({ outcome: "unknown" });
    const held = heldRef(path);
    expect(redriveDraft(held.read(), { ...who, nonce: nonce() })).toEqual({
      outcome: "not_dead",
      state: "held",
      holder: claimOf("1"),
    });
    held.apply(settleDraft(held.read(), one, published, ask()), start);
    expect(redriveDraft(held.read(), { ...who, nonce: nonce() })).toEqual({
      outcome: "not_dead",
      state: "published",
    });
    expect((held.read() as SeenDraft).record.state).toBe("published");
  });
});

describe("unlockDraft", () => {
  const by = { by: "a person", reason: "it hangs", nonce: "nonce-of-a-test" };
  test("takes a held draft from its holder, with the token that was seen, and counts a lost attempt", () => {
    const ref = heldRef(path);
    const decision = unlockDraft(ref.read(), { ...by, token: 1 });
    if (decision.outcome !== "unlocked") throw new Error(decision.outcome);
    expect(ref.apply(decision.write, start)).toBe(true);
    expect(ref.read()?.record).toMatchObject({ state: "pending", token: 1, attempts: 1, lost: 1 });
    expect(settleDraft(ref.read(), one, published, ask())).toBeNull();
    claimOn(ref, { claim: claimOf("2") });
    expect(ref.read()?.record).toMatchObject({ state: "held", token: 2, attempts: 2 });
  });

  test("does nothing to a draft with another token, one that is not held, and none", () => {
    const ref = heldRef(path);
    expect(unlockDraft(ref.read(), { ...by, token: 2 }).outcome).toBe("moved_on");
    expect(unlockDraft(null, { ...by, token: 1 }).outcome).toBe("unknown");
    ref.apply(settleDraft(ref.read(), one, published, ask()), start);
    expect(unlockDraft(ref.read(), { ...by, token: 1 }).outcome).toBe("not_held");
  });
});
