// Drafts under many claims, crashes, late writes and sweeps: the rules that hold whatever happens.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { DraftReading } from "../../src/protocol/conventions/convention.js";
import { claimDraft, renewDraft, type SeenDraft, startDraft } from "../../src/protocol/draft.js";
import { redriveDraft, settleDraft } from "../../src/protocol/settle.js";
import { headings, planSweep, pruneDraft, repairDraft, type SweepPlan } from "../../src/protocol/sweep.js";
import { ask, blobA, blobB, claimOf, DraftRef, due, minute, nonce, published, ttl } from "./draft-fixture.js";

const maxAttempts = 3;
const staleAfter = 20 * minute;
const origin = Date.parse("2026-11-30T00:00:00Z");

/** A repository with a few drafts, their refs, and workers that remember what they hold, rightly or not. */
class World {
  now = origin;
  floor = 0;
  readonly drafts = new Map<string, { blob: string; reading: DraftReading }>();
  readonly refs = new Map<string, DraftRef>();
  readonly workers = new Map<string, { path: string; token: number; seen: SeenDraft }>();
  readonly accepted: string[] = [];
  readonly tokens = new Map<string, number[]>();

  constructor() {
    for (const path of ["a", "b", "c"]) {
      this.drafts.set(path, { blob: blobA, reading: due });
      this.refs.set(path, new DraftRef(path));
    }
  }

  private at(path: string) {
    const draft = this.drafts.get(path);
    const ref = this.refs.get(path);
    if (!draft || !ref) throw new Error(path);
    return { draft, ref };
  }

  claim(worker: string, path: string): void {
    const { draft, ref } = this.at(path);
    const decision = claimDraft(
      ref.read(),
      ask(path, { ...draft, claim: claimOf(worker), now: this.now, maxAttempts, floor: this.floor }),
    );
    if (decision.outcome !== "grant") return;
    expect(ref.apply(decision.write, this.now)).toBe(true);
    const { token } = decision.write.record;
    this.tokens.set(path, [...(this.tokens.get(path) ?? []), token]);
    this.workers.set(worker, { path, token, seen: ref.read() as SeenDraft });
  }

  /** `late`: from what the worker saw when it claimed, as a paused run would. */
  settle(worker: string, result: Parameters<typeof settleDraft>[2], late: boolean): void {
    const held = this.workers.get(worker);
    if (!held) return;
    const { ref } = this.at(held.path);
    const seen = late ? held.seen : ref.read();
    const holding = { token: held.token, claim: claimOf(worker) };
    const write = settleDraft(seen, holding, result, {
      now: this.now,
      maxAttempts,
      random: 0,
      nonce: nonce(),
    });
    const current = ref.read();
    const mine = current?.record.state === "held" && current.record.token === held.token;
    const applied = ref.apply(write, this.now);
    if (!mine) expect(applied).toBe(false);
    if (applied && result.result === "published")
      this.accepted.push(`${held.path} ${(ref.read() as SeenDraft).record.fingerprint}`);
  }

  renew(worker: string): void {
    const held = this.workers.get(worker);
    if (!held) return;
    const { ref } = this.at(held.path);
    ref.apply(renewDraft(ref.read(), { token: held.token, claim: claimOf(worker) }, nonce()), this.now);
  }

  redrive(path: string): void {
    const { ref } = this.at(path);
    const decision = redriveDraft(ref.read(), { by: "octocat", reason: "x", nonce: nonce() });
    if (decision.outcome === "redriven") ref.apply(decision.write, this.now);
  }

  sweep(maxStart: number, trigger: "event" | "clock"): SweepPlan {
    const records = new Map<string, SeenDraft>();
    for (const [path, ref] of this.refs) {
      const seen = ref.read();
      if (seen) records.set(path, seen);
    }
    const drafts = [...this.drafts].map(([path, draft]) => ({ path, ...draft, age: this.now - origin }));
    const common = { now: this.now, skew: 0, maxAttempts };
    const plan = planSweep({ ...common, drafts, records, trigger, maxStart, floor: this.floor, staleAfter });
    expect(headings.reduce((sum, heading) => sum + plan.counts[heading], 0)).toBe(this.drafts.size);
    expect(plan.start.length).toBeLessThanOrEqual(maxStart);
    for (const repair of plan.repairs) this.at(repair.path).ref.apply(repairDraft(repair, nonce()), this.now);
    for (const { path, blob, reading } of plan.start) {
      const { ref } = this.at(path);
      const view = { draft: path, blob, reading, ...common, staleAfter, floor: this.floor, nonce: nonce() };
      expect(ref.apply(startDraft(ref.read(), view), this.now)).toBe(true);
    }
    this.floor = plan.floor;
    for (const seen of plan.prune)
      if (pruneDraft(seen).expected === this.at(seen.record.name).ref.read()?.oid)
        this.at(seen.record.name).ref.prune();
    return plan;
  }
}

const worker = fc.constantFrom("w1", "w2", "w3");
const path = fc.constantFrom("a", "b", "c");
const step = fc.oneof(
  fc.tuple(fc.constant("claim" as const), worker, path),
  fc.tuple(fc.constant("publish" as const), worker, fc.boolean()),
  fc.tuple(fc.constant("fail" as const), worker, fc.boolean()),
  fc.tuple(fc.constant("renew" as const), worker),
  fc.tuple(
    fc.constant("sweep" as const),
    fc.integer({ min: 0, max: 2 }),
    fc.constantFrom("event" as const, "clock" as const),
  ),
  fc.tuple(fc.constant("wait" as const), fc.constantFrom(minute, ttl, staleAfter, 31 * 86_400_000)),
  fc.tuple(fc.constant("edit" as const), path, fc.constantFrom(blobA, blobB)),
  fc.tuple(fc.constant("flip" as const), path, fc.boolean()),
  fc.tuple(fc.constant("redrive" as const), path),
);

function run(world: World, [kind, ...rest]: [string, ...unknown[]]): void {
  const [first, second] = rest as [string, unknown];
  const draft = world.drafts.get(first);
  const publish = { result: "published", published: { "refs/heads/main": blobB } } as const;
  if (kind === "claim") world.claim(first, second as string);
  else if (kind === "publish") world.settle(first, publish, second as boolean);
  else if (kind === "fail") world.settle(first, { result: "failed", reason: "x" }, second as boolean);
  else if (kind === "renew") world.renew(first);
  else if (kind === "sweep") world.sweep(rest[0] as number, second as "event" | "clock");
  else if (kind === "wait") world.now += rest[0] as number;
  else if (kind === "redrive") world.redrive(first);
  else if (kind === "edit")
    world.drafts.set(first, { blob: second as string, reading: draft?.reading ?? due });
  else world.drafts.set(first, { blob: draft?.blob ?? blobA, reading: second === true ? due : published });
}

test("tokens strictly rise, also across pruning, and the state of every record is one of four", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const world = new World();
      for (const each of steps) run(world, each);
      for (const tokens of world.tokens.values())
        expect(tokens).toEqual([...new Set(tokens)].toSorted((a, b) => a - b));
      for (const ref of world.refs.values())
        for (const { record } of ref.history) {
          expect(["held", "pending", "published", "dead"]).toContain(record.state);
          expect(record.attempts).toBeLessThanOrEqual(maxAttempts);
          expect(record.lost).toBeLessThanOrEqual(record.attempts);
        }
    }),
    { numRuns: 400 },
  );
});

test("one content of a draft is published once, while its file goes on to say pending", () => {
  // Content that comes back after another was published is new work, and so is what is pending again after a pruning.
  const steps = fc.array(
    step.filter(([kind]) => kind !== "flip" && kind !== "edit"),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(steps, (steps) => {
      const world = new World();
      for (const each of steps) run(world, each);
      expect(world.accepted).toEqual([...new Set(world.accepted)]);
    }),
    { numRuns: 400 },
  );
});

test("a failing draft is dead after its attempts, and the others are published meanwhile", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2 }),
      fc.constantFrom("fail" as const, "crash" as const),
      (maxStart, how) => {
        const world = new World();
        for (let round = 0; round < 60; round++) {
          world.now += staleAfter;
          for (const { path } of world.sweep(maxStart, "clock").start) {
            world.claim(`${path}${round}`, path);
            if (path !== "a")
              world.settle(
                `${path}${round}`,
                { result: "published", published: { "refs/heads/main": blobB } },
                false,
              );
            else if (how === "fail")
              world.settle(`${path}${round}`, { result: "failed", reason: "x" }, false);
          }
        }
        expect(world.accepted.toSorted()).toEqual([`b ${blobA}`, `c ${blobA}`]);
        const record = world.refs.get("a")?.read()?.record;
        expect(record).toMatchObject({ state: "dead", attempts: 3, lost: how === "crash" ? 3 : 0 });
        expect(world.sweep(1, "clock").deadLetters).toMatchObject([{ path: "a", fresh: false }]);
      },
    ),
  );
});
