import { describe, expect, test } from "vitest";
import type { DraftReading } from "../../src/protocol/conventions/convention.js";
import {
  claimDraft,
  draftMessage,
  draftRecordName,
  isMyDraft,
  readDraftRecord,
  renewDraft,
  type SeenDraft,
  startDraft,
} from "../../src/protocol/draft.js";
import { longestChain, TokenRegressed } from "../../src/protocol/lease.js";
import { encodeRecord, RecordInvalid } from "../../src/protocol/record.js";
import { settleDraft } from "../../src/protocol/settle.js";
import {
  ask,
  blobA,
  blobB,
  claimOf,
  claimOn,
  DraftRef,
  due,
  heldRef,
  minute,
  nonce,
  published,
  start,
  ttl,
} from "./draft-fixture.js";

const path = "posts/締切.md";
const one = { token: 1, claim: claimOf("1") };
const fail = { result: "failed", reason: "the model was away" } as const;
const settle = (now: number, maxAttempts = 3) => ({ now, maxAttempts, random: 0, nonce: nonce() });

function failedRef(): DraftRef {
  const ref = heldRef(path);
  ref.apply(settleDraft(ref.read(), one, fail, settle(start)), start);
  return ref;
}

function publishedRef(): DraftRef {
  const ref = heldRef(path);
  const result = { result: "published", published: { "refs/heads/main": blobB } } as const;
  ref.apply(settleDraft(ref.read(), one, result, settle(start)), start);
  return ref;
}

function deadRef(): DraftRef {
  const ref = heldRef(path);
  ref.apply(settleDraft(ref.read(), one, fail, settle(start, 1)), start);
  return ref;
}

describe("claimDraft", () => {
  test("a first claim takes token 1 and counts the attempt", () => {
    const decision = claimDraft(null, ask(path));
    expect(decision).toMatchObject({ outcome: "grant", reason: "new", attempt: 1 });
    const { record } = heldRef(path).read() as SeenDraft;
    expect(record).toMatchObject({
      name: path,
      state: "held",
      token: 1,
      attempts: 1,
      lost: 0,
      fingerprint: blobA,
    });
    expect(record.since).toBe(new Date(start).toISOString());
  });

  test("a pruned draft's token never restarts: the floor and the witness count", () => {
    const token = (more: object) => {
      const decision = claimDraft(null, ask(path, more));
      return decision.outcome === "grant" && decision.write.record.token;
    };
    expect(token({ floor: 41 })).toBe(42);
    expect(token({ floor: 41, witness: 50 })).toBe(51);
  });

  type Row = [
    why: string,
    ref: () => DraftRef,
    more: Partial<Parameters<typeof claimDraft>[1]>,
    standing: object,
  ];
  const later: DraftReading = { state: "pending", due: start + 1 };
  const broken: DraftReading = { state: "unreadable", reason: "its front matter is not YAML" };
  const empty = () => new DraftRef(path);
  test.each<Row>([
    ["not pending at the tip", empty, { reading: published }, { is: "not_pending" }],
    ["unreadable", empty, { reading: broken }, { is: "unreadable", reason: "its front matter is not YAML" }],
    ["due later", empty, { reading: later }, { is: "not_due", due: start + 1 }],
    ["no date where one is required", empty, { requireDue: true }, { is: "not_due", due: null }],
    ["held", heldRef.bind(null, path), { claim: claimOf("2") }, { is: "held", expiresAt: start + ttl }],
    ["held, by itself", heldRef.bind(null, path), {}, { is: "held" }],
    ["held, and edited meanwhile", heldRef.bind(null, path), { blob: blobB }, { is: "held" }],
    [
      "backing off",
      failedRef,
      { now: start + 2 * minute },
      { is: "backing_off", until: start + 2.5 * minute },
    ],
    ["dead", deadRef, { now: start + 999 * minute }, { is: "dead", recorded: true }],
    ["published with this content", publishedRef, { now: start + 9e9 }, { is: "published" }],
    [
      "used up, with fewer attempts allowed now",
      failedRef,
      { now: start + 9e6, maxAttempts: 1 },
      { is: "dead", recorded: false },
    ],
  ])("refuses a draft that is %s", (_, ref, more, standing) => {
    const decision = claimDraft(ref().read(), ask(path, more));
    expect(decision).toMatchObject({ outcome: "refuse", standing });
  });

  test.each<
    [
      why: string,
      ref: () => DraftRef,
      more: Partial<Parameters<typeof claimDraft>[1]>,
      reason: string,
      attempt: number,
      lost: number,
    ]
  >([
    ["due just now", empty, { reading: { state: "pending", due: start } }, "new", 1, 0],
    ["after its back-off", failedRef, { now: start + 2.5 * minute }, "pending", 2, 0],
    ["expired", heldRef.bind(null, path), { now: start + ttl, claim: claimOf("2") }, "expired", 2, 1],
    [
      "unchanged for a TTL",
      heldRef.bind(null, path),
      { unchangedFor: ttl, claim: claimOf("2") },
      "expired",
      2,
      1,
    ],
    [
      "its run finished",
      heldRef.bind(null, path),
      { holderFinished: true, claim: claimOf("2") },
      "finished",
      2,
      1,
    ],
    [
      "an earlier attempt of my run",
      heldRef.bind(null, path),
      { claim: claimOf("9", { runId: "1", runAttempt: 2 }) },
      "retried",
      2,
      1,
    ],
    ["backing off, and edited", failedRef, { blob: blobB }, "edited", 1, 0],
    ["dead, and edited", deadRef, { blob: blobB }, "edited", 1, 0],
    ["published, and edited", publishedRef, { blob: blobB }, "edited", 1, 0],
    ["expired, and edited", heldRef.bind(null, path), { blob: blobB, now: start + ttl }, "expired", 1, 0],
  ])("grants a draft that is %s", (_, ref, more, reason, attempt, lost) => {
    const decision = claimDraft(ref().read(), ask(path, more));
    expect(decision).toMatchObject({ outcome: "grant", reason, attempt });
    const record = decision.outcome === "grant" ? decision.write.record : null;
    expect(record).toMatchObject({
      state: "held",
      attempts: attempt,
      lost,
      token: ref().read() === null ? 1 : 2,
    });
    expect(record?.notBefore).toBeUndefined();
  });

  test("clocks that may differ by the skew cost the challenger the skew", () => {
    const ref = heldRef(path);
    const at = (now: number) =>
      claimDraft(ref.read(), ask(path, { now, skew: minute, claim: claimOf("2") })).outcome;
    expect([at(start + ttl + minute - 1), at(start + ttl + minute)]).toEqual(["refuse", "grant"]);
  });

  test("the last reason stays for the next attempt at the same content, and only for that", () => {
    const again = claimOn(failedRef(), { now: start + 9e6 });
    expect(again.record.reason).toBe("the model was away");
    const edited = claimOn(failedRef(), { now: start + 9e6, blob: blobB });
    expect(edited.record.reason).toBeUndefined();
  });

  test("a token that fell stops everything", () => {
    const ref = heldRef(path);
    expect(() => claimDraft(ref.read(), ask(path, { witness: 2 }))).toThrow(TokenRegressed);
  });

  test("a long history is cut at a claim, and the token goes on", () => {
    const ref = heldRef(path);
    while ((ref.read() as SeenDraft).record.depth < longestChain)
      ref.apply(renewDraft(ref.read(), one, nonce()), start);
    const seen = claimOn(ref, { now: start + ttl });
    expect(seen.record).toMatchObject({ depth: 1, token: 2 });
    expect(seen.record.previous).not.toBeNull();
  });
});

describe("the holder", () => {
  test("renews, and nobody else does", () => {
    const ref = heldRef(path);
    expect(isMyDraft(ref.read(), one)).toBe(true);
    expect(renewDraft(ref.read(), one, nonce())?.record).toMatchObject({
      event: "renewed",
      token: 1,
      attempts: 1,
    });
    expect(renewDraft(ref.read(), { ...one, claim: claimOf("2") }, nonce())).toBeNull();
    expect(renewDraft(ref.read(), { ...one, token: 2 }, nonce())).toBeNull();
    expect(renewDraft(null, one, nonce())).toBeNull();
  });

  test.each([
    ["failed", failedRef],
    ["published", publishedRef],
    ["dead", deadRef],
  ])("does not come back once the draft is %s", (_, ref) => {
    expect(isMyDraft(ref().read(), one)).toBe(false);
    expect(renewDraft(ref().read(), one, nonce())).toBeNull();
  });
});

describe("startDraft", () => {
  const view = {
    draft: path,
    blob: blobA,
    reading: due,
    now: start,
    skew: 0,
    maxAttempts: 3,
    staleAfter: 20 * minute,
  };

  test("remembers a start without a token, an attempt or a holder", () => {
    const ref = new DraftRef(path);
    ref.apply(startDraft(null, { ...view, floor: 7, nonce: nonce() }), start);
    expect(ref.read()?.record).toMatchObject({ event: "started", state: "pending", token: 7, attempts: 0 });
    expect(claimOn(ref, { now: start + 1 }).record).toMatchObject({ token: 8, attempts: 1 });
  });

  test("is not made again before stale-after, unless the draft was edited", () => {
    const ref = new DraftRef(path);
    ref.apply(startDraft(null, { ...view, nonce: nonce() }), start);
    const again = (more: object) => startDraft(ref.read(), { ...view, ...more, nonce: nonce() });
    expect(again({ now: start + 20 * minute - 1 })).toBeNull();
    expect(again({ now: start + 20 * minute })).not.toBeNull();
    expect(again({ now: start + 1, blob: blobB })?.record.fingerprint).toBe(blobB);
  });

  test("frees an expired holder, who then changes nothing", () => {
    const ref = heldRef(path);
    ref.apply(startDraft(ref.read(), { ...view, now: start + ttl, nonce: nonce() }), start + ttl);
    expect(ref.read()?.record).toMatchObject({ state: "pending", token: 1, attempts: 1, lost: 1 });
    expect(ref.read()?.record.holder).toBeUndefined();
    expect(settleDraft(ref.read(), one, fail, settle(start + ttl))).toBeNull();
  });

  test.each([
    ["held", heldRef.bind(null, path)],
    ["backing off", failedRef],
    ["published", publishedRef],
    ["dead", deadRef],
  ])("does not start a draft that is %s", (_, ref) => {
    expect(startDraft(ref().read(), { ...view, nonce: nonce() })).toBeNull();
  });
});

describe("records", () => {
  test("the audit trail reads as sentences", () => {
    const ref = new DraftRef(path);
    ref.apply(startDraft(null, { ...ask(path), staleAfter: 0 }), start);
    claimOn(ref, { claim: claimOf("1", { url: "https://github.com/octo/blog/actions/runs/1" }) });
    ref.apply(renewDraft(ref.read(), one, nonce()), start);
    ref.apply(settleDraft(ref.read(), one, { ...fail, reason: "two\nlines" }, settle(start)), start);
    claimOn(ref, { now: start + 9e6 });
    const published = { "refs/heads/main": "c".repeat(40) };
    const two = { token: 2, claim: claimOf("1") };
    ref.apply(settleDraft(ref.read(), two, { result: "published", published }, settle(start)), start);
    expect(ref.history.map(({ record }) => draftMessage(record).split("\n")[0])).toEqual([
      "draft posts/締切.md #0 started by a sweep",
      "draft posts/締切.md #1 claimed by octo/blog run 1.1 for 15m (attempt 1)",
      "draft posts/締切.md #1 renewed by octo/blog run 1.1 for 15m",
      "draft posts/締切.md #1 failed (attempt 1), again after 2026-11-30T00:02:30.000Z: two lines",
      "draft posts/締切.md #2 claimed by octo/blog run 1.1 for 15m (attempt 2)",
      "draft posts/締切.md #2 published main cccccccccc by octo/blog run 1.1",
    ]);
    expect(ref.read()?.record.run).toBe("https://github.com/octo/blog/actions/runs/1");
    const unpushed = heldRef(path);
    unpushed.apply(
      settleDraft(unpushed.read(), one, { result: "published", published: {} }, settle(start)),
      start,
    );
    expect(draftMessage(unpushed.read()?.record as SeenDraft["record"])).toMatch(
      /^draft \S+ #1 published by octo\/blog/,
    );
  });

  test("a held record without a holder is broken, not free", () => {
    const { record } = heldRef(path).read() as SeenDraft;
    const { holder: _, ...rest } = record;
    const seen = {
      name: draftRecordName(path),
      oid: blobA,
      writtenAt: start,
      parents: [],
      message: encodeRecord("by hand", rest),
    };
    expect(() => readDraftRecord(seen)).toThrow(RecordInvalid);
    // Nor is such a record ever written.
    expect(() => draftMessage(rest as typeof record)).toThrow(/a held draft has/);
    expect(readDraftRecord(null)).toBeNull();
  });
});
