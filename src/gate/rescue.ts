// Keeps the commits of a push that finally failed: on rescue refs, or, where that is refused too, in a bundle file.
import { join } from "node:path";
import { bound, type PrivateRepository } from "../git/private.js";
import { lastWords, redact } from "../git/program.js";
import { pushAtomically } from "../git/push.js";
import { later } from "../limit.js";
import { rescueRef } from "../protocol/names.js";
import type { Oid } from "../protocol/record.js";
import type { PushRequest } from "./push.js";

/** Where one commit is kept, with all that leads to it. */
export type Kept =
  | { kept: "ref"; ref: string; commit: Oid }
  | { kept: "bundle"; file: string; commit: Oid }
  /** Only the clone has them; says why. */
  | { kept: "clone"; commit: Oid; why: string };

/** `further`: commits that only a further ref (`of`) has, kept beside the head. */
export type Rescue = Kept & { further?: (Kept & { of: string })[] };

type RescueRequest = Pick<PushRequest, "prefix" | "fences" | "head" | "further" | "bundleFolder" | "signal">;

/** Milliseconds that a rescue has after its push was given up, for the server and for the bundle each. */
const grace = 60_000;

/** What is kept is always the user's own commit, not a rebased one. `base` is left out of a bundle when it is known. */
export async function rescue(
  repository: PrivateRepository,
  request: RescueRequest,
  base: Oid | null,
): Promise<Rescue> {
  const { head, fences } = request;
  const limited = bound(repository, later(request.signal, grace));
  const first = rescueRef(request.prefix, fences[0].name, fences[0].token);
  // A second failed push of one token keeps both.
  const main = await keep(limited, head, [first, `${first}-${head.slice(0, 10)}`]);
  const beside: { of: string; name: string; tried: Tried }[] = [];
  for (const [i, { of, commit }] of (await others(limited, request, base)).entries()) {
    const name = `further-${i + 1}`;
    const ref = `${"ref" in main ? main.ref : first}-${name}`;
    const tried = await keep(limited, commit, [ref, `${ref}-${commit.slice(0, 10)}`]);
    beside.push({ of, name: `rescued-${name}`, tried });
  }
  const file = join(
    request.bundleFolder,
    `fencepost-rescue-${first.split("/").slice(-2).join("-")}-${head.slice(0, 10)}.bundle`,
  );
  const left = [{ name: "rescued", tried: main }, ...beside].filter(({ tried }) => "problem" in tried);
  const why =
    left.length > 0 ? await bundle(bound(repository, later(request.signal, grace)), file, left, base) : null;
  const found = (tried: Tried): Kept => {
    const { commit } = tried;
    if ("ref" in tried) return { kept: "ref", ref: tried.ref, commit };
    return why === null
      ? { kept: "bundle", file, commit }
      : { kept: "clone", commit, why: `${tried.problem}; ${why}` };
  };
  const further = beside.map(({ of, tried }) => ({ ...found(tried), of }));
  return { ...found(main), ...(further.length > 0 ? { further } : {}) };
}

type Tried = { commit: Oid } & ({ ref: string } | { problem: string });

/** The commits of the further refs that the head, the base and each other do not have. */
async function others(repository: PrivateRepository, { head, further }: RescueRequest, base: Oid | null) {
  const found: { of: string; commit: Oid }[] = [];
  for (const { ref, oid } of further) {
    const words = await said(repository, ["rev-parse", "--verify", "--quiet", `${oid}^{commit}`]);
    // A tag may name a file or a tree.
    if (words.problem !== null) continue;
    const commit = words.text.trim();
    const known = [head, ...(base === null ? [] : [base]), ...found.map((other) => other.commit)];
    const within = async (whole: Oid) =>
      (await said(repository, ["merge-base", "--is-ancestor", commit, whole])).problem === null;
    if (!(await some(known, within))) found.push({ of: ref, commit });
  }
  return found;
}

async function some<T>(all: readonly T[], holds: (each: T) => Promise<boolean>): Promise<boolean> {
  for (const each of all) if (await holds(each)) return true;
  return false;
}

async function keep(repository: PrivateRepository, commit: Oid, refs: readonly string[]): Promise<Tried> {
  let problem = "";
  for (const ref of refs) {
    try {
      const { reply } = await pushAtomically(repository, [{ ref, to: commit, expected: null }]);
      if (reply.code === 0) return { ref, commit };
      problem = lastWords(reply.stderr);
    } catch (error) {
      problem = wordsOf(error);
    }
  }
  return { problem, commit };
}

/** Null, or why there is no bundle. */
async function bundle(
  repository: PrivateRepository,
  file: string,
  left: readonly { name: string; tried: Tried }[],
  base: Oid | null,
): Promise<string | null> {
  const refs = left.map(({ name }) => `refs/heads/${name}`);
  for (const [i, { tried }] of left.entries()) {
    const { problem } = await said(repository, ["update-ref", refs[i] as string, tried.commit]);
    if (problem !== null) return problem;
  }
  const known =
    base !== null && (await said(repository, ["cat-file", "-e", `${base}^{commit}`])).problem === null;
  return (await said(repository, ["bundle", "create", file, ...refs, ...(known ? ["--not", base] : [])]))
    .problem;
}

/** What git says; a git that cannot be started or was ended is a problem like any other. */
async function said(repository: PrivateRepository, args: readonly string[]) {
  try {
    const reply = await repository.run(args);
    return {
      text: reply.stdout.toString("utf8"),
      problem: reply.code === 0 ? null : lastWords(reply.stderr),
    };
  } catch (error) {
    return { text: "", problem: wordsOf(error) };
  }
}

function wordsOf(error: unknown): string {
  return redact(error instanceof Error ? error.message : String(error));
}

/** Where the commits are, and how to get them, in a sentence or two. */
export function describeRescue(kept: Rescue): string {
  const beside = (kept.further ?? []).map((each, i) => `${each.of}: ${placeOf(each, i + 1)}`).join("; ");
  return `${describeKept(kept)}${beside === "" ? "" : ` Beside them are kept those of ${beside}.`}`;
}

function describeKept(kept: Kept): string {
  switch (kept.kept) {
    case "ref":
      return `Your commits are kept on ${kept.ref.replace("refs/heads/", "")} (${kept.commit.slice(0, 10)}).`;
    case "bundle":
      return `Your commits are kept in ${kept.file}; get them with: git fetch ${kept.file} refs/heads/rescued`;
    case "clone":
      return `Your commits could be kept nowhere else (${kept.why}): they are only in this clone, as ${kept.commit}.`;
  }
}

function placeOf(kept: Kept, number: number): string {
  switch (kept.kept) {
    case "ref":
      return kept.ref.replace("refs/heads/", "");
    case "bundle":
      return `refs/heads/rescued-further-${number} in ${kept.file}`;
    case "clone":
      return `only in this clone, as ${kept.commit} (${kept.why})`;
  }
}
