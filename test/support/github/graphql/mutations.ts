/** The mutations that move refs. */
import { parseNodeId } from "../node-ids.js";
import type { PathChange } from "../objects.js";
import { applyUpdates, type RefUpdate, type Refusal } from "../ref-updates.js";
import { ZERO } from "../refs.js";
import { fullRef, type Repository } from "../repository.js";
import { authorOf, GITHUB, signatureOf } from "../signing.js";
import { allows, covers } from "../tokens.js";
import { forbidden, noNode, noRepository, SomethingWentWrong, Typed } from "./errors.js";
import { type GraphqlContext, objectValue, refValue, type Value } from "./values.js";

interface Input<T> {
  input: T & { clientMutationId?: string | null };
}

/** The repository, if the caller may write its contents. */
function writable(context: GraphqlContext, fullName: string, missing: Typed): Repository {
  const { world, token } = context;
  const repository = world.find(fullName);
  const hidden = repository?.isPrivate === true && (token === null || !covers(token, repository.fullName));
  if (repository === undefined || hidden) throw missing;
  if (!allows(token, repository.fullName, "contents", "write")) throw forbidden(token);
  return repository;
}

function byRepositoryId(context: GraphqlContext, id: string): Repository {
  const parsed = parseNodeId(id);
  if (parsed?.kind !== "R" || parsed.parts.length !== 1) throw noNode(id);
  return writable(context, parsed.parts[0] ?? "", noNode(id));
}

async function byRefId(
  context: GraphqlContext,
  id: string,
): Promise<{ repository: Repository; ref: string }> {
  const { kind, parts } = parseNodeId(id) ?? { kind: "", parts: [] };
  const [fullName = "", ref = ""] = parts;
  if (kind !== "REF") throw noNode(id);
  const repository = writable(context, fullName, noNode(id));
  if ((await repository.refs.get(ref)) === null) throw noNode(id);
  return { repository, ref };
}

function writer(context: GraphqlContext) {
  return { token: context.token, behaviour: context.world.behaviour, between: context.between };
}

interface CommitInput {
  branch: { id?: string | null; branchName?: string | null; repositoryNameWithOwner?: string | null };
  expectedHeadOid: string;
  message: { headline: string; body?: string | null };
  fileChanges?: {
    additions?: { path: string; contents: string }[] | null;
    deletions?: { path: string }[] | null;
  } | null;
}

async function createCommitOnBranch({ input }: Input<CommitInput>, context: GraphqlContext): Promise<Value> {
  const { repository, ref } = await branchOf(context, input.branch);
  const head = (await repository.refs.get(ref))?.oid;
  if (head === undefined)
    throw new Typed("NOT_FOUND", `A branch named "${ref.slice("refs/heads/".length)}" does not exist.`);
  if (head !== input.expectedHeadOid) throw stale(context, input.expectedHeadOid);
  const parent = await repository.objects.commit(head);
  if (parent === null) throw new Error(`${ref} is not at a commit`);
  const author = authorOf(context.token, context.world.clock);
  const { headline, body } = input.message;
  const oid = await repository.objects.writeCommit({
    tree: await changedTree(repository, parent.tree, head, input.fileChanges),
    parents: [head],
    author,
    committer: { ...GITHUB, seconds: author.seconds, zone: author.zone },
    message: body == null || body === "" ? headline : `${headline}\n\n${body}`,
    signature: signatureOf(),
  });
  const update = { ref, before: head, after: oid, force: false };
  const refused = await applyUpdates(repository, [update], writer(context));
  if (refused !== null) throw refusalOf(context, refused, input.expectedHeadOid);
  return {
    clientMutationId: input.clientMutationId ?? null,
    commit: objectValue(context, repository, await repository.objects.read(oid)),
    ref: refValue(context, repository, { ref, oid, type: "commit" }),
  };
}

async function branchOf(context: GraphqlContext, branch: CommitInput["branch"]) {
  if (branch.id != null) {
    const found = await byRefId(context, branch.id);
    if (!found.ref.startsWith("refs/heads/")) throw new Typed("UNPROCESSABLE", "The ref must be a branch.");
    return found;
  }
  if (branch.branchName == null || branch.repositoryNameWithOwner == null) {
    throw new Typed(
      "UNPROCESSABLE",
      "A branch must be specified by id, or by repositoryNameWithOwner and branchName.",
    );
  }
  const fullName = branch.repositoryNameWithOwner;
  const repository = writable(context, fullName, noRepository(fullName));
  if (branch.branchName.startsWith("refs/") && !branch.branchName.startsWith("refs/heads/")) {
    throw new Typed("UNPROCESSABLE", "The ref must be a branch.");
  }
  return { repository, ref: fullRef(branch.branchName) };
}

async function changedTree(
  repository: Repository,
  tree: string,
  head: string,
  changes: CommitInput["fileChanges"],
): Promise<string> {
  const paths: PathChange[] = [];
  for (const { path } of changes?.deletions ?? []) {
    if ((await repository.objects.read(`${tree}:${path}`)) === null) {
      throw new Typed(
        "UNPROCESSABLE",
        `A path was requested for deletion which does not exist as of commit oid \`${head}\``,
      );
    }
    paths.push({ path, mode: "000000", oid: null });
  }
  for (const { path, contents } of changes?.additions ?? []) {
    const oid = await repository.objects.write("blob", Buffer.from(contents, "base64"));
    paths.push({ path, mode: "100644", oid });
  }
  return paths.length === 0 ? tree : repository.objects.changeTree(tree, paths);
}

function stale(context: GraphqlContext, expected: string): Typed {
  const space = " ".repeat(context.world.behaviour.staleDataSpaces);
  return new Typed(
    "STALE_DATA",
    `Expected branch to point to "${expected}" but it did not.${space}Pull and try again.`,
  );
}

/** What the mutations with one ref say; `updateRefs` says nothing. */
function refusalOf(context: GraphqlContext, refusal: Refusal, expected: string): Error {
  switch (refusal.why) {
    case "stale":
    case "lost-race":
      return expected === "" ? new SomethingWentWrong(refusal.why) : stale(context, expected);
    case "protected": {
      const { rule, demand } = refusal.rule;
      if (rule === "GH006") return new Typed("BRANCH_PROTECTION_RULE_VIOLATION", demand);
      return new Typed("UNPROCESSABLE", `Repository rule violations found\n\n${demand}\n\n`);
    }
    case "workflow":
      return forbidden(context.token);
    case "exists":
      return new Typed("UNPROCESSABLE", `A ref named "${refusal.ref}" already exists in the repository.`);
    case "not-fast-forward":
      return new Typed("UNPROCESSABLE", "Update is not a fast forward");
    case "no-object":
    case "not-a-commit":
      return new Typed("UNPROCESSABLE", "Object does not exist");
    case "bad-name":
    case "hidden":
      return new Typed("UNPROCESSABLE", `${refusal.ref} is not a valid ref name.`);
    case "missing":
    case "default-branch":
      return new Typed("UNPROCESSABLE", "Reference cannot be updated");
  }
}

interface RefsInput {
  repositoryId: string;
  refUpdates: { name: string; afterOid: string; beforeOid?: string | null; force?: boolean | null }[];
}

/** All or nothing, and on any failure one generic error. */
async function updateRefs({ input }: Input<RefsInput>, context: GraphqlContext): Promise<Value> {
  const repository = byRepositoryId(context, input.repositoryId);
  const { behaviour } = context.world;
  if (context.token?.kind === "GITHUB_TOKEN" && !behaviour.updateRefsByGithubToken)
    throw forbidden(context.token);
  const updates = input.refUpdates.map(({ name, afterOid, beforeOid, force }): RefUpdate => {
    const before = beforeOid == null ? undefined : beforeOid === ZERO ? null : beforeOid;
    return { ref: name, before, after: afterOid === ZERO ? null : afterOid, force: force ?? false };
  });
  const refused = await applyUpdates(repository, updates, writer(context));
  if (refused !== null) throw new SomethingWentWrong(`${refused.why} ${refused.ref}`);
  return { clientMutationId: input.clientMutationId ?? null };
}

async function createRef(
  { input }: Input<{ repositoryId: string; name: string; oid: string }>,
  context: GraphqlContext,
) {
  const repository = byRepositoryId(context, input.repositoryId);
  const update = { ref: input.name, after: input.oid, force: false };
  const refused = await applyUpdates(repository, [update], writer(context), "create");
  if (refused !== null) throw refusalOf(context, refused, "");
  const ref = refValue(context, repository, { ref: input.name, oid: input.oid, type: "commit" });
  return { clientMutationId: input.clientMutationId ?? null, ref };
}

async function updateRef(
  { input }: Input<{ refId: string; oid: string; force?: boolean }>,
  context: GraphqlContext,
) {
  const { repository, ref } = await byRefId(context, input.refId);
  const update = { ref, after: input.oid, force: input.force ?? false };
  const refused = await applyUpdates(repository, [update], writer(context), "update");
  if (refused !== null) throw refusalOf(context, refused, "");
  const moved = refValue(context, repository, { ref, oid: input.oid, type: "commit" });
  return { clientMutationId: input.clientMutationId ?? null, ref: moved };
}

async function deleteRef({ input }: Input<{ refId: string }>, context: GraphqlContext) {
  const { repository, ref } = await byRefId(context, input.refId);
  const refused = await applyUpdates(
    repository,
    [{ ref, after: null, force: true }],
    writer(context),
    "update",
  );
  if (refused !== null) throw refusalOf(context, refused, "");
  return { clientMutationId: input.clientMutationId ?? null };
}

export const mutations = { createCommitOnBranch, updateRefs, createRef, updateRef, deleteRef };
