// A push moves all refs or none, each only from the oid that was said, and its answer is read line by line.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findClone } from "../../src/git/clone.js";
import { type PrivateRepository, privateRepository, remoteTips } from "../../src/git/private.js";
import { parsePorcelain, pushAtomically } from "../../src/git/push.js";
import { findRemote } from "../../src/git/remote.js";
import { type GitPlace, gitPlace } from "../store/git-place.js";

describe("porcelain lines", () => {
  test.each([
    ["*\tabc123:refs/heads/x\t[new branch]", "*", "refs/heads/x", "[new branch]"],
    [" \tabc123:refs/heads/x\tabc..def", " ", "refs/heads/x", "abc..def"],
    ["+\tabc123:refs/heads/x\tabc...def (forced update)", "+", "refs/heads/x", "abc...def (forced update)"],
    ["-\t:refs/heads/x\t[deleted]", "-", "refs/heads/x", "[deleted]"],
    ["=\tabc123:refs/heads/x\t[up to date]", "=", "refs/heads/x", "[up to date]"],
    ["!\tabc123:refs/heads/x\t[rejected] (stale info)", "!", "refs/heads/x", "[rejected] (stale info)"],
    ["!\tabc123:refs/heads/æ=1\t[remote rejected] (x: y)", "!", "refs/heads/æ=1", "[remote rejected] (x: y)"],
    ["!\t(delete):refs/heads/x\t[rejected] (stale info)", "!", "refs/heads/x", "[rejected] (stale info)"],
  ])("say what became of a ref: %j", (line, flag, ref, summary) => {
    expect(parsePorcelain(`To /srv/x.git\n${line}\nDone\n`)).toEqual([{ flag, ref, summary }]);
  });

  test("come among others, which are left out", () => {
    expect(parsePorcelain("To https://h:8080/x\nbranch 'a' set up to track 'b'.\nDone\n\n")).toEqual([]);
    expect(parsePorcelain("")).toEqual([]);
  });
});

describe("a push", () => {
  let place: GitPlace;
  let repository: PrivateRepository;
  let [one, two, three]: string[] = [];
  beforeEach(async () => {
    place = gitPlace();
    const clone = `${place.folder}/clone`;
    place.git(place.folder, "clone", "--quiet", place.origin, clone);
    const identity = ["-c", "user.name=x", "-c", "user.email=x"];
    [one, two, three] = ["one", "two", "three"].map((message) => {
      place.git(clone, ...identity, "commit", "--quiet", "--allow-empty", "-m", message);
      return place.git(clone, "rev-parse", "HEAD");
    });
    const found = await findClone(clone);
    repository = await privateRepository(await findRemote("origin", found, clone), found);
  });
  afterEach(async () => {
    await repository.remove();
    await place.dispose();
  });

  const push = (ref: string, to: string | null | undefined, expected?: string | null) =>
    pushAtomically(repository, [
      { ref: `refs/heads/${ref}`, to: to ?? null, ...(expected === undefined ? {} : { expected }) },
    ]);
  const at = (ref: string) => place.tip(`refs/heads/${ref}`);

  test("creates, moves, rewinds and removes from the oid that was said", async () => {
    expect((await push("x", two, null)).lines).toMatchObject([{ flag: "*" }]);
    expect((await push("x", three, two)).lines).toMatchObject([{ flag: " " }]);
    expect((await push("x", one, three)).lines).toMatchObject([{ flag: "+" }]);
    expect((await push("x", null, one)).lines).toMatchObject([{ flag: "-" }]);
    expect(at("x")).toBe("");
  });

  test("from another oid is stale, also where it would be a fast-forward", async () => {
    await push("x", two, null);
    for (const expected of [one, null]) {
      const { reply, lines } = await push("x", three, expected);
      expect(reply.code).not.toBe(0);
      expect(lines).toMatchObject([{ flag: "!", summary: "[rejected] (stale info)" }]);
    }
    expect(at("x")).toBe(two);
  });

  test("without an oid takes a fast-forward only", async () => {
    await push("x", two, null);
    expect((await push("x", three)).reply.code).toBe(0);
    const back = await push("x", one);
    expect(back.lines).toMatchObject([{ flag: "!" }]);
    expect(at("x")).toBe(three);
  });

  test("of several refs moves none when one is stale, and says why for each", async () => {
    await push("x", one, null);
    const { lines } = await pushAtomically(repository, [
      { ref: "refs/heads/x", to: three ?? "", expected: two ?? "" },
      { ref: "refs/heads/y", to: two ?? "", expected: null },
    ]);
    expect(lines.map((line) => line.flag)).toEqual(["!", "!"]);
    expect([at("x"), at("y")]).toEqual([one, ""]);
  });

  test("runs no hook of the clone's and no hook that the settings name", async () => {
    const hooks = `${place.folder}/hooks`;
    place.script("hooks/pre-push", 'echo ran >> "$FOLDER/hooked"; exit 1');
    place.settings(`[core]\n\thooksPath = ${hooks}\n`);
    expect((await push("x", one, null)).reply.code).toBe(0);
    expect(place.lines("hooked")).toEqual([]);
  });

  test("is followed by a look at exactly the refs that it named", async () => {
    await push("main", one, null);
    await push("x/refs/heads/main", two, null);
    const seen = await remoteTips(repository, ["refs/heads/main", "refs/heads/absent"]);
    expect(seen).toEqual({ tips: new Map([["refs/heads/main", one]]) });
  });
});
