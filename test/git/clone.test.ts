// Clones of every kind are found with their folders and settings, and not touched.
import { mkdirSync, realpathSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  anchorUrl,
  exists,
  findClone,
  isPath,
  parseConfig,
  readConfig,
  remoteSettings,
} from "../../src/git/clone.js";
import { type GitPlace, gitPlace } from "../store/git-place.js";

let place: GitPlace;
beforeEach(() => {
  place = gitPlace();
  const source = `${place.folder}/source`;
  const identity = ["-c", "user.name=x", "-c", "user.email=x"];
  place.git(place.folder, "init", "--quiet", "--initial-branch=main", source);
  for (const message of ["one", "two"])
    place.git(source, ...identity, "commit", "--quiet", "--allow-empty", "-m", message);
  place.git(source, "push", "--quiet", place.origin, "main");
});
afterEach(() => place.dispose());

function clone(name: string, ...args: string[]): string {
  place.git(place.folder, "clone", "--quiet", ...args, `file://${place.origin}`, name);
  return `${place.folder}/${name}`;
}

describe("a clone is found", () => {
  test("from its top and from any folder in it", async () => {
    const top = clone("full");
    mkdirSync(`${top}/a/b`, { recursive: true });
    for (const folder of [top, `${top}/a/b`]) {
      const found = await findClone(folder);
      expect(found).toMatchObject({ top, objects: `${top}/.git/objects`, objectFormat: "sha1" });
      expect(await exists(found?.shallow ?? "")).toBe(false);
    }
  });

  test("when it is bare", async () => {
    expect(await findClone(place.origin)).toMatchObject({
      top: place.origin,
      objects: `${place.origin}/objects`,
    });
  });

  test("when it is shallow, with the file that says where it ends", async () => {
    const found = await findClone(clone("shallow", "--depth=1"));
    expect(await exists(found?.shallow ?? "")).toBe(true);
    expect(found?.objects).toBe(`${place.folder}/shallow/.git/objects`);
  });

  test("when it is a linked worktree: its own top, and the objects of the main one", async () => {
    const main = clone("full");
    place.git(main, "worktree", "add", "--quiet", "--detach", "../linked");
    expect(await findClone(`${place.folder}/linked`)).toMatchObject({
      top: `${place.folder}/linked`,
      objects: `${main}/.git/objects`,
    });
  });

  test("when a worktree of a shallow clone: the boundary is that of the main one", async () => {
    const main = clone("shallow", "--depth=1");
    place.git(main, "worktree", "add", "--quiet", "--detach", "../linked");
    const found = await findClone(`${place.folder}/linked`);
    expect(realpathSync(found?.shallow ?? "")).toBe(`${main}/.git/shallow`);
  });

  test("in a folder with spaces and letters beyond ASCII", async () => {
    const top = clone("mit Leerzeichen æ ブログ 'x'");
    expect(await findClone(top)).toMatchObject({ top, objects: `${top}/.git/objects` });
  });

  test("with its object format", async () => {
    place.git(place.folder, "init", "--quiet", "--object-format=sha256", "other");
    expect((await findClone(`${place.folder}/other`))?.objectFormat).toBe("sha256");
  });

  test("where the folder lies, not where the environment points", async () => {
    const top = clone("full");
    process.env.GIT_DIR = place.origin;
    expect(await findClone(top)).toMatchObject({ top });
  });

  test("nowhere outside of one", async () => {
    expect(await findClone(place.folder)).toBeNull();
  });

  test("without a change to it", async () => {
    const top = clone("full");
    const files = () => place.git(top, "ls-files", "--others", "--cached", "-z");
    const refs = () => place.git(top, "for-each-ref");
    const before = [files(), refs(), place.lines("full/.git/config")];
    await findClone(top);
    expect([files(), refs(), place.lines("full/.git/config")]).toEqual(before);
  });
});

describe("settings", () => {
  test("are read from everywhere that git reads, in order, includes and all", async () => {
    const top = clone("full");
    place.settings(`[x]\n\tkey = global\n[includeIf "gitdir:${top}/"]\n\tpath = extra\n`);
    place.git(place.folder, "config", "--file", "home/extra", "x.key", "included");
    place.git(top, "config", "x.key", "local");
    const values = (await readConfig(top)).filter(([key]) => key === "x.key").map(([, value]) => value);
    expect(values).toEqual(["global", "included", "local"]);
  });

  test("keep line ends, equal signs and empty values, and a bare key is true", () => {
    expect(parseConfig("a.b\none\ntwo=2\0a.c\n\0a.d\0")).toEqual([
      ["a.b", "one\ntwo=2"],
      ["a.c", ""],
      ["a.d", "true"],
    ]);
    expect(parseConfig("")).toEqual([]);
  });

  test("of a remote are those of that very name", () => {
    const config = [
      ["remote.origin.url", "a"],
      ["remote.origin.two.url", "b"],
      ["remote.originality.url", "c"],
      ["remote.origin.fetch", "d"],
    ] as const;
    expect(remoteSettings(config, "origin.two")).toEqual([["url", "b"]]);
    expect(remoteSettings(config, "originality")).toEqual([["url", "c"]]);
    expect(remoteSettings(config, "origin").filter(([key]) => key === "url")).toEqual([["url", "a"]]);
  });
});

describe("a URL", () => {
  test.each(["../origin.git", "./x", "x/y", "/srv/x.git", "a b/æ", "c:/x"])("that is a path: %s", (url) => {
    expect(isPath(url)).toBe(true);
  });

  test.each(["https://h/x", "ssh://h/x", "file:///x", "git@h:o/r", "host:x", "ext::sh -c x", "gh:o/r"])(
    "that is none: %s",
    (url) => {
      expect(isPath(url)).toBe(false);
      expect(anchorUrl(url, "/top")).toBe(url);
    },
  );

  test("that is a relative path is read from the top of the clone", () => {
    expect(anchorUrl("../origin.git", "/a/b")).toBe("/a/origin.git");
    expect(anchorUrl("/srv/x.git", "/a/b")).toBe("/srv/x.git");
  });
});
