import { describe, expect, test } from "vitest";
import { RecordInvalid } from "../../src/protocol/record.js";
import { pruneDraft, repairDraft, type SweepDraft, type SweepRequest } from "../../src/protocol/sweep.js";
import {
  blobB,
  claimOf,
  claimOn,
  type DraftRef,
  heldRef,
  minute,
  nonce,
  published,
  start,
  ttl,
} from "./draft-fixture.js";
import { draft, dueAt, ended, fail, publish, started, sweep } from "./sweep-fixture.js";

const day = 86_400_000;

describe("headings", () => {
  const broken = new RecordInvalid("draft/a" as never, "broken", "it is broken");
  test.each<[heading: string, draft: SweepDraft, refs: DraftRef[], more: Partial<SweepRequest>]>([
    ["started", draft("a"), [], {}],
    ["started", draft("a", { age: null }), [], {}],
    ["started", draft("a", { age: 20 * minute }), [], {}],
    ["too_young", draft("a", { age: 20 * minute - 1 }), [], {}],
    ["started", draft("a", { age: 0 }), [], { trigger: "event" }],
    ["too_young", draft("a", { age: 5 * minute }), [], { staleAfter: 6 * minute }],
    ["too_young", draft("a", { age: 0, blob: blobB }), [ended("a", publish)], {}],
    ["over_cap", draft("a"), [], { maxStart: 0 }],
    ["held", draft("a"), [heldRef("a")], { now: start + ttl - 1 }],
    ["started", draft("a"), [heldRef("a")], { now: start + ttl }],
    ["held", draft("a"), [heldRef("a")], { now: start + ttl, skew: 1 }],
    ["started", draft("a"), [heldRef("a")], { finished: new Set(["a"]) }],
    ["started", draft("a", { age: 0 }), [heldRef("a")], { finished: new Set(["a"]) }],
    ["held", draft("a"), [heldRef("a")], { finished: new Set(["b"]) }],
    ["backing_off", draft("a"), [ended("a", fail)], { now: start + 2 * minute }],
    ["started", draft("a"), [ended("a", fail)], { now: start + 3 * minute }],
    ["dead", draft("a"), [ended("a", fail, 1)], { now: start + day }],
    ["started", draft("a", { blob: blobB }), [ended("a", fail, 1)], { now: start + day }],
    ["dead", draft("a"), [heldRef("a")], { now: start + ttl, maxAttempts: 1 }],
    ["published", draft("a"), [ended("a", publish)], { now: start + day }],
    ["started", draft("a", { blob: blobB }), [ended("a", publish)], { now: start + day }],
    ["not_due", draft("a", dueAt(start + 1)), [], {}],
    ["not_due", draft("a"), [], { requireDue: true }],
    ["not_pending", draft("a", { reading: published }), [], {}],
    ["not_pending", draft("a", { reading: published }), [heldRef("a")], {}],
    ["unreadable", draft("a", { reading: { state: "unreadable", reason: "why" } }), [], {}],
    ["unreadable", draft("a"), [], { records: new Map([["a", broken]]) }],
    ["already_started", draft("a"), [started("a")], { now: start + 20 * minute - 1 }],
    ["already_started", draft("a"), [started("a")], { trigger: "event" }],
    ["started", draft("a"), [started("a")], { now: start + 20 * minute }],
    ["started", draft("a", { blob: blobB }), [started("a")], {}],
  ])("%s: %j", (heading, one, refs, more) => {
    const plan = sweep([one], refs, more);
    expect(plan.report).toMatchObject([{ path: "a", heading }]);
    expect(plan.counts).toMatchObject({ [heading]: 1 });
    expect(plan.start).toHaveLength(heading === "started" ? 1 : 0);
  });
});

describe("what is started", () => {
  test("the oldest due first, then the oldest, then by path; a draft without a date was due when it came", () => {
    const drafts = [
      draft("d", { age: 50 * minute }),
      draft("b", { ...dueAt(start - 90 * minute), age: 30 * minute }),
      draft("c", { ...dueAt(start - 90 * minute), age: 40 * minute }),
      draft("f", { ...dueAt(start), age: 100 * minute }),
      draft("e2", { age: 45 * minute }),
      draft("e1", { age: 45 * minute }),
      draft("a", { age: null }),
    ];
    const paths = (input: SweepDraft[], maxStart: number) =>
      sweep(input, [], { maxStart }).start.map(({ path }) => path);
    expect(paths(drafts, 99)).toEqual(["a", "c", "b", "d", "e1", "e2", "f"]);
    expect(paths(drafts.toReversed(), 3)).toEqual(["a", "c", "b"]);
  });

  test("40 due and 3 to start: 3 start, and 37 are counted", () => {
    const drafts = Array.from({ length: 40 }, (_, i) => draft(`p${i}`, dueAt(start - i * day)));
    const plan = sweep(drafts);
    expect(plan.start.map(({ path }) => path)).toEqual(["p39", "p38", "p37"]);
    expect(plan.counts).toMatchObject({ started: 3, over_cap: 37 });
    expect(plan.total).toBe(40);
  });

  test.each([-1, 1.5, Number.NaN])("max-start %d is refused", (maxStart) => {
    expect(() => sweep([], [], { maxStart })).toThrow(RangeError);
  });

  test("a draft given twice is refused", () => {
    expect(() => sweep([draft("a"), draft("a")])).toThrow(RangeError);
  });
});

describe("repairs", () => {
  test("a holder that is gone with its last attempt is a dead letter, and new once", () => {
    const ref = heldRef("a");
    const now = start + ttl;
    const plan = sweep([draft("a")], [ref], { now, maxAttempts: 1 });
    expect(plan.repairs).toMatchObject([{ path: "a", to: "dead" }]);
    expect(plan.deadLetters).toMatchObject([{ path: "a", fresh: true }]);
    const [repair] = plan.repairs;
    expect(repair && ref.apply(repairDraft(repair, nonce()), now)).toBe(true);
    expect(ref.read()?.record).toMatchObject({ state: "dead", attempts: 1, lost: 1, token: 1 });
    expect(ref.read()?.record.reason).toMatch(/lost/);
    const next = sweep([draft("a")], [ref], { now, maxAttempts: 1 });
    expect(next).toMatchObject({ repairs: [], deadLetters: [{ path: "a", fresh: false }] });
  });

  test("a holder that is gone is repaired by the start itself, or to pending when it is not started", () => {
    const ref = heldRef("a");
    const now = start + ttl;
    expect(sweep([draft("a")], [ref], { now }).repairs).toEqual([]);
    const plan = sweep([draft("a")], [ref], { now, maxStart: 0 });
    expect(plan.repairs).toMatchObject([{ path: "a", to: "lost" }]);
    const [repair] = plan.repairs;
    expect(repair && ref.apply(repairDraft(repair, nonce()), now)).toBe(true);
    expect(ref.read()?.record).toMatchObject({ state: "pending", event: "lost", attempts: 1, lost: 1 });
    expect(sweep([draft("a")], [ref], { now }).counts.started).toBe(1);
  });

  test("a repair loses against a claim made meanwhile", () => {
    const ref = heldRef("a");
    const [repair] = sweep([draft("a")], [ref], { now: start + ttl, maxStart: 0 }).repairs;
    claimOn(ref, { now: start + ttl, claim: claimOf("2") });
    expect(repair && ref.apply(repairDraft(repair, nonce()), start + ttl)).toBe(false);
  });

  test("a used-up draft whose file no longer says pending raises no alarm", () => {
    const plan = sweep([draft("a", { reading: published })], [heldRef("a")], {
      now: start + ttl,
      maxAttempts: 1,
    });
    expect(plan).toMatchObject({ repairs: [], deadLetters: [] });
  });
});

describe("pruning", () => {
  const old = { now: start + 30 * day };
  const tombstone = ended("a", publish);

  test.each<[string, SweepDraft[], DraftRef, Partial<SweepRequest>, boolean]>([
    ["published and gone", [], tombstone, old, true],
    ["published and says so", [draft("a", { reading: published })], tombstone, old, true],
    ["a day too young", [], tombstone, { now: start + 30 * day - 1 }, false],
    ["kept shorter", [], tombstone, { now: start + day, keepFor: day }, true],
    ["published here, and its file still says pending", [draft("a")], tombstone, old, false],
    ["published, and edited since", [draft("a", { blob: blobB })], tombstone, old, false],
    ["unreadable now", [draft("a", { reading: { state: "unreadable", reason: "" } })], tombstone, old, false],
    ["dead and gone", [], ended("a", fail, 1), old, true],
    ["dead", [draft("a")], ended("a", fail, 1), old, false],
    ["held and gone", [], heldRef("a"), old, false],
    ["held long ago and gone", [], heldRef("a"), { now: start + 30 * day + ttl }, true],
  ])("%s", (_, drafts, ref, more, pruned) => {
    const plan = sweep(drafts, [ref], { floor: 0, ...more });
    expect(plan.prune.map(pruneDraft)).toEqual(
      pruned ? [{ name: "draft/a", expected: ref.read()?.oid }] : [],
    );
    expect(plan.floor).toBe(pruned ? 1 : 0);
  });

  test("the floor never falls", () => {
    expect(sweep([], [tombstone], { ...old, floor: 9 }).floor).toBe(9);
  });

  test("a broken record is never removed", () => {
    const records = new Map([["a", new RecordInvalid("draft/a" as never, "broken", "")]]);
    expect(sweep([], [], { ...old, records }).prune).toEqual([]);
  });
});
