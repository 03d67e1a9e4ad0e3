// The store on a git server: the contract, and what only a server can do wrong.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findRemote, type Remote } from "../../src/git/remote.js";
import { readLease } from "../../src/protocol/lease.js";
import { type RecordName, recordName, refOf } from "../../src/protocol/names.js";
import type { Store } from "../../src/store/store.js";
import { type Place, storeContract } from "./contract.js";
import { type GitPlace, gitPlace } from "./git-place.js";

storeContract("the git store", async (): Promise<Place> => {
  const place = gitPlace();
  const remote = await findRemote(place.origin, null, place.folder);
  return { store: () => place.store(remote), contentAddressed: true, dispose: place.dispose };
});

const a = recordName("lease", "a");
const ref = refOf("fencepost", a);

/** Ends the server's git, in place of its answer, at the first push that gets there. */
const once = (act: string) => `if mkdir "$FOLDER/struck" 2>/dev/null; then ${act}; fi`;
const dieAsServer = "kill -9 $PPID; sleep 0.1; exit 1";

describe("a git server", () => {
  let place: GitPlace;
  let remote: Remote;
  let store: Store;
  beforeEach(async () => {
    place = gitPlace();
    remote = await findRemote(place.origin, null, place.folder);
    store = place.store(remote);
  });
  afterEach(() => place.dispose());

  const put = (expected: string | null, message: string, name: RecordName = a) =>
    store.swap([{ name, expected, next: { message } }]);
  const messages = async () => (await store.history(a, 9)).map((each) => each.message);

  /** Writes down every commit that a push asks for, before anything is decided. */
  const recordPushes = (then = "") =>
    place.hook("pre-receive", `while read -r old new name; do echo "$new" >> "$FOLDER/asked"; done\n${then}`);

  test("that applied a write and died before it said so has applied it, once", async () => {
    recordPushes();
    place.hook("reference-transaction", `if [ "$1" = committed ]; then ${once(dieAsServer)}; fi`);
    const result = await put(null, "one\n");
    expect(place.lines("asked")).toEqual([place.tip(ref)]);
    expect(result).toMatchObject({ outcome: "applied", written: [{ oid: place.tip(ref) }] });
    expect(await messages()).toEqual(["one\n"]);
  });

  test("that died before it applied a write is sent the very same commit again", async () => {
    recordPushes(once(dieAsServer));
    const result = await put(null, "one\n");
    const tip = place.tip(ref);
    expect(place.lines("asked")).toEqual([tip, tip]);
    expect(result).toMatchObject({ outcome: "applied", written: [{ oid: tip }] });
    expect(await messages()).toEqual(["one\n"]);
  });

  test("that died while somebody else got on has refused: a conflict, and no second commit", async () => {
    const tree = place.git(place.origin, "mktree");
    const identity = ["-c", "user.name=x", "-c", "user.email=x"];
    const theirs = place.git(place.origin, ...identity, "commit-tree", "-m", "rival", tree);
    const overtake = `unset GIT_QUARANTINE_PATH; git update-ref ${ref} ${theirs}; ${dieAsServer}`;
    recordPushes(once(overtake));
    expect(await put(null, "one\n")).toEqual({ outcome: "conflict" });
    expect(place.tip(ref)).toBe(theirs);
    expect(place.lines("asked")).toHaveLength(1);
  });

  test("that dies at every push is unavailable, after a few sends of one commit", async () => {
    recordPushes(dieAsServer);
    await expect(put(null, "one\n")).rejects.toMatchObject({ name: "StoreUnavailable" });
    const asked = place.lines("asked");
    expect(asked.length).toBeGreaterThan(1);
    expect(new Set(asked).size).toBe(1);
    expect(place.tip(ref)).toBe("");
  });

  test("whose hook declines has refused, in the words of the hook", async () => {
    recordPushes("echo 'Records are frozen until Monday.' >&2; exit 1");
    const refused = await put(null, "one\n").catch((error) => error);
    expect(refused).toMatchObject({ name: "StoreRefused" });
    expect(place.lines("asked")).toHaveLength(1);
    expect(refused.message).toContain("Records are frozen until Monday.");
  });

  /** The push goes through, or does not, and git answers like this. */
  const answer = (then: string) => {
    const program = place.script(
      "bin/git",
      `PATH=\${PATH#*:}; case " $* " in *" push "*) ${then};; *) exec git "$@";; esac`,
    );
    process.env.PATH = `${program.replace(/\/git$/, "")}:${process.env.PATH}`;
  };
  const declined = `printf '!\\t%s\\t[remote rejected] (hook declined)\\n' HEAD:${ref}; exit 1`;

  test("that said no to a write which it made has made it", async () => {
    answer(`git "$@" > /dev/null 2>&1; ${declined}`);
    const result = await put(null, "one\n");
    expect(result).toMatchObject({ outcome: "applied", written: [{ oid: place.tip(ref) }] });
  });

  test("that said no while somebody else got on: a conflict", async () => {
    await put(null, "one\n");
    const held = place.tip(ref);
    const theirs = (await place
      .store(remote)
      .swap([{ name: a, expected: held, next: { message: "two\n" } }])) as {
      written: { oid: string }[];
    };
    place.git(place.origin, "update-ref", ref, held);
    answer(`git -C ${place.origin} update-ref ${ref} ${theirs.written[0]?.oid}; ${declined}`);
    expect(await put(held, "three\n")).toEqual({ outcome: "conflict" });
  });

  test("that said no, and cannot be read again, is unavailable: nobody knows", async () => {
    const program = place.script(
      "bin/git",
      `PATH=\${PATH#*:}; case " $* " in *" push "*) ${declined};; *ls-remote*) echo 'fatal: early EOF' >&2; exit 128;; *) exec git "$@";; esac`,
    );
    process.env.PATH = `${program.replace(/\/git$/, "")}:${process.env.PATH}`;
    await expect(put(null, "one\n")).rejects.toMatchObject({ name: "StoreUnavailable" });
  });

  test("where nothing is there is no refusal, whatever a program on the way remarks", async () => {
    const program = place.script(
      "pack",
      'echo "fatal: not authorized to keep notes" >&2; exec git-upload-pack "$@"',
    );
    const noted: Remote = {
      ...remote,
      config: [...remote.config, ["remote.destination.uploadpack", program]],
    };
    expect((await place.store(noted).read([a])).records).toEqual([null]);
  });

  test("whose hook declines one record of two has moved neither", async () => {
    place.hook("update", `case "$1" in */draft/*) exit 1;; esac`);
    const changes = [a, recordName("draft", "a")].map((name) => ({
      name,
      expected: null,
      next: { message: "one\n" },
    }));
    await expect(store.swap(changes)).rejects.toMatchObject({ name: "StoreRefused" });
    expect(place.tip("refs/heads/")).toBe("");
  });

  test("that is not there is a mistake in the set-up, for reads and for writes", async () => {
    const lost = place.store({
      ...remote,
      config: remote.config.map(([key, value]) => [key, `${value}-not`] as const),
    });
    await expect(lost.read([a])).rejects.toMatchObject({ name: "StoreMisconfigured" });
    await expect(lost.swap([{ name: a, expected: null, next: { message: "one\n" } }])).rejects.toMatchObject({
      name: "StoreMisconfigured",
    });
  });

  test("without atomic pushes is a mistake in the set-up, and is sent nothing", async () => {
    recordPushes();
    place.git(place.origin, "config", "receive.advertiseAtomic", "false");
    await expect(put(null, "one\n")).rejects.toMatchObject({ name: "StoreMisconfigured" });
    expect(place.lines("asked")).toEqual([]);
    expect(place.tip("refs/heads/")).toBe("");
  });

  test("where somebody overwrote a record gives it raw, and the lease is never free", async () => {
    await put(null, "one\n");
    const clone = `${place.folder}/clone`;
    place.git(place.folder, "clone", "--quiet", place.origin, clone);
    const identity = ["-c", "user.name=x", "-c", "user.email=x"];
    place.git(clone, ...identity, "commit", "--quiet", "--allow-empty", "-m", "by hand");
    place.git(clone, "push", "--quiet", "--force", "origin", `HEAD:${ref}`);
    const seen = (await store.read([a])).records[0] ?? null;
    expect(seen).toMatchObject({ name: a, oid: place.tip(ref), message: "by hand\n" });
    expect(() => readLease(seen)).toThrow(expect.objectContaining({ name: "RecordInvalid" }));
  });

  test("is reached through the settings of the remote, which reach nothing else", async () => {
    const program = place.script("receive", 'echo "$1" >> "$FOLDER/received"; exec git-receive-pack "$@"');
    const wrapped: Remote = {
      ...remote,
      config: [...remote.config, ["remote.destination.receivepack", program]],
    };
    await place.store(wrapped).swap([{ name: a, expected: null, next: { message: "one\n" } }]);
    expect(place.lines("received")).toEqual([place.origin]);
    await place.store(remote).swap([{ name: a, expected: place.tip(ref), next: { message: "two\n" } }]);
    expect(place.lines("received")).toHaveLength(1);
  });

  test("that hangs is left as soon as the caller aborts, and nothing was written", async () => {
    recordPushes("sleep 6; exit 1");
    const started = performance.now();
    const late = AbortSignal.timeout(700);
    const write = store.swap([{ name: a, expected: null, next: { message: "one\n" } }], { signal: late });
    await expect(write).rejects.toMatchObject({ name: "TimeoutError" });
    expect(performance.now() - started).toBeLessThan(3000);
    expect(place.tip(ref)).toBe("");
  });

  test("is not even asked when the caller has aborted before", async () => {
    recordPushes();
    const signal = AbortSignal.abort();
    await expect(store.read([a], { signal })).rejects.toMatchObject({ name: "AbortError" });
    await expect(
      store.swap([{ name: a, expected: null, next: { message: "one\n" } }], { signal }),
    ).rejects.toMatchObject({ name: "AbortError" });
    expect(place.lines("asked")).toEqual([]);
  });

  test("that lost a removal's reply has removed it, once", async () => {
    const written = await put(null, "one\n");
    const oid = written.outcome === "applied" ? (written.written[0]?.oid ?? null) : null;
    place.hook("reference-transaction", `if [ "$1" = committed ]; then ${once(dieAsServer)}; fi`);
    expect(await store.swap([{ name: a, expected: oid, next: null }])).toMatchObject({ outcome: "applied" });
    expect(place.tip(ref)).toBe("");
  });

  test("which takes no rewound branches still takes every record but a new root", async () => {
    place.git(place.origin, "config", "receive.denyNonFastForwards", "true");
    place.git(place.origin, "config", "receive.denyDeletes", "true");
    await put(null, "one\n");
    expect(await put(place.tip(ref), "two\n")).toMatchObject({ outcome: "applied" });
    const root = { name: a, expected: place.tip(ref), next: { message: "three\n", root: true } };
    await expect(store.swap([root])).rejects.toMatchObject({ name: "StoreRefused" });
    expect(await messages()).toEqual(["two\n", "one\n"]);
  });
});

describe("settings of the user", () => {
  let place: GitPlace;
  beforeEach(() => {
    place = gitPlace();
  });
  afterEach(() => place.dispose());

  test.each([
    ["safe.bareRepository", "[safe]\n\tbareRepository = explicit\n"],
    ["push.pushOption", "[push]\n\tpushOption = ci.skip\n"],
    ["commit signing", "[commit]\n\tgpgSign = true\n[push]\n\tgpgSign = true\n[gpg]\n\tprogram = false\n"],
    [
      "pruning and mirrors",
      "[fetch]\n\tprune = true\n\tpruneTags = true\n\tall = true\n[push]\n\tfollowTags = true\n",
    ],
    ["another commit encoding", "[i18n]\n\tcommitEncoding = ISO-8859-1\n"],
  ])("that other git programs heed (%s) do not change what a store does", async (_, settings) => {
    place.settings(settings);
    const store = place.store(await findRemote(place.origin, null, place.folder));
    const result = await store.swap([{ name: a, expected: null, next: { message: "ærø\n" } }]);
    expect(result.outcome).toBe("applied");
    expect((await store.read([a])).records[0]?.message).toBe("ærø\n");
  });
});

describe("a closed store", () => {
  let place: GitPlace;
  beforeEach(() => {
    place = gitPlace();
  });
  afterEach(() => place.dispose());

  test("leaves no folder and no process behind", async () => {
    const store = place.store(await findRemote(place.origin, null, place.folder));
    await store.swap([{ name: a, expected: null, next: { message: "one\n" } }]);
    await store.read([a]);
    expect(place.temporary()).toHaveLength(1);
    await store.close();
    expect(place.temporary()).toEqual([]);
    expect(place.processes()).toEqual([]);
  });

  test("leaves nothing behind after a call that was cut off", async () => {
    place.hook("pre-receive", "sleep 3; exit 1");
    const store = place.store(await findRemote(place.origin, null, place.folder));
    const signal = AbortSignal.timeout(700);
    await store.swap([{ name: a, expected: null, next: { message: "one\n" } }], { signal }).catch(() => {});
    await store.close();
    expect(place.temporary()).toEqual([]);
    expect(place.processes()).toEqual([]);
  });

  test("that was never used leaves nothing behind either", async () => {
    const store = place.store(await findRemote(place.origin, null, place.folder));
    await store.close();
    expect(place.temporary()).toEqual([]);
  });

  test("a store whose first call found no room for its folder works once there is some", async () => {
    const store = place.store(await findRemote(place.origin, null, place.folder));
    const temp = process.env.TMPDIR;
    process.env.TMPDIR = `${place.folder}/absent`;
    await expect(store.read([a])).rejects.toThrow(/ENOENT/);
    process.env.TMPDIR = temp;
    expect((await store.read([a])).records).toEqual([null]);
  });
});
