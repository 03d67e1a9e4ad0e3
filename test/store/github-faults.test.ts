// Unknown outcomes of the store on GitHub: lost requests and replies, errors that say nothing, stale reads, rivals.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Change, Store } from "../../src/store/store.js";
import type { Fault } from "../support/github/faults.js";
import { a, b, type GithubPlace, githubPlace, refA, tipOf } from "./github-place.js";

describe("GitHub, at fault", () => {
  let place: GithubPlace;
  let store: Store;
  beforeEach(async () => {
    place = await githubPlace();
    store = place.store();
  });
  afterEach(async () => {
    await place.dispose();
    expect(place.github.violations).toEqual([]);
  });

  const change = (expected: string | null, text: string, more: Partial<Change> = {}): Change => ({
    name: a,
    expected,
    next: { message: `${text}\n\n{"nonce":"${text}"}\n` },
    ...more,
  });
  async function put(...changes: Change[]) {
    const result = await store.swap(changes);
    if (result.outcome !== "applied") throw new Error("conflict");
    return result.written;
  }
  const first = async () => {
    const [made] = await put(change(null, "one"));
    if (!made) throw new Error("nothing was written");
    await store.read([a]);
    place.requests();
    return made;
  };
  const subjects = async () => (await place.github.log(refA)).map((c) => c.message.split("\n")[0]);

  const forms = {
    createCommitOnBranch: (tip: string) => [change(tip, "two")],
    "git/create-ref": () => [change(null, "two", { name: b })],
    updateRefs: (tip: string) => [change(tip, "two"), change(null, "two", { name: b })],
  };
  const done: Fault[] = [
    { kind: "lost-reply" },
    { kind: "status", status: 502, when: "after" },
    { kind: "status", status: 504, when: "after" },
    { kind: "status", status: 409, when: "after" },
    { kind: "graphql-error", when: "after" },
  ];
  const undone: Fault[] = [
    { kind: "lost-request" },
    { kind: "status", status: 502, when: "before" },
    { kind: "status", status: 409, when: "before" },
    { kind: "graphql-error", when: "before" },
  ];
  test("an answer to updateRefs that does not echo its nonce is no success: the refs are read, and it is sent again", async () => {
    const made = await first();
    const body = { data: { updateRefs: { clientMutationId: null } } };
    place.github.faults.next(
      { operation: "updateRefs" },
      { kind: "status", status: 200, when: "before", body },
    );
    await put(...forms.updateRefs(made.oid));
    expect(await subjects()).toEqual(["two", "one"]);
    expect(place.requests().filter((operation) => operation === "updateRefs")).toHaveLength(2);
  });

  const words = (fault: Fault) => [fault.kind, "status" in fault ? fault.status : ""].join(" ");
  const cases = (faults: Fault[]) =>
    Object.keys(forms).flatMap((form) => faults.map((fault) => [form, words(fault), fault] as const));

  test.each(cases(done))(
    "%s that was carried out and answered with %s is applied, once",
    async (form, _, fault) => {
      const one = await first();
      place.github.faults.next({ operation: form }, fault);
      const changes = forms[form as keyof typeof forms](one.oid);
      const written = await put(...changes);
      expect((await store.read(changes.map(({ name }) => name))).records).toEqual(written);
      expect(place.requests().filter((each) => each === form)).toHaveLength(1);
      expect(place.github.faults.pending).toBe(0);
    },
  );

  test.each(cases(done))(
    "%s, answered with %s and then hidden by a stale read, is applied, once",
    async (form, _, fault) => {
      const one = await first();
      place.github.faults.next({ operation: form }, fault);
      place.github.faults.next({ operation: "query" }, { kind: "stale" }, { times: 2 });
      const changes = forms[form as keyof typeof forms](one.oid);
      const written = await put(...changes);
      place.github.faults.clear();
      expect((await store.read(changes.map(({ name }) => name))).records).toEqual(written);
      expect((await store.history(a, 9)).length).toBeLessThanOrEqual(2);
    },
  );

  test.each(cases(undone))(
    "%s that was not carried out and answered with %s is sent again",
    async (form, _, fault) => {
      const one = await first();
      place.github.faults.next({ operation: form }, fault);
      const changes = forms[form as keyof typeof forms](one.oid);
      const written = await put(...changes);
      expect((await store.read(changes.map(({ name }) => name))).records).toEqual(written);
      expect(place.requests().filter((each) => each === "git/create-commit").length).toBeLessThanOrEqual(
        changes.length,
      );
      expect(place.slept.length).toBeGreaterThan(0);
    },
  );

  test.each(cases(undone))(
    "%s, not carried out, with %s, while somebody else wrote, is a conflict",
    async (form, _, fault) => {
      const one = await first();
      const rival = place.store();
      const changes = forms[form as keyof typeof forms](one.oid);
      const target = changes.at(-1) as Change;
      let struck = false;
      const run = async () => {
        if (struck) return;
        struck = true;
        const theirs = {
          name: target.name,
          expected: target.expected,
          next: { message: 'r\n\n{"nonce":"r"}\n' },
        };
        expect((await rival.swap([theirs])).outcome).toBe("applied");
      };
      place.github.faults.next({ operation: form }, { kind: "before", run });
      if (fault.kind !== "lost-request") place.github.faults.next({ operation: form }, fault);
      expect(await store.swap(changes)).toEqual({ outcome: "conflict" });
      place.github.faults.clear();
      expect((await tipOf(store, target.name))?.message).toContain('"r"');
    },
  );

  test.each(["createCommitOnBranch", "git/create-ref", "updateRefs"] as const)(
    "%s that stays without an answer is unavailable after a few sends",
    async (form) => {
      const one = await first();
      place.github.faults.next(
        { operation: form },
        { kind: "status", status: 502, when: "before" },
        { times: 99 },
      );
      const changes = forms[form](one.oid);
      await expect(store.swap(changes)).rejects.toMatchObject({
        name: "StoreUnavailable",
        message: expect.stringContaining("did not say whether"),
      });
      expect(place.requests().filter((each) => each === form)).toHaveLength(3);
    },
  );

  test("a write whose reply was lost, and that somebody has built upon, is applied", async () => {
    const one = await first();
    const rival = place.store();
    const run = async () => {
      const mine = await tipOf(rival, a);
      await rival.swap([change(mine?.oid ?? "", "three")]);
    };
    const armed = (r: { fields: string[] }) => r.fields[0] === "createCommitOnBranch";
    place.github.faults.next(armed, { kind: "after", run });
    place.github.faults.next(armed, { kind: "lost-reply" });
    expect((await put(change(one.oid, "two")))[0]?.message).toContain("two");
    expect(await subjects()).toEqual(["three", "two", "one"]);
  });

  test("a write of the same text by another on another tip is not taken for ours", async () => {
    const one = await first();
    await place.store().swap([change(one.oid, "two")]);
    place.github.faults.next({ operation: "createCommitOnBranch" }, { kind: "lost-request" });
    const elsewhere = "1".repeat(40);
    expect(await store.swap([change(elsewhere, "two")])).toEqual({ outcome: "conflict" });
  });
});
