// What to do when the branch moved under a holder that still holds: rebase, or regenerate, in a worktree of ours.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PrivateRepository, removeFolder } from "../git/private.js";
import type { ConfigEntry } from "../git/program.js";
import { lastWords } from "../git/program.js";
import { destination } from "../git/remote.js";
import type { Oid } from "../protocol/record.js";
import type { FurtherRef, PushRequest } from "./push.js";

export type OnMoved =
  | { how: "fail" }
  | { how: "rebase" }
  /** Runs the user's command in a checkout of the new tip; what it commits there is pushed. Resolves to its exit code. */
  | {
      how: "regenerate";
      command: (folder: string, config: readonly ConfigEntry[], signal?: AbortSignal) => Promise<number>;
    };

/** The commit to push instead of `head` now that the branch is at `tip`, or why there is none. */
export async function replay(
  repository: PrivateRepository,
  request: PushRequest,
  head: Oid,
  tip: Oid,
): Promise<{ head: Oid } | { why: string }> {
  const tagged = await leftBehind(repository, request.further, head, tip);
  if (tagged)
    return { why: `${request.branch} moved, and ${tagged} names a commit that would have to be replaced` };
  const missing = await bringTip(repository, request.branch, head, tip);
  if (missing) return { why: missing };
  const folder = await mkdtemp(join(tmpdir(), "fencepost-worktree-"));
  try {
    const start = request.onMoved.how === "rebase" ? head : tip;
    await repository.output(["worktree", "add", "--quiet", "--force", "--detach", folder, start], {
      env: still,
    });
    return request.onMoved.how === "rebase"
      ? await rebase(repository, request, folder, head, tip)
      : await regenerate(repository, request, folder, tip);
  } finally {
    await removeFolder(folder);
    await repository.run(["worktree", "prune"]).catch(() => {});
  }
}

/** No editor, and no download of large files for a checkout that nobody reads. */
const still = { GIT_EDITOR: ":", GIT_SEQUENCE_EDITOR: ":", GIT_LFS_SKIP_SMUDGE: "1" };

/** A further ref that names a commit which only `head` has, and which a rebase would leave behind. */
async function leftBehind(
  repository: PrivateRepository,
  further: readonly FurtherRef[],
  head: Oid,
  tip: Oid,
) {
  for (const { ref, oid } of further) {
    const within = async (commit: Oid) =>
      (await repository.run(["merge-base", "--is-ancestor", `${oid}^{commit}`, commit])).code === 0;
    if ((await within(head)) && !(await within(tip))) return ref;
  }
  return undefined;
}

/**
 * Fetches the new tip, without `--depth`: with it a shallow clone finds no merge base, and a rebase would replay the
 * whole grafted history. Null, or why the two have nothing in common.
 */
async function bringTip(
  repository: PrivateRepository,
  branch: string,
  head: Oid,
  tip: Oid,
): Promise<string | null> {
  await repository.output(["update-ref", "refs/fencepost/head", head]);
  const flags = ["--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];
  for (const depth of [[], ["--unshallow"]]) {
    const spec = `+${branch}:refs/fencepost/branch`;
    const fetched = await repository.run(["fetch", ...flags, ...depth, destination, spec]);
    if (fetched.code !== 0 && depth.length === 0)
      return `the new ${branch} could not be fetched: ${lastWords(fetched.stderr)}`;
    if ((await repository.run(["merge-base", head, tip])).code === 0) return null;
  }
  return `${branch} was replaced by a history that has nothing in common with these commits`;
}

async function rebase(
  repository: PrivateRepository,
  request: PushRequest,
  folder: string,
  head: Oid,
  tip: Oid,
): Promise<{ head: Oid } | { why: string }> {
  // The committer stays who it was; the machine may have no identity of its own.
  const [name = "", email = ""] = (
    await repository.output(["show", "--no-patch", "--format=%cn%x00%ce", head, "--"])
  ).split("\0");
  const env = { ...still, GIT_COMMITTER_NAME: name.trim(), GIT_COMMITTER_EMAIL: email.trim() };
  const reply = await repository.run(["rebase", "--quiet", "--rebase-merges", tip], { cwd: folder, env });
  if (reply.code === 0)
    return { head: (await repository.output(["rev-parse", "HEAD"], { cwd: folder })).trim() };
  const conflicts = await repository.run(["diff", "--name-only", "--diff-filter=U", "-z"], { cwd: folder });
  const paths = conflicts.stdout.toString("utf8").split("\0").filter(Boolean);
  const where =
    paths.length > 0
      ? `conflicts in ${paths.slice(0, 5).join(", ")}${paths.length > 5 ? ", …" : ""}`
      : lastWords(reply.stderr);
  return { why: `${request.branch} moved, and the rebase on ${tip.slice(0, 10)} failed: ${where}` };
}

async function regenerate(
  repository: PrivateRepository,
  request: PushRequest,
  folder: string,
  tip: Oid,
): Promise<{ head: Oid } | { why: string }> {
  if (request.onMoved.how !== "regenerate") throw new Error("regenerate was not asked for");
  const identity = request.clone.config.filter(([key]) => /^user\.(name|email)$/.test(key));
  const code = await request.onMoved.command(folder, identity, request.signal);
  request.signal?.throwIfAborted();
  if (code !== 0)
    return { why: `${request.branch} moved, and the command failed on the new tip (exit ${code})` };
  const head = (await repository.output(["rev-parse", "HEAD"], { cwd: folder })).trim();
  const onTop = await repository.run(["merge-base", "--is-ancestor", tip, head], { cwd: folder });
  if (onTop.code !== 0)
    return { why: `the command left ${head.slice(0, 10)}, which is not on top of the new ${request.branch}` };
  return { head };
}
