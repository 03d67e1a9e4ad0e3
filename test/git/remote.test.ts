// A remote is reached from a private repository exactly as it is from the clone that knows it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findClone } from "../../src/git/clone.js";
import { type PrivateRepository, privateRepository } from "../../src/git/private.js";
import { findRemote } from "../../src/git/remote.js";
import { type GitPlace, gitPlace } from "../store/git-place.js";

let place: GitPlace;
let clone: string;
const opened: PrivateRepository[] = [];
beforeEach(() => {
  place = gitPlace();
  clone = `${place.folder}/clone`;
  place.git(place.folder, "clone", "--quiet", place.origin, clone);
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.remove();
  await place.dispose();
});

async function open(name = "origin", folder = clone): Promise<PrivateRepository> {
  const found = await findClone(folder);
  const repository = await privateRepository(await findRemote(name, found, folder), found);
  opened.push(repository);
  return repository;
}

/** All values of a setting, as git in the private repository sees them. */
async function seen(repository: PrivateRepository, key: string): Promise<string[]> {
  const reply = await repository.run(["config", "--get-all", "-z", key]);
  return reply.stdout.toString("utf8").split("\0").slice(0, -1);
}

/** The values that count: an empty one resets the list. */
const effective = (values: string[]) => values.slice(values.lastIndexOf("") + 1);

describe("settings with several values", () => {
  const header = "http.https://github.com/.extraheader";

  test("of the clone are passed on", async () => {
    place.git(clone, "config", "--add", header, "A: 1");
    place.git(clone, "config", "--add", header, "B: 2");
    expect(await seen(await open(), header)).toEqual(["A: 1", "B: 2"]);
  });

  test("of the user are not doubled", async () => {
    place.settings(`[http "https://github.com/"]\n\textraheader = A: 1\n\textraheader = B: 2\n`);
    expect(await seen(await open(), header)).toEqual(["A: 1", "B: 2"]);
  });

  test("of the user and of the clone come once each, in order", async () => {
    place.settings(`[http "https://github.com/"]\n\textraheader = A: 1\n`);
    place.git(clone, "config", "--add", header, "B: 2");
    expect(await seen(await open(), header)).toEqual(["A: 1", "B: 2"]);
  });

  test("that come by environment after the clone's keep their order and are not doubled", async () => {
    place.git(clone, "config", "--add", header, "A: 1");
    Object.assign(process.env, {
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: header,
      GIT_CONFIG_VALUE_0: "B: 2",
    });
    expect(effective(await seen(await open(), header))).toEqual(["A: 1", "B: 2"]);
  });

  test("that rewrite URLs rewrite the same ones, also beside one from the environment", async () => {
    place.git(clone, "config", "url.https://mirror.invalid/.insteadOf", "mirror:");
    Object.assign(process.env, {
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "url.https://mirror.invalid/.insteadOf",
      GIT_CONFIG_VALUE_0: "m2:",
    });
    const repository = await open();
    const reply = await repository.run(["ls-remote", "--get-url", "destination"]);
    expect(reply.stdout.toString("utf8").trim()).toBe(place.origin);
  });
});

test("settings that only the clone's folder turns on are passed on", async () => {
  place.settings(`[includeIf "gitdir:${clone}/"]\n\tpath = work\n`);
  place.git(place.folder, "config", "--file", "home/work", "core.sshCommand", "ssh -i work");
  place.git(place.folder, "config", "--file", "home/work", "credential.helper", "store");
  const repository = await open();
  expect(await seen(repository, "core.sshCommand")).toEqual(["ssh -i work"]);
  expect(await seen(repository, "credential.helper")).toEqual(["store"]);
});

test("settings that do not help to reach a remote stay behind", async () => {
  place.git(clone, "config", "core.editor", "vi");
  place.git(clone, "config", "alias.push", "!false");
  place.git(clone, "config", "remote.origin.mirror", "true");
  const repository = await open();
  for (const key of ["core.editor", "alias.push", "remote.destination.mirror", "remote.destination.fetch"])
    expect(await seen(repository, key)).toEqual([]);
});

test("a secret of the clone stands in no file of the private repository", async () => {
  place.git(clone, "config", "remote.origin.url", "https://user:secret@git.invalid/x");
  place.git(clone, "config", "http.extraheader", "Authorization: secret");
  const repository = await open();
  const files = readdirSync(repository.folder, { recursive: true, withFileTypes: true });
  const texts = files
    .filter((file) => file.isFile())
    .map((file) => readFileSync(join(file.parentPath, file.name), "utf8"));
  expect(texts.length).toBeGreaterThan(1);
  expect(texts.filter((text) => text.includes("secret"))).toEqual([]);
  expect(await seen(repository, "http.extraheader")).toEqual(["Authorization: secret"]);
});

describe("a remote is named", () => {
  test("by a remote of the clone, whose relative URL is read from the clone's top", async () => {
    place.git(clone, "config", "remote.origin.url", "../origin.git");
    const repository = await open();
    expect(await seen(repository, "remote.destination.url")).toEqual([place.origin]);
    expect((await repository.run(["ls-remote", "destination"])).code).toBe(0);
  });

  test("by a remote with a push URL of its own", async () => {
    place.git(clone, "config", "remote.origin.pushurl", "../elsewhere.git");
    expect(await seen(await open(), "remote.destination.pushurl")).toEqual([`${place.folder}/elsewhere.git`]);
  });

  test("by a remote with two URLs, of which git reads the first", async () => {
    place.git(clone, "remote", "set-url", "--add", "origin", `${place.folder}/second.git`);
    const repository = await open();
    const reads = await repository.run(["ls-remote", "--get-url", "destination"]);
    expect(reads.stdout.toString("utf8").trim()).toBe(place.git(clone, "ls-remote", "--get-url", "origin"));
  });

  test("by a path, relative to the folder, with spaces and all", async () => {
    place.git(place.folder, "init", "--quiet", "--bare", "a b æ.git");
    const remote = await findRemote("a b æ.git", null, place.folder);
    expect(remote.label).toBe(`${place.folder}/a b æ.git`);
  });

  test("by a URL, whose credentials nobody is shown", async () => {
    const remote = await findRemote("https://user:secret@git.invalid/x", null, place.folder);
    expect(remote.label).toBe("https://git.invalid/x");
    expect(remote.config).toContainEqual(["remote.destination.url", "https://user:secret@git.invalid/x"]);
  });

  test.each(["", "absent", "../absent.git"])("in vain as %j", async (name) => {
    await expect(findRemote(name, await findClone(clone), clone)).rejects.toMatchObject({
      name: "RemoteUnknown",
    });
  });
});

test("a private repository is gone when it could not be made", async () => {
  const remote = await findRemote(place.origin, null, place.folder);
  await expect(privateRepository(remote, null, "md5")).rejects.toMatchObject({ name: "GitFailed" });
  expect(place.temporary()).toEqual([]);
});
