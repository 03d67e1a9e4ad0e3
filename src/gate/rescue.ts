// Keeps the commits of a push that finally failed: on a rescue ref, or, if that is refused too, in a bundle file.
import { join } from "node:path";
import type { PrivateRepository } from "../git/private.js";
import { lastWords } from "../git/program.js";
import { pushAtomically } from "../git/push.js";
import { rescueRef } from "../protocol/names.js";
import type { Oid } from "../protocol/record.js";
import type { PushRequest } from "./push.js";

export type Rescue =
  | { kept: "ref"; ref: string; commit: Oid }
  | { kept: "bundle"; file: string; commit: Oid }
  /** Only the clone has them; says why. */
  | { kept: "clone"; commit: Oid; why: string };

type RescueRequest = Pick<PushRequest, "prefix" | "fences" | "head" | "bundleFolder">;

/** What is kept is always the user's own commit, not a rebased one. `base` is left out of a bundle when it is known. */
export async function rescue(
  repository: PrivateRepository,
  request: RescueRequest,
  base: Oid | null,
): Promise<Rescue> {
  const { head, fences } = request;
  const first = rescueRef(request.prefix, fences[0].name, fences[0].token);
  let problem = "";
  // A second failed push of one token keeps both.
  for (const ref of [first, `${first}-${head.slice(0, 10)}`]) {
    const { reply } = await pushAtomically(repository, [{ ref, to: head, expected: null }]);
    if (reply.code === 0) return { kept: "ref", ref, commit: head };
    problem = lastWords(reply.stderr);
  }
  const file = join(
    request.bundleFolder,
    `fencepost-rescue-${first.split("/").slice(-2).join("-")}-${head.slice(0, 10)}.bundle`,
  );
  await repository.output(["update-ref", "refs/heads/rescued", head]);
  const known = base !== null && (await repository.run(["cat-file", "-e", `${base}^{commit}`])).code === 0;
  const bundled = await repository.run([
    "bundle",
    "create",
    file,
    "refs/heads/rescued",
    ...(known ? ["--not", base] : []),
  ]);
  if (bundled.code === 0) return { kept: "bundle", file, commit: head };
  return { kept: "clone", commit: head, why: `${problem}; ${lastWords(bundled.stderr)}` };
}

/** Where the commits are, and how to get them, in one sentence. */
export function describeRescue(kept: Rescue): string {
  switch (kept.kept) {
    case "ref":
      return `Your commits are kept on ${kept.ref.replace("refs/heads/", "")} (${kept.commit.slice(0, 10)}).`;
    case "bundle":
      return `Your commits are kept in ${kept.file}; get them with: git fetch ${kept.file} refs/heads/rescued`;
    case "clone":
      return `Your commits could be kept nowhere else (${kept.why}): they are only in this clone, as ${kept.commit}.`;
  }
}
