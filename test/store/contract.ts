// What every store must do, as one suite: read, list, and swap all or nothing.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/clock.js";
import { type RecordName, recordName } from "../../src/protocol/names.js";
import type { Versioned } from "../../src/protocol/record.js";
import type { Change, Store } from "../../src/store/store.js";

export interface Place {
  /** A store on this place, in a process of its own as far as it can tell. Its clock stands still. */
  store(): Store;
  /**
   * Whether the same text on the same tip in the same second is the same commit. Then two claimants without a nonce
   * are both told that they won; a store whose commits are the server's own refuses the second.
   */
  contentAddressed: boolean;
  dispose(): Promise<void>;
}

const a = recordName("lease", "a");
const ab = recordName("lease", "ab");
const b = recordName("lease", "b");
const draft = recordName("draft", "a");

export function storeContract(name: string, open: () => Promise<Place>): void {
  describe(`the store contract, kept by ${name}`, () => {
    let place: Place;
    let store: Store;
    beforeEach(async () => {
      place = await open();
      store = place.store();
    });
    afterEach(async () => {
      await place.dispose();
    });

    test("an absent record is read as null, and has no history", async () => {
      expect(await tip(store, a)).toBeNull();
      expect(await store.history(a, 5)).toEqual([]);
      expect(await listed(store, "lease/")).toEqual([]);
    });

    test("an absent record is created when absence is expected", async () => {
      const written = await apply(store, [{ name: a, expected: null, next: { message: "one\n" } }]);
      expect(written).toEqual([expect.objectContaining({ name: a, parents: [], message: "one\n" })]);
      expect(await tip(store, a)).toEqual(written[0]);
    });

    test("a present record is not created again", async () => {
      const first = await put(store, a, null, "one\n");
      expect(await store.swap([{ name: a, expected: null, next: { message: "two\n" } }])).toEqual({
        outcome: "conflict",
      });
      expect(await tip(store, a)).toEqual(first);
    });

    test("a record moves from the expected tip, which becomes the only parent of its next", async () => {
      const first = await put(store, a, null, "one\n");
      const second = await put(store, a, first.oid, "two\n");
      expect(second.parents).toEqual([first.oid]);
      expect(await tip(store, a)).toEqual(second);
    });

    test("a record does not move when another tip is expected", async () => {
      const first = await put(store, a, null, "one\n");
      const second = await put(store, a, first.oid, "two\n");
      expect(await store.swap([{ name: a, expected: first.oid, next: { message: "three\n" } }])).toEqual({
        outcome: "conflict",
      });
      expect(await tip(store, a)).toEqual(second);
    });

    test("an absent record does not move when a tip is expected", async () => {
      const other = await put(store, b, null, "one\n");
      expect(await store.swap([{ name: a, expected: other.oid, next: { message: "two\n" } }])).toEqual({
        outcome: "conflict",
      });
      expect(await tip(store, a)).toBeNull();
    });

    test("several records are read at once, in the order asked, with absent ones null", async () => {
      const one = await put(store, a, null, "one\n");
      const two = await put(store, draft, null, "two\n");
      const { records } = await store.read([draft, b, a]);
      expect(records).toEqual([two, null, one]);
    });

    test("the time of a read is not before the writes that it shows", async () => {
      await put(store, a, null, "one\n");
      const { now, records } = await store.read([a]);
      expect(now).toBeGreaterThanOrEqual(records[0]?.writtenAt ?? Number.NaN);
    });

    test("several records move together", async () => {
      const one = await put(store, a, null, "one\n");
      const gone = await put(store, draft, null, "gone\n");
      const written = await apply(store, [
        { name: a, expected: one.oid, next: { message: "two\n" } },
        { name: b, expected: null, next: { message: "new\n" } },
        { name: draft, expected: gone.oid, next: null },
      ]);
      expect(written.map((w) => w?.message ?? null)).toEqual(["two\n", "new\n", null]);
      expect((await store.read([a, b, draft])).records).toEqual(written);
    });

    test.each([0, 1, 2])("one wrong expectation, at position %i, moves none of several", async (wrong) => {
      const names = [a, b, draft];
      const before: Versioned[] = [];
      for (const each of names) before.push(await put(store, each, null, `${each} one\n`));
      const changes = names.map((each, i) => ({
        name: each,
        expected: i === wrong ? (before[(i + 1) % 3]?.oid ?? null) : (before[i]?.oid ?? null),
        next: { message: `${each} two\n` },
      }));
      expect(await store.swap(changes)).toEqual({ outcome: "conflict" });
      expect((await store.read(names)).records).toEqual(before);
    });

    test("a creation that comes too late moves none of several", async () => {
      const one = await put(store, a, null, "one\n");
      const two = await put(store, b, null, "two\n");
      expect(
        await store.swap([
          { name: a, expected: one.oid, next: { message: "three\n" } },
          { name: b, expected: null, next: { message: "four\n" } },
        ]),
      ).toEqual({ outcome: "conflict" });
      expect((await store.read([a, b])).records).toEqual([one, two]);
    });

    test("a record is removed from the expected tip, and can be created anew", async () => {
      const first = await put(store, a, null, "one\n");
      expect(await apply(store, [{ name: a, expected: first.oid, next: null }])).toEqual([null]);
      expect(await tip(store, a)).toBeNull();
      expect(await listed(store, "lease/")).toEqual([]);
      await put(store, a, null, "two\n");
      expect((await tip(store, a))?.message).toBe("two\n");
    });

    test("a record is not removed when another tip is expected", async () => {
      const first = await put(store, a, null, "one\n");
      const second = await put(store, a, first.oid, "two\n");
      expect(await store.swap([{ name: a, expected: first.oid, next: null }])).toEqual({
        outcome: "conflict",
      });
      expect(await tip(store, a)).toEqual(second);
    });

    test("a list holds what starts with the prefix, and nothing else", async () => {
      for (const each of [a, ab, b, draft]) await put(store, each, null, `${each}\n`);
      expect(await listed(store, "lease/")).toEqual([a, ab, b]);
      expect(await listed(store, "lease/a")).toEqual([a, ab]);
      expect(await listed(store, "lease/ab")).toEqual([ab]);
      expect(await listed(store, "lease/abc")).toEqual([]);
      expect(await listed(store, "draft/")).toEqual([draft]);
    });

    test("a list follows writes and removals made after an earlier list", async () => {
      const first = await put(store, a, null, "one\n");
      await put(store, ab, null, "two\n");
      expect(await listed(store, "lease/")).toEqual([a, ab]);
      await apply(store, [{ name: a, expected: first.oid, next: null }]);
      await put(store, b, null, "three\n");
      expect(await listed(store, "lease/")).toEqual([ab, b]);
    });

    test("a record whose name another one begins with is read as itself", async () => {
      const long = await put(store, ab, null, "long\n");
      expect(await tip(store, a)).toBeNull();
      expect(await store.history(a, 5)).toEqual([]);
      const short = await put(store, a, null, "short\n");
      expect((await store.read([a, ab])).records).toEqual([short, long]);
    });

    test("text comes back as it was written: Unicode, quotes, several lines, and the nonce", async () => {
      const text =
        'lease Ærø – ブログ 🚀 "x"\n\n{\n  "nonce": "0f0e0d0c-\\u0000",\n  "tab": "\t",\r\n  "e\u0301": "é"\n}\n';
      const nameOfAll = recordName("lease", "Ærø – ブログ 🚀/main");
      const written = await put(store, nameOfAll, null, text);
      expect(written.message).toBe(text);
      const other = place.store();
      expect(await tip(other, nameOfAll)).toEqual(written);
      expect(await listed(other, "lease/")).toEqual([nameOfAll]);
      expect((await other.history(nameOfAll, 1))[0]).toEqual(written);
    });

    test("a long text comes back whole", async () => {
      const text = `long\n\n${JSON.stringify({ text: "ä".repeat(50_000) })}\n`;
      await put(store, a, null, text);
      expect((await tip(place.store(), a))?.message).toBe(text);
    });

    test("a new root has no parent, and the history starts over", async () => {
      const first = await put(store, a, null, "one\n");
      const second = await put(store, a, first.oid, "two\n");
      const [root] = await apply(store, [
        { name: a, expected: second.oid, next: { message: "three\n", root: true } },
      ]);
      expect(root?.parents).toEqual([]);
      expect(await tip(store, a)).toEqual(root);
      expect(await store.history(a, 5)).toEqual([root]);
    });

    test("a new root too needs the expected tip", async () => {
      const first = await put(store, a, null, "one\n");
      const second = await put(store, a, first.oid, "two\n");
      expect(
        await store.swap([{ name: a, expected: first.oid, next: { message: "three\n", root: true } }]),
      ).toEqual({ outcome: "conflict" });
      expect(await tip(store, a)).toEqual(second);
    });

    test("a history is newest first, and no longer than its limit", async () => {
      const chain: Versioned[] = [];
      for (const message of ["one\n", "two\n", "three\n", "four\n"])
        chain.unshift(await put(store, a, chain[0]?.oid ?? null, message));
      const other = place.store();
      expect(await other.history(a, 10)).toEqual(chain);
      expect(await other.history(a, 3)).toEqual(chain.slice(0, 3));
      expect(await other.history(a, 1)).toEqual(chain.slice(0, 1));
    });

    test("two stores on one place see each other's writes, and build on them", async () => {
      const other = place.store();
      const first = await put(store, a, null, "one\n");
      expect(await tip(other, a)).toEqual(first);
      const second = await put(other, a, first.oid, "two\n");
      const third = await put(store, a, second.oid, "three\n");
      expect((await other.history(a, 5)).map((w) => w.oid)).toEqual([third.oid, second.oid, first.oid]);
    });

    test("a tip that only another store has read can be built on", async () => {
      const first = await put(store, a, null, "one\n");
      const second = await put(place.store(), a, first.oid, "two\n");
      expect(second.parents).toEqual([first.oid]);
    });

    test("the same write sent twice is applied once", async () => {
      const first = await put(store, a, null, "one\n");
      const change = { name: a, expected: first.oid, next: { message: "two\n" } };
      const [second] = await apply(store, [change]);
      await store.swap([change]);
      expect(await store.history(a, 5)).toEqual([second, first]);
    });

    test("two claimants with a nonce each are told apart: one wins, one is told of the conflict", async () => {
      const other = place.store();
      const claims = ["1111-aaaa", "2222-bbbb"].map((nonce) => ({
        name: a,
        expected: null,
        next: { message: `mine\n\n{"nonce":"${nonce}"}\n` },
      }));
      const outcomes = await Promise.all(
        [store, other].map(async (each, i) => (await each.swap([claims[i] as Change])).outcome),
      );
      expect(outcomes.sort()).toEqual(["applied", "conflict"]);
    });

    test("two claimants without a nonce are told apart only by a store that makes its own commits", async () => {
      const other = place.store();
      const claim = { name: a, expected: null, next: { message: "mine\n" } };
      const outcomes = [(await store.swap([claim])).outcome, (await other.swap([claim])).outcome];
      expect(outcomes).toEqual(["applied", place.contentAddressed ? "applied" : "conflict"]);
    });

    test("reads and writes of several records at once on one store do not disturb each other", async () => {
      const names = ["k", "l", "m", "n"].map((each) => recordName("lease", each));
      await put(store, a, null, "one\n");
      await tip(store, a);
      await Promise.all(names.map((each) => put(store, each, null, `${each}\n`)));
      const seen = await Promise.all(names.map((each) => tip(store, each)));
      expect(seen.map((each) => each?.message)).toEqual(names.map((each) => `${each}\n`));
    });

    test("twenty contenders that read, add one and swap lose no update", async () => {
      await put(store, a, null, "0\n");
      await Promise.all(Array.from({ length: 20 }, (_, i) => addOne(place.store(), i)));
      expect(count(await tip(store, a))).toBe(20);
      expect(await store.history(a, 50)).toHaveLength(21);
    });

    test("contenders that look up the expected tip just before they write lose updates", async () => {
      const first = await put(store, a, null, "0\n");
      const contenders = Array.from({ length: 4 }, () => place.store());
      const counts = await Promise.all(contenders.map(async (each) => count(await tip(each, a))));
      for (const [i, each] of contenders.entries()) {
        const expected = (await tip(each, a))?.oid ?? first.oid;
        await put(each, a, expected, `${(counts[i] ?? Number.NaN) + 1}\n`);
      }
      expect(count(await tip(store, a))).toBe(1);
    });
  });
}

async function addOne(store: Store, by: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const seen = await tip(store, a);
    // Who wrote stands for the nonce: without it equal counts are equal commits.
    const message = `${count(seen) + 1} by ${by}\n`;
    const result = await store.swap([{ name: a, expected: seen?.oid ?? null, next: { message } }]);
    if (result.outcome === "applied") return;
    await systemClock.sleep(Math.random() * 100 * attempt);
  }
}

function count(seen: Versioned | null): number {
  return Number.parseInt(seen?.message ?? "", 10);
}

async function tip(store: Store, name: RecordName): Promise<Versioned | null> {
  return (await store.read([name])).records[0] ?? null;
}

async function listed(store: Store, prefix: string): Promise<string[]> {
  const names: string[] = [];
  for await (const seen of store.list(prefix)) names.push(seen.name);
  return names.sort();
}

async function apply(store: Store, changes: readonly Change[]): Promise<(Versioned | null)[]> {
  const result = await store.swap(changes);
  if (result.outcome === "conflict") throw new Error("The write was expected to be applied.");
  return result.written;
}

async function put(
  store: Store,
  name: RecordName,
  expected: string | null,
  message: string,
): Promise<Versioned> {
  const [written] = await apply(store, [{ name, expected, next: { message } }]);
  if (!written) throw new Error("A write must give what it wrote.");
  return written;
}
