// The requests of a publish without git: a branch and records read in one query, and a commit made from files.
import type { RecordName } from "../protocol/names.js";
import type { Oid } from "../protocol/record.js";
import { type Place, type ReadAnswer, type Request, readAnswer, readRequest } from "./queries.js";

/** Where a branch is: its commit, and that commit's tree. */
export interface BranchTip {
  oid: Oid;
  tree: Oid;
}

/** The records with the write before each, the repository's id, and the branch, in one query of one point. */
export function lookRequest(place: Place, names: readonly RecordName[], branch: string): Request {
  const { query, variables } = readRequest(place, names, true);
  return {
    query: query
      .replace("$name: String!", "$name: String!, $branch: String!")
      .replace(
        "{ id",
        "{ branch: ref(qualifiedName: $branch) { target { ... on Commit { oid tree { oid } } } } id",
      ),
    variables: { ...variables, branch },
  };
}

/** @throws TypeError where the answer is not of the form that was asked for. */
export function lookAnswer(
  data: unknown,
  names: readonly RecordName[],
): ReadAnswer & { branch: BranchTip | null } {
  const { repository } = data as {
    repository?: { branch?: { target?: { oid?: Oid; tree?: { oid?: Oid } } } | null };
  };
  const found = repository?.branch;
  if (found === undefined) throw new TypeError("a branch that was asked for is not in the answer");
  const { oid, tree } = found?.target ?? {};
  if (found !== null && (typeof oid !== "string" || typeof tree?.oid !== "string"))
    throw new TypeError("a branch without commit or tree in the answer");
  return {
    ...readAnswer(data, names),
    branch: found === null ? null : { oid: oid as Oid, tree: tree?.oid as Oid },
  };
}

/** The id of a blob, tree or commit that a request made. @throws TypeError where the answer has none. */
export function madeOid(data: unknown): Oid {
  const { sha } = data as { sha?: unknown };
  if (typeof sha !== "string" || !/^[0-9a-f]{40,64}$/.test(sha))
    throw new TypeError("an object without id in the answer");
  return sha;
}
