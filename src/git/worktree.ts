// A fresh checkout of a commit, with a repository of its own behind it: nothing that happens there touches a clone.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Oid } from "../protocol/record.js";
import { type Clone, findClone } from "./clone.js";
import { type PrivateRepository, removeFolder } from "./private.js";
import { type ConfigEntry, lastWords } from "./program.js";
import { destination } from "./remote.js";

export interface Checkout {
  folder: string;
  /** The checkout as a clone that a push can go out from. */
  clone: Clone;
  /** Environment by which git in there knows who commits, when `identity` says so. */
  env: Record<string, string>;
  remove(): Promise<void>;
}

/** The branch could not be brought here, or not be checked out. */
export class CheckoutFailed extends Error {
  override name = "CheckoutFailed";
}

/**
 * Checks a commit of a branch out, detached, with its whole history.
 * @param identity the settings of a clone, of which `user.*` is passed on.
 */
export async function checkOut(
  repository: PrivateRepository,
  branch: string,
  commit: Oid,
  identity: readonly ConfigEntry[],
): Promise<Checkout> {
  const shallow = await repository.run(["rev-parse", "--is-shallow-repository"]);
  const whole = shallow.stdout.toString("utf8").trim() === "true" ? ["--unshallow"] : [];
  const flags = ["--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", ...whole];
  const spec = `+${branch}:refs/fencepost/checkout`;
  const fetched = await repository.run(["fetch", ...flags, destination, spec]);
  if (fetched.code !== 0)
    throw new CheckoutFailed(`${branch} could not be fetched: ${lastWords(fetched.stderr)}`);
  const folder = await mkdtemp(join(tmpdir(), "fencepost-draft-"));
  const remove = async () => {
    await removeFolder(folder);
    await repository.run(["worktree", "prune"]).catch(() => {});
  };
  const added = await repository.run(["worktree", "add", "--quiet", "--force", "--detach", folder, commit]);
  const clone = added.code === 0 ? await findClone(folder) : null;
  if (clone === null) {
    await remove();
    throw new CheckoutFailed(`${commit.slice(0, 10)} could not be checked out: ${lastWords(added.stderr)}`);
  }
  const user = identity.filter(([key]) => /^user\.(name|email)$/.test(key));
  const start = Number(process.env.GIT_CONFIG_COUNT ?? 0) || 0;
  const pairs = user.flatMap(([key, value], i) => [
    [`GIT_CONFIG_KEY_${start + i}`, key],
    [`GIT_CONFIG_VALUE_${start + i}`, value],
  ]);
  const count = user.length > 0 ? { GIT_CONFIG_COUNT: String(start + user.length) } : {};
  return {
    folder,
    clone: { ...clone, config: identity },
    env: { ...Object.fromEntries(pairs), ...count },
    remove,
  };
}
