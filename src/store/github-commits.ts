// Commits of records made over REST, for writes that GitHub's one-request commit cannot make.
import { restCommit } from "../github/queries.js";
import type { Oid, Versioned } from "../protocol/record.js";
import { type Calls, tries } from "./github-calls.js";
import type { Change } from "./store.js";

/** What all operations of one store remember. */
export interface Memory {
  repositoryId: string | null;
  /** The tree of new records. */
  tree: Oid;
  /** Whether GitHub is still asked to write commits in one request. */
  oneRequest: boolean;
}

export const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

export type Made =
  | { kind: "made"; commit: Versioned | null }
  | { kind: "failed"; code: string; words: string };

/**
 * Makes the commit of a change, without author and committer, so that GitHub dates and signs it. No ref moves here, so
 * a lost reply costs no more than a commit that nothing refers to.
 */
export async function makeCommit(calls: Calls, memory: Memory, change: Change): Promise<Made> {
  const { next, name } = change;
  if (next === null) return { kind: "made", commit: null };
  const parents = change.expected === null || next.root ? [] : [change.expected];
  const post = (tree: Oid) =>
    create(
      calls,
      "POST /repos/{owner}/{repo}/git/commits",
      { message: next.message, tree, parents },
      (data) => restCommit(name, data),
    );
  const made = await post(memory.tree);
  if ("value" in made) return { kind: "made", commit: made.value };
  if (made.code !== "422" || memory.tree !== emptyTree) return { kind: "failed", ...made };
  // Whether GitHub knows the empty tree without its having been written is documented nowhere.
  const tree = await smallTree(calls);
  if (!("value" in tree)) return { kind: "failed", ...tree };
  const again = await post(tree.value);
  if (!("value" in again)) return { kind: "failed", ...again };
  memory.tree = tree.value;
  return { kind: "made", commit: again.value };
}

/** A tree of one file of ours. Never a file of the user's: a workflow among them would take a permission of its own. */
function smallTree(calls: Calls) {
  const content = "This branch holds records of Fencepost, in its commit messages.\n";
  const tree = [{ path: "fencepost.txt", mode: "100644", type: "blob", content }];
  return create(calls, "POST /repos/{owner}/{repo}/git/trees", { tree }, (data) => {
    const { sha } = data as { sha?: unknown };
    if (typeof sha !== "string") throw new TypeError("a tree without id in the answer");
    return sha;
  });
}

export type Created<T> = { value: T } | { code: string; words: string };

export async function create<T>(
  calls: Calls,
  route: string,
  body: Record<string, unknown>,
  take: (data: unknown) => T,
): Promise<Created<T>> {
  for (let n = 1; ; n++) {
    const answer = await calls.rest(route, body);
    let words = "words" in answer ? answer.words : "";
    if (answer.kind === "no") return { code: answer.code, words };
    if (answer.kind === "ok") {
      try {
        return { value: take(answer.data) };
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        words = error.message;
      }
    }
    if (n === tries) return { code: "unknown", words };
    await calls.pause(n);
  }
}
