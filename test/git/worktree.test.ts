// A checkout of our own goes away again, and what cannot be removed is no failure of the work.
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { privateRepository } from "../../src/git/private.js";
import { findRemote } from "../../src/git/remote.js";
import { checkOut } from "../../src/git/worktree.js";
import { type GitPlace, gitPlace } from "../store/git-place.js";

let place: GitPlace;
beforeEach(() => {
  place = gitPlace();
  const clone = `${place.folder}/clone`;
  place.git(place.folder, "clone", "--quiet", place.origin, clone);
  const identity = ["-c", "user.name=x", "-c", "user.email=x"];
  place.git(clone, ...identity, "commit", "--quiet", "--allow-empty", "-m", "one");
  place.git(clone, "push", "--quiet", "origin", "HEAD:main");
});
afterEach(() => place.dispose());

async function checkedOut() {
  const repository = await privateRepository(await findRemote(place.origin, null, place.folder), null);
  return {
    repository,
    checkout: await checkOut(repository, "refs/heads/main", place.tip("refs/heads/main"), []),
  };
}

test("a checkout is removed, and so is its repository", async () => {
  const { repository, checkout } = await checkedOut();
  expect(existsSync(checkout.folder)).toBe(true);
  await checkout.remove();
  await repository.remove();
  expect(place.temporary()).toEqual([]);
});

test("neither complains when the folder for temporary files is gone", async () => {
  const { repository, checkout } = await checkedOut();
  renameSync(`${place.folder}/temp`, `${place.folder}/away`);
  writeFileSync(`${place.folder}/temp`, "");
  await expect(checkout.remove()).resolves.toBeUndefined();
  await expect(repository.remove()).resolves.toBeUndefined();
});
