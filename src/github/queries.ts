// The GraphQL documents about records, and how their answers are read.
import { type RecordName, recordOf, refOf } from "../protocol/names.js";
import type { Instant, Oid, Versioned } from "../protocol/record.js";

export interface Place {
  owner: string;
  name: string;
  /** The ref prefix of the records. */
  prefix: string;
}

export interface Request {
  query: string;
  variables: Record<string, unknown>;
}

/** A record's tip, and the write before it: what proves that a write of ours was there and was built upon. */
export interface Tip extends Versioned {
  before: Versioned | null;
}

const commit = "oid message committedDate parents(first: 2) { nodes { oid } }";
const commitAndParent =
  "oid message committedDate parents(first: 2) { nodes { oid message committedDate parents(first: 2) { nodes { oid } } } }";

/** Several records and the repository's id in one query of one point. */
export function readRequest(place: Place, names: readonly RecordName[], parents = false): Request {
  const refs = Object.fromEntries(names.map((name, i) => [`ref${i}`, refOf(place.prefix, name)]));
  const declared = names.map((_, i) => `, $ref${i}: String!`).join("");
  const fields = names.map(
    (_, i) =>
      `r${i}: ref(qualifiedName: $ref${i}) { target { ... on Commit { ${parents ? commitAndParent : commit} } } }`,
  );
  return {
    query: `query FencepostRead($owner: String!, $name: String!${declared}) { repository(owner: $owner, name: $name) { ${["id", ...fields].join(" ")} } }`,
    variables: { owner: place.owner, name: place.name, ...refs },
  };
}

export interface ReadAnswer {
  repositoryId: string;
  tips: (Tip | null)[];
}

/** @throws TypeError where the answer is not of the form that was asked for. */
export function readAnswer(data: unknown, names: readonly RecordName[]): ReadAnswer {
  const repository = repositoryIn<{ id: string } & Record<string, RefNode | null | undefined>>(data);
  const tips = names.map((name, i) => {
    const ref = repository[`r${i}`];
    if (ref === undefined) throw new TypeError("a ref that was asked for is not in the answer");
    return ref === null ? null : tipOf(name, ref.target);
  });
  return { repositoryId: String(repository.id), tips };
}

/** One page of at most 100 records below a folder. */
export function listRequest(place: Place, folder: string, after: string | null): Request {
  return {
    query: `query FencepostList($owner: String!, $name: String!, $folder: String!, $after: String) { repository(owner: $owner, name: $name) { refs(refPrefix: $folder, first: 100, after: $after, orderBy: { field: ALPHABETICAL, direction: ASC }) { nodes { prefix name target { ... on Commit { ${commit} } } } pageInfo { hasNextPage endCursor } } } }`,
    variables: {
      owner: place.owner,
      name: place.name,
      folder: `refs/heads/${place.prefix}/${folder}`,
      after,
    },
  };
}

export interface Page {
  records: Versioned[];
  /** Where the next page begins; null at the end. */
  next: string | null;
}

/** @throws TypeError where the answer is not of the form that was asked for. */
export function listAnswer(place: Place, data: unknown): Page {
  type Listed = RefNode & { prefix: string; name: string };
  const { refs } = repositoryIn<{ refs: { nodes: Listed[] } & Paged }>(data);
  const records = refs.nodes.flatMap((node) => {
    const name = recordOf(place.prefix, node.prefix + node.name);
    return name === null ? [] : [versioned(name, node.target)];
  });
  return { records, next: nextOf(refs) };
}

/** One page of a record's chain, newest first. */
export function historyRequest(
  place: Place,
  record: RecordName,
  first: number,
  after: string | null,
): Request {
  return {
    query: `query FencepostHistory($owner: String!, $name: String!, $ref: String!, $first: Int!, $after: String) { repository(owner: $owner, name: $name) { ref(qualifiedName: $ref) { target { ... on Commit { history(first: $first, after: $after) { nodes { ${commit} } pageInfo { hasNextPage endCursor } } } } } } }`,
    variables: {
      owner: place.owner,
      name: place.name,
      ref: refOf(place.prefix, record),
      first,
      after,
    },
  };
}

/** @throws TypeError where the answer is not of the form that was asked for. */
export function historyAnswer(record: RecordName, data: unknown): Page {
  type Chain = { nodes: CommitNode[] } & Paged;
  const { ref } = repositoryIn<{ ref: { target: { history: Chain } } | null }>(data);
  if (ref === null) return { records: [], next: null };
  const { history } = ref.target;
  return { records: history.nodes.map((node) => versioned(record, node)), next: nextOf(history) };
}

/**
 * The compare-and-swap of one existing branch. GitHub writes the commit, dates it and signs it; without file changes
 * it keeps the parent's tree.
 */
export function commitRequest(
  place: Place,
  record: RecordName,
  expected: Oid,
  parts: { headline: string; body: string },
): Request {
  return {
    query: `mutation FencepostCommit($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { ${commit} } } }`,
    variables: {
      input: {
        branch: {
          repositoryNameWithOwner: `${place.owner}/${place.name}`,
          branchName: refOf(place.prefix, record).slice("refs/heads/".length),
        },
        expectedHeadOid: expected,
        message: parts,
      },
    },
  };
}

/** @throws TypeError where the answer is not of the form that was asked for. */
export function commitAnswer(record: RecordName, data: unknown): Versioned {
  const made = (data as { createCommitOnBranch: { commit: CommitNode } }).createCommitOnBranch;
  return versioned(record, made.commit);
}

export interface RefUpdate {
  name: string;
  /** Null: the ref must not exist. */
  before: Oid | null;
  /** Null: the ref is removed. */
  after: Oid | null;
  /** Whether `after` need not descend from `before`. */
  force: boolean;
}

const nothing = "0".repeat(40);

/** The atomic compare-and-swap of several refs. Its answer holds nothing but the echo of the nonce. */
export function updateRefsRequest(
  repositoryId: string,
  updates: readonly RefUpdate[],
  nonce: string,
): Request {
  return {
    query:
      "mutation FencepostUpdateRefs($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }",
    variables: {
      input: {
        repositoryId,
        clientMutationId: nonce,
        refUpdates: updates.map(({ name, before, after, force }) => ({
          name,
          beforeOid: before ?? nothing,
          afterOid: after ?? nothing,
          force,
        })),
      },
    },
  };
}

export function updateRefsEchoes(data: unknown, nonce: string): boolean {
  const found = (data as { updateRefs?: { clientMutationId?: unknown } | null } | null)?.updateRefs;
  return found?.clientMutationId === nonce;
}

/** The commit that `POST git/commits` made. @throws TypeError where the answer is none. */
export function restCommit(record: RecordName, data: unknown): Versioned {
  const made = data as {
    sha: string;
    message: string;
    committer: { date: string };
    parents: { sha: string }[];
  };
  return versioned(record, {
    oid: made.sha,
    message: made.message,
    committedDate: made.committer.date,
    parents: { nodes: made.parents.map(({ sha }) => ({ oid: sha })) },
  });
}

/** Where a ref is, in an answer of the REST API's ref endpoints. */
export function refOid(data: unknown): Oid | undefined {
  return (data as { object?: { sha?: Oid } } | null)?.object?.sha;
}

interface CommitNode {
  oid: string;
  message: string;
  committedDate: string;
  parents: { nodes: (Pick<CommitNode, "oid"> & Partial<CommitNode>)[] };
}

interface RefNode {
  target: CommitNode | null;
}

interface Paged {
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

function repositoryIn<T>(data: unknown): T {
  const { repository } = data as { repository: T | null };
  if (repository === null || repository === undefined) throw new TypeError("no repository in the answer");
  return repository;
}

function nextOf({ pageInfo }: Paged): string | null {
  return pageInfo.hasNextPage ? pageInfo.endCursor : null;
}

function tipOf(name: RecordName, node: CommitNode | null): Tip {
  const parent = node?.parents.nodes[0];
  return {
    ...versioned(name, node),
    before: parent?.message === undefined ? null : versioned(name, parent as CommitNode),
  };
}

function versioned(name: RecordName, node: CommitNode | null): Versioned {
  const writtenAt: Instant = Date.parse(node?.committedDate ?? "");
  if (typeof node?.oid !== "string" || typeof node.message !== "string" || Number.isNaN(writtenAt))
    throw new TypeError("a commit without id, message or date in the answer");
  const parents = node.parents.nodes.map(({ oid }) => oid);
  return { name, oid: node.oid, writtenAt, parents, message: node.message };
}
