// The fence of another destination: tokens never fall, and each draft's content is accepted once, in every order of events.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  acceptance,
  type FenceWrite,
  fenceMessage,
  fenceRecordName,
  type Guarded,
  isOpen,
  readFence,
  type SeenFence,
  seal,
} from "../../src/protocol/fence.js";
import { floorRecordName } from "../../src/protocol/floor.js";
import { longestChain } from "../../src/protocol/lease.js";
import { RecordInvalid, type Versioned } from "../../src/protocol/record.js";

const lease: Guarded = { of: "lease", name: "blog-main" };
const draft: Guarded = { of: "draft", name: "posts/締切.md" };
const claim = (name: string) => ({ id: `claim-of-${name}`, host: "vm-1", pid: 1 });
const blob = (letter: string) => letter.repeat(40);
const put = { "refs/heads/main": blob("f") };

let made = 0;
const nonce = () => `nonce-${String(++made).padStart(6, "0")}`;

/** The fence's ref: it refuses a write over a tip that has moved, and reads what was written as a store's reader does. */
class Ref {
  tip: Versioned | null = null;
  constructor(readonly guarded: Guarded) {}
  read = (): SeenFence | null => readFence(this.tip);
  apply({ record, expected, root }: FenceWrite): boolean {
    if (expected !== (this.tip?.oid ?? null)) return false;
    const oid = (++made).toString(16).padStart(40, "0");
    const parents = root || expected === null ? [] : [expected];
    const name = fenceRecordName(this.guarded);
    this.tip = { name, oid, writtenAt: 0, parents, message: fenceMessage(record) };
    return true;
  }
  seal(token: number, who: string, fingerprint?: string) {
    const decision = seal(
      this.read(),
      this.guarded,
      { token, claim: claim(who), fingerprint },
      { nonce: nonce() },
    );
    if (decision.outcome === "seal") expect(this.apply(decision.write)).toBe(true);
    return decision.outcome;
  }
  push(token: number, who: string): boolean {
    const seen = this.read();
    return (
      isOpen(seen, this.guarded, { token, claim: claim(who) }) && this.apply(acceptance(seen, put, nonce()))
    );
  }
}

describe("a fence", () => {
  test("is sealed by a higher token only, and then refuses the older ones", () => {
    const ref = new Ref(lease);
    expect(ref.seal(41, "a")).toBe("seal");
    expect(ref.push(41, "a")).toBe(true);
    expect(ref.seal(42, "b")).toBe("seal");
    expect(ref.push(41, "a")).toBe(false);
    expect(ref.seal(41, "a")).toBe("superseded");
    expect(ref.push(42, "b")).toBe(true);
  });

  test("belongs to one claim, though another has the same token", () => {
    const ref = new Ref(lease);
    ref.seal(42, "a");
    expect(ref.seal(42, "b")).toBe("superseded");
    expect(ref.push(42, "b")).toBe(false);
    expect(ref.seal(42, "a")).toBe("sealed");
  });

  test("lets nobody through who has not sealed it", () => {
    const ref = new Ref(lease);
    expect(ref.push(42, "a")).toBe(false);
    ref.seal(41, "a");
    expect(ref.push(42, "b")).toBe(false);
    expect(ref.push(40, "a")).toBe(false);
  });

  test("of a lease lets its holder push again; of a draft, once", () => {
    const [many, once] = [new Ref(lease), new Ref(draft)];
    for (const ref of [many, once]) ref.seal(7, "a", blob("a"));
    expect([many.push(7, "a"), many.push(7, "a")]).toEqual([true, true]);
    expect([once.push(7, "a"), once.push(7, "a")]).toEqual([true, false]);
  });

  test("remembers the content of a draft that it accepted, through later seals, whoever asks", () => {
    const ref = new Ref(draft);
    ref.seal(7, "a", blob("a"));
    ref.push(7, "a");
    expect(ref.seal(8, "b", blob("a"))).toBe("published");
    expect(ref.seal(7, "a", blob("a"))).toBe("published");
    expect(ref.seal(8, "b", blob("b"))).toBe("seal");
    expect(ref.seal(9, "c", blob("a"))).toBe("published");
    expect(ref.push(8, "b")).toBe(true);
  });

  test("begins a new root when its history is long, except where the server forbids it", () => {
    const ref = new Ref(lease);
    ref.seal(1, "a");
    const long = ref.read() as SeenFence;
    long.record.depth = longestChain;
    const [sealer, ask] = [{ token: 2, claim: claim("b") }, { nonce: nonce() }];
    const decision = seal(long, lease, sealer, ask);
    expect(decision).toMatchObject({ write: { root: true, record: { depth: 1, previous: long.oid } } });
    const kept = seal(long, lease, sealer, { ...ask, keepChain: true });
    expect(kept).toMatchObject({ write: { root: false, record: { depth: longestChain + 1 } } });
  });

  test("that cannot be read is an error, and never free", () => {
    const ref = new Ref(lease);
    ref.seal(1, "a");
    const broken = { ...(ref.tip as Versioned), message: "fence\n\n{}" };
    expect(() => readFence(broken)).toThrow(RecordInvalid);
  });

  test("has a place of its own for a lease, a draft and a resource of one name, and none is the floor's", () => {
    const names = (["lease", "draft", "resource"] as const).map((of) =>
      fenceRecordName({ of, name: "site" }),
    );
    expect(new Set([...names, floorRecordName, fenceRecordName({ of: "draft", name: "" })]).size).toBe(5);
  });

  test("says what happened in its subject", () => {
    const ref = new Ref(draft);
    ref.seal(7, "a", blob("a"));
    expect(ref.tip?.message.split("\n")[0]).toBe("fence drafts//posts/締切.md #7 sealed for vm-1 process 1");
    ref.push(7, "a");
    expect(ref.tip?.message.split("\n")[0]).toMatch(/#7 accepted main ffffffffff from vm-1 process 1$/);
  });
});

describe("in any order of seals and pushes, each on what its claimant last saw", () => {
  const act = fc.record({
    kind: fc.constantFrom("look", "seal", "push"),
    who: fc.nat(3),
    content: fc.constantFrom("a", "b"),
  });
  /** Claimants 0 to 3 hold the tokens 1 to 4, and may act on a look that is old by now. */
  function play(of: "lease" | "draft", acts: { kind: string; who: number; content: string }[]) {
    const ref = new Ref({ of, name: "x" });
    const accepted: { token: number; content: string }[] = [];
    const looks: (SeenFence | null)[] = [null, null, null, null];
    const content: Record<number, string> = {};
    for (const { kind, who, content: wanted } of acts) {
      if (kind === "look") looks[who] = ref.read();
      const seen = looks[who] ?? null;
      const owner = { token: who + 1, claim: claim(String(who)) };
      if (kind === "seal") {
        // A claim works on one content.
        content[who] ??= wanted;
        const letter = content[who];
        const decision = seal(seen, ref.guarded, { ...owner, fingerprint: blob(letter) }, { nonce: nonce() });
        if (decision.outcome === "seal") ref.apply(decision.write);
      }
      if (kind === "push" && isOpen(seen, ref.guarded, owner) && ref.apply(acceptance(seen, put, nonce())))
        accepted.push({ token: who + 1, content: content[who] ?? "" });
    }
    return accepted;
  }

  test("accepted tokens never fall", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
        const tokens = play("lease", acts).map(({ token }) => token);
        expect(tokens).toEqual([...tokens].sort((a, b) => a - b));
      }),
      { numRuns: 2000 },
    );
  });

  test("of a draft each token is accepted once, and so is each content while it is the newest", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
        const accepted = play("draft", acts);
        const tokens = accepted.map(({ token }) => token);
        expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
        for (const [i, { content }] of accepted.entries()) expect(accepted[i + 1]?.content).not.toBe(content);
      }),
      { numRuns: 2000 },
    );
  });
});
