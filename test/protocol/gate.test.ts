// The gate's rule: what may move together, and what may follow what. Each refusal has a neighbour that passes.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  acceptance,
  type FenceRecord,
  fenceMessage,
  fenceRecordName,
  type Guarded,
  readFence,
  type SeenFence,
  seal,
} from "../../src/protocol/fence.js";
import { floorRecordName, raiseFloor } from "../../src/protocol/floor.js";
import { type Rule, toReadThen } from "../../src/protocol/gate.js";
import { type LeaseRecord, leaseMessage, longestChain, succeed, unlock } from "../../src/protocol/lease.js";
import { refOf } from "../../src/protocol/names.js";
import { encodeRecord } from "../../src/protocol/record.js";
import { claimOf, nonce, start } from "./draft-fixture.js";
import { behindDrafts, behindLease, draftRef, leaseRef, main, Refs, work } from "./gate-fixture.js";

const pushed = { event: "pushed", published: { [main]: work } } as const;
const branch = { ref: main, to: work };

/** A lease that claim 2 holds under token 2, after claim 1. */
function held(refs = new Refs()) {
  const first = refs.take("1");
  const second = refs.take("2");
  return { refs, first, second };
}

describe("a protected ref", () => {
  test("moves with a record of its holder that names it", () => {
    const { refs } = held();
    expect(refs.push(branch, { ref: leaseRef, to: refs.nextLease(pushed) })).toEqual([]);
    expect(refs.tips.get(main)).toBe(work);
  });

  test("comes into being in the same way, and only so", () => {
    const { refs } = held();
    refs.tips.delete(main);
    expect(refs.judge({ ...branch, from: null })).toHaveLength(1);
    const record = { ref: leaseRef, to: refs.nextLease(pushed) };
    expect(refs.push({ ...branch, from: null }, record)).toEqual([]);
  });

  test.each<[string, Partial<LeaseRecord>, RegExp]>([
    ["a renewal", { event: "renewed" }, /says "renewed"/],
    ["a release", { ...pushed, state: "released" }, /not that its holder pushed/],
    [
      "a record that names another commit",
      { event: "pushed", published: { [main]: "d".repeat(40) } },
      /published dddddddddd there, not cccccccccc/,
    ],
    [
      "a record that names another ref",
      { event: "pushed", published: { "refs/heads/x": work } },
      /published nothing there/,
    ],
    ["a record that names nothing", { event: "pushed", published: {} }, /published nothing there/],
    ["another claim", { ...pushed, holder: claimOf("1") }, /the lease's own record is refused/],
    ["another token", { ...pushed, token: 3 }, /the lease's own record is refused/],
    [
      "a takeover that says that it pushed",
      { published: { [main]: work }, event: "acquired", token: 3 },
      /says "acquired"/,
    ],
  ])("does not move with %s", (_, change, why) => {
    const { refs } = held();
    const refused = refs.judge(branch, { ref: leaseRef, to: refs.nextLease(change) });
    expect(refused.find(({ change }) => change.ref === main)?.why).toMatch(why);
  });

  test("does not move with the first record of a lease, which nobody held before", () => {
    const { refs, second } = held();
    const record = refs.lease(second)?.record as LeaseRecord;
    const fresh = new Refs();
    const first = { ...record, ...pushed, token: 1, previous: null, depth: 1 };
    const to = fresh.commit(leaseMessage(first as LeaseRecord));
    expect(fresh.push(branch, { ref: leaseRef, to })).toEqual([
      expect.stringMatching(/^refs\/heads\/main moves only/),
    ]);
  });

  test("does not move alone, nor with the record of another lease, and names what it needs", () => {
    const { refs } = held();
    expect(refs.judge(branch)).toEqual([
      { change: branch, lease: "blog", why: expect.stringMatching(/nothing of the kind moves/) },
    ]);
    const other = new Refs({ behind: [{ kind: "lease", name: "other" }] });
    const record = held(other).refs.nextLease(pushed);
    expect(other.push(branch, { ref: leaseRef, to: record })[0]).toMatch(
      /the lease "other", in one atomic push/,
    );
  });

  test("is never deleted, whatever moves with it", () => {
    const { refs } = held();
    const record = { ref: leaseRef, to: refs.nextLease({ event: "pushed", published: { [main]: "" } }) };
    expect(refs.push({ ref: main, to: null }, record)[0]).toMatch(/cannot be deleted/);
  });

  test("and its record change once", () => {
    const { refs } = held();
    const record = { ref: leaseRef, to: refs.nextLease(pushed) };
    const other = { ref: leaseRef, to: refs.nextLease({ holder: claimOf("1") }) };
    expect(refs.push(branch, other, record)).toEqual([`${leaseRef} changes twice in one push.`]);
    expect(refs.push({ ref: main, to: "d".repeat(40) }, branch, record)).toEqual([
      `${main} changes twice in one push.`,
    ]);
  });

  test("lets nothing pass while its setting cannot be used", () => {
    const { refs } = held(new Refs({ problem: "no lease is named" }));
    expect(refs.push(branch, { ref: leaseRef, to: refs.nextLease(pushed) })).toEqual([
      "refs/heads/main is protected, but nothing can pass: no lease is named.",
    ]);
  });
});

describe("a lease's record", () => {
  const refused = (change: Partial<LeaseRecord>, why: RegExp, after?: string) => {
    const { refs, first } = held();
    const to = refs.nextLease(change, after === "first" ? first : undefined);
    expect(refs.push({ ref: leaseRef, to })).toEqual([expect.stringMatching(why)]);
  };

  test("follows by what the protocol writes", () => {
    const { refs } = held();
    const mine = { token: 2, claim: claimOf("2") };
    for (const event of ["renewed", "pushed", "released"] as const) {
      const write = succeed(refs.lease(), mine, { event, nonce: nonce(), published: {} });
      const to = refs.commit(leaseMessage(write?.record as LeaseRecord), write?.expected as string);
      expect(refs.push({ ref: leaseRef, to })).toEqual([]);
    }
    refs.take("3");
    const freed = unlock(refs.lease(), {
      lease: "blog",
      token: 3,
      by: "me",
      reason: "x",
      now: start,
      nonce: nonce(),
    });
    if (freed.outcome !== "unlock") throw new Error(freed.outcome);
    const to = refs.commit(leaseMessage(freed.write.record), freed.write.expected as string);
    expect(refs.push({ ref: leaseRef, to })).toEqual([]);
    refs.take("4");
    expect(refs.lease()?.record.token).toBe(5);
  });

  test("begins a new history with a new token, and only so", () => {
    const { refs, second } = held();
    const old = refs.nextLease({ depth: longestChain });
    expect(refs.push({ ref: leaseRef, to: old })).toEqual([]);
    const root = { depth: 1, previous: old };
    expect(refs.push({ ref: leaseRef, to: refs.nextLease(root) })[0]).toMatch(
      /a new history without a new token/,
    );
    const skipped = refs.nextLease({ ...root, previous: second, event: "acquired", token: 3 });
    expect(refs.push({ ref: leaseRef, to: skipped })[0]).toMatch(/it replaces .*, and .* is there/);
    refs.take("3");
    expect(refs.lease()?.record).toMatchObject({ depth: 1, token: 3, previous: old });
  });

  test("does not fall, skip, or stay with another claim", () => {
    refused({ token: 1 }, /its token 1 was superseded: the lease is at token 2, of octo\/blog run 2\.1/);
    refused({ token: 4, event: "acquired" }, /a token rises by one, to 3, and this one says 4/);
    refused({ token: 3, event: "renewed" }, /"renewed" does not give a new token/);
    refused({ event: "acquired" }, /has a new token, and this one keeps token 2/);
    refused({ event: "unlocked" }, /has a new token, and this one keeps token 2/);
    refused({ holder: claimOf("1") }, /token 2 is held by octo\/blog run 2\.1/);
    refused({}, /its token 1 was superseded/, "first");
    refused({ token: 2 }, /it replaces .*, and .* is there/, "first");
  });

  test("does not go on after its release", () => {
    const { refs } = held();
    expect(
      refs.push({ ref: leaseRef, to: refs.nextLease({ event: "released", state: "released" }) }),
    ).toEqual([]);
    expect(refs.push({ ref: leaseRef, to: refs.nextLease({ state: "held" }) })[0]).toMatch(
      /token 2 was released/,
    );
  });

  test("is a readable record in its own place, and stays", () => {
    const { refs, first } = held();
    const to = (ref: string, oid: string | null) => refs.push({ ref, to: oid })[0] ?? "allowed";
    expect(to(leaseRef, null)).toMatch(/never deleted/);
    expect(to(leaseRef, first)).toMatch(/token 1 was superseded/);
    expect(to(leaseRef, refs.commit("hello", refs.tips.get(leaseRef) as string))).toMatch(/no JSON document/);
    expect(to(leaseRef, work)).toMatch(/no JSON document/);
    const body = { ...refs.lease()?.record, fencepost: 2 };
    expect(to(leaseRef, refs.commit(encodeRecord("x", body)))).toMatch(/format 2, which is newer/);
    expect(to(leaseRef, refs.nextLease({}, undefined, first))).toMatch(/does not follow the commit/);
    expect(to(`${leaseRef}/a`, refs.nextLease({}))).toMatch(/belongs to "blog", not to this branch/);
    for (const ref of [
      "refs/heads/fencepost/LEASE/blog",
      "refs/heads/refs/heads/fencepost/lease/blog",
      "refs/heads/fencepost/lease",
    ]) {
      expect(to(ref, refs.nextLease({}))).toMatch(/stands where only records may be/);
      expect(to(ref, null)).toBe("allowed");
    }
    expect(to("refs/heads/fencepost/rescue/blog/1", work)).toBe("allowed");
  });

  test("changes from where the pusher saw it", () => {
    const { refs, first } = held();
    const to = refs.nextLease({});
    expect(refs.push({ ref: leaseRef, from: first, to })[0]).toMatch(/it changed meanwhile/);
    expect(refs.push({ ref: leaseRef, from: null, to })[0]).toMatch(/it changed meanwhile/);
    expect(refs.push({ ref: leaseRef, to })).toEqual([]);
  });

  test("does not say that it published a protected ref that stays where it is", () => {
    const { refs } = held();
    expect(refs.push({ ref: leaseRef, to: refs.nextLease(pushed) })[0]).toMatch(
      /it says that it published cccccccccc on refs\/heads\/main, which does not move with it/,
    );
    const change = { ref: leaseRef, to: refs.nextLease(pushed) };
    const asked = { ...refs, changes: [change], prefix: "fencepost", ruleOf: () => behindLease };
    expect(toReadThen(asked)).toEqual([main]);
    const odd = {
      event: "pushed",
      published: { "refs/heads/main:README": work, "refs/x\nrefs/y": work },
    } as const;
    expect(toReadThen({ ...asked, changes: [{ ref: leaseRef, to: refs.nextLease(odd) }] })).toEqual([]);
    refs.tips.set(main, work);
    expect(refs.push(change)).toEqual([]);
    const open = held(new Refs(null)).refs;
    expect(open.push({ ref: leaseRef, to: open.nextLease(pushed) })).toEqual([]);
  });
});

describe("a draft's record", () => {
  const published = { event: "published", state: "published", published: { [main]: work } } as const;
  function claimed() {
    const refs = new Refs(behindDrafts);
    const to = refs.nextDraft({ event: "claimed", state: "held", token: 1 });
    expect(refs.push({ ref: draftRef, to })).toEqual([]);
    return refs;
  }

  test("lets the ref through that it publishes, where drafts may", () => {
    const refs = claimed();
    expect(refs.push(branch, { ref: draftRef, to: refs.nextDraft(published) })).toEqual([]);
    const strict = new Refs(behindLease);
    strict.push({ ref: draftRef, to: strict.nextDraft({ event: "claimed", state: "held", token: 1 }) });
    expect(strict.push(branch, { ref: draftRef, to: strict.nextDraft(published) })[0]).toMatch(
      /together with the lease "blog"/,
    );
  });

  test.each<[string, object, RegExp]>([
    ["another claim's", { ...published, holder: claimOf("2") }, /the draft's own record is refused/],
    ["one that failed", { event: "failed", state: "pending", published: { [main]: work } }, /says "failed"/],
    [
      "one that names another commit",
      { ...published, published: { [main]: "d".repeat(40) } },
      /not cccccccccc/,
    ],
  ])("does not let it through with %s", (_, change, why) => {
    const refs = claimed();
    const refused = refs.judge(branch, { ref: draftRef, to: refs.nextDraft(change) });
    expect(refused.find(({ change }) => change.ref === main)?.why).toMatch(why);
  });

  test("does not let it through when it was never claimed", () => {
    const refs = new Refs(behindDrafts);
    const record = { ref: draftRef, to: refs.nextDraft({ ...published, token: 1 }) };
    expect(refs.push(branch, record)[0]).toMatch(/not that its claim published it/);
  });

  test("is published once for what it says", () => {
    const refs = claimed();
    refs.push(branch, { ref: draftRef, to: refs.nextDraft(published) });
    for (const change of [
      published,
      { event: "failed", state: "pending" },
      { event: "claimed", state: "held", token: 2 },
    ] as const)
      expect(refs.push({ ref: draftRef, to: refs.nextDraft(change) })[0]).toMatch(/was published already/);
    const edited = { event: "claimed", state: "held", token: 2, fingerprint: "d".repeat(40) } as const;
    expect(refs.push({ ref: draftRef, to: refs.nextDraft(edited) })).toEqual([]);
  });

  test("may be ended by a sweep, and claimed again with the next token", () => {
    const refs = claimed();
    const to = (change: object) => refs.push({ ref: draftRef, to: refs.nextDraft(change) })[0] ?? "allowed";
    expect(to({ event: "claimed", state: "held" })).toMatch(/keeps token 1/);
    expect(to({ event: "claimed", state: "held", token: 3 })).toMatch(/rises by one, to 2/);
    expect(to({ event: "renewed", state: "held", holder: claimOf("2") })).toMatch(
      /another claim's, of octo\/blog run 1/,
    );
    expect(to({ event: "lost", state: "pending" })).toBe("allowed");
    expect(to({ event: "renewed", state: "held" })).toMatch(/the draft is pending, and only a new claim/);
    expect(to({ event: "started", state: "pending" })).toBe("allowed");
    expect(to({ event: "claimed", state: "held", token: 2 })).toBe("allowed");
    expect(to({ event: "renewed", state: "held", token: 1 })).toMatch(/its token 1 was superseded/);
    expect(to({ event: "dead", state: "dead" })).toBe("allowed");
    expect(to({ event: "redriven", state: "pending" })).toBe("allowed");
  });

  test("goes when it is published, and the floor is as high as its token", () => {
    const floorRef = refOf("fencepost", floorRecordName);
    const refs = claimed();
    const from = () => refs.tips.get(draftRef) as string;
    const gone = () => ({ ref: draftRef, from: from(), to: null });
    expect(refs.push(gone())[0]).toMatch(/the draft is held, and only a published draft's record may go/);
    refs.push(branch, { ref: draftRef, to: refs.nextDraft(published) });
    expect(refs.push(gone())[0]).toMatch(
      /the floor under the tokens of drafts is 0, and must be raised to 1/,
    );
    const raised = (token: number, seen: Parameters<typeof raiseFloor>[0] = null) => {
      const write = raiseFloor(seen, token, nonce());
      return refs.commit(write?.message ?? "", ...(write?.expected ? [write.expected] : []));
    };
    expect(refs.push({ ref: floorRef, to: null })[0]).toMatch(/a floor's branch is never deleted/);
    const five = raised(5);
    expect(refs.push(gone(), { ref: floorRef, to: five })).toEqual([]);
    expect(refs.tips.has(draftRef)).toBe(false);
    expect(refs.push({ ref: floorRef, to: raised(4) })[0]).toMatch(/never falls, and this is 4 after 5/);
    expect(refs.push({ ref: floorRef, to: raised(6) })[0]).toMatch(/it replaces nothing, and/);
  });
});

describe("the fence of a destination", () => {
  const lease: Guarded = { of: "lease", name: "blog" };
  const draft: Guarded = { of: "draft", name: "posts/a.md" };
  const rule: Rule = { behind: [{ kind: "fence", name: "blog" }, { kind: "draft" }] };
  const refOfFence = (guarded: Guarded) => refOf("fencepost", fenceRecordName(guarded));

  function fenced(guarded: Guarded) {
    const refs = new Refs(rule);
    const ref = refOfFence(guarded);
    const seen = () => readFence(refs.versioned(ref));
    const write = (record: FenceRecord) => ({
      ref,
      to: refs.commit(
        fenceMessage(record),
        ...(record.depth > 1 && record.previous ? [record.previous] : []),
      ),
    });
    const sealed = (token: number, who: string, fingerprint?: string) => {
      const decision = seal(seen(), guarded, { token, claim: claimOf(who), fingerprint }, { nonce: nonce() });
      if (decision.outcome !== "seal") throw new Error(decision.outcome);
      return write(decision.write.record);
    };
    const accepted = (published: object = { [main]: work }) =>
      acceptance(seen() as SeenFence, published as Record<string, string>, nonce()).record;
    return { refs, ref, seen, write, sealed, accepted };
  }

  test.each([lease, draft])("lets through what it accepts: %j", (guarded) => {
    const { refs, write, sealed, accepted } = fenced(guarded);
    expect(refs.push(sealed(41, "1", "b".repeat(40)))).toEqual([]);
    expect(refs.push(branch, sealed(42, "2", "b".repeat(40)))[0]).toMatch(/here says "sealed", and not that/);
    expect(refs.push(sealed(43, "2", "b".repeat(40)))).toEqual([]);
    expect(refs.push(branch, write(accepted({ [main]: "d".repeat(40) })))[0]).toMatch(/not cccccccccc/);
    expect(refs.push(write(accepted()))[0]).toMatch(
      /published cccccccccc on refs\/heads\/main, which does not move/,
    );
    expect(refs.push(branch, write(accepted()))).toEqual([]);
    const again = refs.push({ ref: main, to: "d".repeat(40) }, write(accepted({ [main]: "d".repeat(40) })));
    if (guarded === lease) expect(again).toEqual([]);
    else expect(again[0]).toMatch(/the fence's own record is refused/);
  });

  test("is no way in with its very first record, nor with another fence's", () => {
    const { refs, write, sealed, accepted } = fenced(lease);
    refs.push(sealed(41, "1"));
    const first = { ...accepted(), previous: null, depth: 1 };
    refs.tips.delete(refOfFence(lease));
    expect(refs.push(branch, write(first))[0]).toMatch(/and not that a sealed token was accepted/);
    const other = fenced({ of: "lease", name: "other" });
    other.refs.push(other.sealed(41, "1"));
    expect(other.refs.push(branch, other.write(other.accepted()))[0]).toMatch(/nothing of the kind moves/);
  });

  test("never falls, and one claim has each token", () => {
    const { refs, ref, seen, write, sealed, accepted } = fenced(draft);
    refs.push(sealed(41, "1", "b".repeat(40)));
    const old = accepted();
    const stale = write(old);
    refs.push(sealed(43, "2", "b".repeat(40)));
    const to = (change: Partial<FenceRecord>) => {
      const { depth } = (seen() as SeenFence).record;
      const record = { ...accepted({}), previous: seen()?.oid as string, depth: depth + 1, ...change };
      return refs.push(write(record as FenceRecord))[0] ?? "allowed";
    };
    expect(refs.push(branch, stale)).toEqual([
      expect.stringMatching(/the fence's own record is refused/),
      expect.stringMatching(/its token 41 was superseded: the fence is at token 43/),
    ]);
    expect(refs.push({ ref, to: null })[0]).toMatch(/a fence's branch is never deleted/);
    expect(to({ holder: claimOf("1") })).toMatch(/token 43 is octo\/blog run 2\.1's/);
    expect(to({ token: 44 })).toMatch(/token 44 was never sealed here/);
    expect(to({ event: "sealed" })).toMatch(/token 43 was sealed already/);
    expect(to({ previous: "d".repeat(40) })).toMatch(/it replaces dddddddddd/);
    expect(to({})).toBe("allowed");
    expect(to({})).toMatch(/token 43 was accepted already/);
    const next = { event: "sealed", token: 44, holder: claimOf("3"), fingerprint: "e".repeat(40) } as const;
    expect(to({ ...next, accepted: undefined })).toMatch(/a seal keeps what was accepted/);
    const { accepted: kept } = (seen() as SeenFence).record;
    expect(to({ ...next, accepted: kept, fingerprint: "b".repeat(40) })).toMatch(
      /this very content was accepted/,
    );
    expect(to({ ...next, accepted: kept })).toBe("allowed");
  });
});

test("whatever stale clients write, the gate lets through what was written on top of the tip, and nothing else", () => {
  const act = fc.record({
    who: fc.constantFrom("1", "2", "3"),
    event: fc.constantFrom("acquired", "renewed", "pushed", "released", "unlocked"),
    /** How many writes ago the client looked. */
    behind: fc.integer({ min: 0, max: 4 }),
    branch: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 25 }), (acts) => {
      const refs = new Refs();
      const history = [refs.take("1")];
      for (const { who, event, behind, branch } of acts) {
        const base = history.at(-1 - behind) ?? (history[0] as string);
        const there = refs.lease(base)?.record as LeaseRecord;
        const moving = branch && event === "pushed";
        const head = nonce().slice(-6).padStart(40, "f");
        const change: Partial<LeaseRecord> = { event, ...(moving ? { published: { [main]: head } } : {}) };
        const changesHands = event === "acquired" || event === "unlocked";
        if (changesHands) Object.assign(change, { token: there.token + 1 });
        if (event === "acquired") Object.assign(change, { holder: claimOf(who), state: "held" });
        if (event === "released" || event === "unlocked") Object.assign(change, { state: "released" });
        if (event === "unlocked") Object.assign(change, { unlock: { by: who, reason: "x" } });
        const mine = there.state === "held" && there.holder.id === claimOf(who).id;
        if (!changesHands) Object.assign(change, { holder: claimOf(who) });
        const to = refs.nextLease(change, base);
        const before = refs.lease()?.record as LeaseRecord;
        const accepted =
          refs.push({ ref: leaseRef, to }, ...(branch ? [{ ref: main, to: head }] : [])).length === 0;
        expect(accepted).toBe(base === history.at(-1) && (changesHands || mine) && (!branch || moving));
        if (accepted) history.push(to);
        const after = refs.lease()?.record as LeaseRecord;
        expect(after.token).toBeGreaterThanOrEqual(before.token);
      }
    }),
    { numRuns: 200 },
  );
});
