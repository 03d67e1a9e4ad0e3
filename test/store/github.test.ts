// The store on GitHub: the contract, the price of each operation, and what GitHub can do wrong.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { recordName } from "../../src/protocol/names.js";
import type { Change, Store } from "../../src/store/store.js";
import { storeContract } from "./contract.js";
import { a, b, type GithubPlace, githubPlace, refA, tipOf } from "./github-place.js";

storeContract("the GitHub store", async () => {
  const place = await githubPlace();
  // Twenty contenders spend more than a job's hour allows.
  place.github.limits.enabled = false;
  return {
    store: () => place.store(),
    contentAddressed: false,
    dispose: async () => {
      await place.dispose();
      expect(place.github.violations).toEqual([]);
    },
  };
});

describe("GitHub", () => {
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

  test("is asked no more often than an operation needs", async () => {
    await store.read([a, b]);
    expect(place.requests()).toEqual(["query"]);
    const [one] = await put(change(null, "one"));
    expect(place.requests()).toEqual(["git/create-commit", "git/create-ref"]);
    const [two] = await put(change(one?.oid ?? "", "two"));
    expect(place.requests()).toEqual(["createCommitOnBranch"]);
    const root = { message: "three\n", root: true };
    await put({ name: a, expected: two?.oid ?? "", next: root }, { ...change(null, "b"), name: b });
    expect(place.requests()).toEqual(["git/create-commit", "git/create-commit", "updateRefs"]);
    const tip = await tipOf(store, a);
    place.requests();
    await put({ name: a, expected: tip?.oid ?? "", next: null });
    expect(place.requests()).toEqual(["updateRefs"]);
    expect(await store.swap([change(one?.oid ?? "", "late", { name: b })])).toEqual({ outcome: "conflict" });
    expect(place.requests()).toEqual(["createCommitOnBranch"]);
    expect(place.slept).toEqual([]);
  });

  test("stamps what it writes, and its answer's time is the time of a read", async () => {
    place.github.clock.set("2026-03-01T10:00:00.900Z");
    place.github.clock.freeze();
    const made = await first();
    expect(made.writtenAt).toBe(Date.UTC(2026, 2, 1, 10));
    place.github.clock.advance(5000);
    const { now, records } = await store.read([a]);
    expect(now).toBe(Date.UTC(2026, 2, 1, 10, 0, 5));
    expect(records).toEqual([made]);
    const [two] = await put(change(made.oid, "two"));
    expect(two?.writtenAt).toBe(Date.UTC(2026, 2, 1, 10, 0, 5));
    expect(two?.message).toBe('two\n\n{"nonce":"two"}');
  });

  test("a branch that refuses commits in one request is written in two, which is said once", async () => {
    const one = await first();
    const body = { data: null, errors: [{ type: "UNPROCESSABLE", message: "not here" }] };
    place.github.faults.next(
      { operation: "createCommitOnBranch" },
      { kind: "status", status: 200, when: "before", body },
    );
    const [two] = await put(change(one.oid, "two"));
    expect(place.requests()).toEqual([
      "createCommitOnBranch",
      "query",
      "git/create-commit",
      "git/update-ref",
    ]);
    expect(place.warned).toEqual([expect.stringContaining("in one request (not here)")]);
    await put(change(two?.oid ?? "", "three"));
    expect(place.requests()).toEqual(["git/create-commit", "git/update-ref"]);
    expect(place.warned).toHaveLength(1);
    expect(await subjects()).toEqual(["three", "two", "one"]);
    expect(await store.swap([change(one.oid, "late")])).toEqual({ outcome: "conflict" });
  });

  test("an empty tree that GitHub does not know is replaced by one small file, once", async () => {
    place.github.behaviour.emptyTree = "unknown";
    await first();
    expect(await place.github.repository().file(refA, "fencepost.txt")).toContain("Fencepost");
    await put(change(null, "two", { name: b }));
    expect(place.requests()).toEqual(["git/create-commit", "git/create-ref"]);
  });

  test("rules that refuse a new branch are a refusal, in GitHub's words", async () => {
    place.github.protect({ ref: "~ALL", rule: "GH013" });
    await expect(store.swap([change(null, "one")])).rejects.toMatchObject({
      name: "StoreRefused",
      message: expect.stringMatching(/rule violations.*exclude fencepost\/\*\*/),
    });
  });

  test("a forced update that is refused is a refusal, so that the caller may keep the chain", async () => {
    const one = await first();
    place.github.protect({ ref: "~ALL", rule: "GH013" });
    const root = change(one.oid, "two", { next: { message: "two\n", root: true } });
    await expect(store.swap([root])).rejects.toMatchObject({ name: "StoreRefused" });
    const two = [change(one.oid, "two"), change(null, "b", { name: b })];
    await expect(store.swap(two)).rejects.toMatchObject({ name: "StoreUnavailable" });
  });

  test("a token without the permission is refused at once, with the cure", async () => {
    const one = await first();
    const weak = place.store({ token: place.github.token({ contents: "read" }) });
    for (const changes of [[change(one.oid, "x")], [change(null, "x", { name: b })]]) {
      await expect(weak.swap(changes)).rejects.toMatchObject({
        name: "StoreRefused",
        message: expect.stringMatching(/not accessible by integration.*permissions:\n {6}contents: write/s),
      });
      expect(place.requests()).toHaveLength(1);
    }
    expect(place.slept).toEqual([]);
  });

  test.each([
    [{ contents: "read", kind: "fork" }, true, /pull request from a fork/],
    [{ contents: "read", kind: "fork" }, false, /contents: write/],
    [
      { contents: "write", repositories: ["octo/other"] },
      true,
      /no such repository, or this token cannot see it/,
    ],
  ] as const)("token %o (fork: %s) is told %s", async (options, forkPullRequest, told) => {
    const other = place.store({ token: place.github.token(options), forkPullRequest });
    await expect(other.swap([change(null, "x")])).rejects.toMatchObject({
      name: "StoreRefused",
      message: expect.stringMatching(told),
    });
  });

  test("an expired token and an invisible repository are refused at a read, at once", async () => {
    const old = place.github.token({ contents: "write" });
    place.github.tokens.expire(old);
    await expect(place.store({ token: old }).read([a])).rejects.toMatchObject({
      name: "StoreRefused",
      message: expect.stringContaining("expired"),
    });
    await expect(place.store({ repository: "octo/none" }).read([a])).rejects.toMatchObject({
      name: "StoreRefused",
      message: expect.stringContaining("octo/none"),
    });
    expect(place.requests()).toHaveLength(2);
    expect(() => place.store({ repository: "octo/../x" })).toThrow(/owner\/name/);
    expect(() => place.store({ repository: "../x" })).toThrow(/owner\/name/);
  });

  test("a repository without a commit says what it lacks", async () => {
    await place.github.create("octo/empty");
    await expect(place.store({ repository: "octo/empty" }).swap([change(null, "x")])).rejects.toMatchObject({
      name: "StoreMisconfigured",
      message: expect.stringContaining("no commit yet"),
    });
  });

  test.each(["RATE_LIMITED", "RATE_LIMIT"] as const)(
    "a primary limit (%s) is waited out within the bound only",
    async (type) => {
      place.github.behaviour.primaryLimitType = type;
      await first();
      place.github.leave(place.token, "graphql", 0);
      await expect(store.read([a])).rejects.toMatchObject({
        name: "StoreUnavailable",
        message: expect.stringMatching(/possible again at \d\d:\d\d:\d\d UTC/),
      });
      expect(place.slept).toEqual([]);
      const patient = place.store({ waitLimit: 2 * 3_600_000 });
      expect((await patient.read([a])).records).toHaveLength(1);
      expect(place.warned).toEqual([expect.stringContaining("Waiting until")]);
      expect(place.slept).toHaveLength(1);
    },
  );

  test.each([403, 429] as const)("a primary limit of REST (%i) holds a new record back", async (status) => {
    place.github.behaviour.primaryLimitStatus = status;
    await first();
    place.github.leave(place.token, "core", 0);
    await expect(store.swap([change(null, "x", { name: b })])).rejects.toMatchObject({
      name: "StoreUnavailable",
    });
    await place.store({ waitLimit: 2 * 3_600_000 }).swap([change(null, "x", { name: b })]);
    expect(await tipOf(store, b)).not.toBeNull();
  });

  test.each([
    [7, 403, 7000],
    ["", 403, 60_000],
    [null, 403, 60_000],
    [7, 200, 7000],
    [null, 200, 60_000],
  ] as const)(
    "a secondary limit with retry-after %j and status %i is waited out",
    async (retryAfter, status, wait) => {
      const one = await first();
      place.github.behaviour.secondaryLimitStatusGraphql = status;
      place.github.faults.next(
        { operation: "createCommitOnBranch" },
        { kind: "secondary-limit", retryAfter },
      );
      await put(change(one.oid, "two"));
      expect(place.slept).toEqual([wait]);
      expect(place.warned).toHaveLength(1);
      place.github.faults.next({ kind: "graphql" }, { kind: "secondary-limit", retryAfter: 61 });
      await expect(store.read([a])).rejects.toMatchObject({ name: "StoreUnavailable" });
    },
  );

  test("waits of one call add up", async () => {
    await first();
    place.github.faults.next({ kind: "graphql" }, { kind: "secondary-limit", retryAfter: 25 }, { times: 5 });
    await expect(store.read([a])).rejects.toMatchObject({ name: "StoreUnavailable" });
    expect(place.slept).toEqual([25_000, 25_000]);
    expect(place.warned).toHaveLength(1);
  });

  test("a read is repeated after faults, and unavailable after three", async () => {
    const one = await first();
    place.github.faults.next(
      { kind: "graphql" },
      { kind: "status", status: 504, when: "before" },
      { times: 2 },
    );
    expect((await store.read([a])).records).toEqual([one]);
    place.github.faults.next({ kind: "graphql" }, { kind: "graphql-error", when: "before" }, { times: 3 });
    await expect(store.read([a])).rejects.toMatchObject({ name: "StoreUnavailable" });
    expect(place.github.faults.pending).toBe(0);
  });

  test("a signal ends a request that hangs, with its reason", async () => {
    const one = await first();
    const held = place.github.faults.hold({ operation: "createCommitOnBranch" });
    const stop = new AbortController();
    const swap = store.swap([change(one.oid, "two")], { signal: stop.signal });
    await held.reached;
    stop.abort(new Error("enough"));
    await expect(swap).rejects.toThrow("enough");
    held.release();
    // The local GitHub goes on with what it has received.
    await vi.waitFor(() => expect(place.github.requests.at(-1)?.status).toBe(200));
    await expect(store.unchanged?.(one, { signal: stop.signal })).rejects.toThrow("enough");
  });

  test("an unchanged record is confirmed free of charge", async () => {
    const one = await first();
    expect(await store.unchanged?.(one)).toBe(true);
    place.github.resetCounts();
    expect(await store.unchanged?.(one)).toBe(true);
    expect(place.github.counts()).toMatchObject({ rest: 1, counted: 0 });
    const [two] = await put(change(one.oid, "two"));
    expect(await store.unchanged?.(one)).toBe(false);
    expect(await store.unchanged?.(one)).toBe(false);
    expect(await store.unchanged?.({ name: a, oid: two?.oid ?? "" })).toBe(true);
    expect(await store.unchanged?.({ name: b, oid: one.oid })).toBe(false);
  });

  test("a list and a history go on past a page of a hundred", async () => {
    const one = await first();
    for (let i = 0; i < 105; i++)
      await place.github.repository().force(`refs/heads/fencepost/draft/d${i}`, one.oid);
    const names: string[] = [];
    for await (const seen of store.list("draft/d")) names.push(seen.name);
    expect(new Set(names).size).toBe(105);
    expect(place.requests()).toEqual(["query", "query"]);
    const { objects } = place.github.repository();
    const who = place.github.repository().identity("x", "x@y.z");
    const tree = (await place.github.log(refA))[0]?.tree ?? "";
    let tip = one.oid;
    for (let i = 0; i < 104; i++)
      tip = await objects.writeCommit({
        tree,
        parents: [tip],
        author: who,
        committer: who,
        message: `m${i}\n`,
      });
    await place.github.repository().force(refA, tip);
    const chain = await store.history(a, 103);
    expect(chain).toHaveLength(103);
    expect((await store.history(a, 500)).at(-1)?.oid).toBe(one.oid);
    expect(await store.history(recordName("lease", "none"), 5)).toEqual([]);
  });
});

test("GitHub Enterprise Server is found at its own addresses", async () => {
  const place = await githubPlace({ server: "ghes" });
  const store = place.store();
  const made = await store.swap([{ name: a, expected: null, next: { message: "one\n" } }]);
  const expected = made.outcome === "applied" ? (made.written[0]?.oid ?? "") : "";
  expect((await store.swap([{ name: a, expected, next: { message: "two\n" } }])).outcome).toBe("applied");
  expect((await tipOf(store, a))?.message).toBe("two");
  await place.dispose();
  expect(place.github.violations).toEqual([]);
});
