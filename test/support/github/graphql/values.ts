/** Repositories, refs and git objects as GraphQL values: each field is computed when it is asked for. */
import { type GitObject, git } from "../git.js";
import { nodeId } from "../node-ids.js";
import type { Commit, Identity } from "../objects.js";
import type { RefValue, RefView } from "../refs.js";
import type { Repository } from "../repository.js";
import { allows, type Token } from "../tokens.js";
import type { World } from "../world.js";
import { connection, type PageArguments } from "./connection.js";
import { forbidden } from "./errors.js";
import { blobValue, entryAt, tagValue, treeValue } from "./files.js";

export interface GraphqlContext {
  world: World;
  token: Token | null;
  view(repository: Repository): RefView;
  between: () => Promise<void>;
}

export type Value = Record<string, unknown>;

function date(who: Identity): string {
  return `${new Date(who.seconds * 1000).toISOString().slice(0, 19)}Z`;
}

export function repositoryValue(context: GraphqlContext, repository: Repository): Value {
  const { world, token } = context;
  const url = `${world.url}/${repository.fullName}`;
  // A private repository's content takes a permission of its own; its name does not.
  const readable =
    <A, R>(read: (args: A) => R) =>
    (args: A): R => {
      const open = !repository.isPrivate || allows(token, repository.fullName, "contents", "read");
      if (!open) throw forbidden(token);
      return read(args);
    };
  const view = context.view(repository);
  const named = async (ref: string) => {
    const found = await view.get(ref);
    return found === null ? null : refValue(context, repository, found);
  };
  return {
    __typename: "Repository",
    id: nodeId("R", repository.fullName),
    databaseId: repository.id,
    name: repository.name,
    nameWithOwner: repository.fullName,
    owner: {
      __typename: "Organization",
      id: nodeId("U", repository.owner),
      login: repository.owner,
      url: `${world.url}/${repository.owner}`,
    },
    url,
    isPrivate: repository.isPrivate,
    isEmpty: async () => (await repository.refs.list("refs/heads/")).length === 0,
    isFork: false,
    isArchived: false,
    viewerPermission: allows(token, repository.fullName, "contents", "write") ? "WRITE" : "READ",
    defaultBranchRef: readable(() => named(`refs/heads/${repository.defaultBranch}`)),
    /** Refs outside refs/heads and refs/tags are not to be had here, though REST shows them. */
    ref: readable(async ({ qualifiedName: name }: { qualifiedName: string }) => {
      if (/^refs\/(heads|tags)\//.test(name)) return named(name);
      if (name.startsWith("refs/")) return null;
      return (await named(`refs/heads/${name}`)) ?? named(`refs/tags/${name}`);
    }),
    refs: readable(async (args: PageArguments & RefsArguments) => {
      const prefix = args.refPrefix.endsWith("/") ? args.refPrefix : `${args.refPrefix}/`;
      const all = (await view.list(prefix)).filter(({ ref }) => /^refs\/(heads|tags)\//.test(ref));
      const text = (args.query ?? "").toLowerCase();
      const found = all.filter(({ ref }) => ref.slice(prefix.length).toLowerCase().includes(text));
      await order(repository, found, args);
      return connection("refs", found, args, (ref) => refValue(context, repository, ref, prefix));
    }),
    object: readable(async ({ oid, expression }: { oid?: string; expression?: string }) =>
      objectValue(context, repository, await lookUp(repository, view, oid ?? expression ?? "")),
    ),
  };
}

interface RefsArguments {
  refPrefix: string;
  query?: string | null;
  direction?: "ASC" | "DESC" | null;
  orderBy?: { field: "ALPHABETICAL" | "TAG_COMMIT_DATE"; direction: "ASC" | "DESC" } | null;
}

async function order(
  repository: Repository,
  refs: RefValue[],
  { orderBy, direction }: RefsArguments,
): Promise<void> {
  refs.sort((a, b) => (a.ref < b.ref ? -1 : 1));
  if (orderBy?.field === "TAG_COMMIT_DATE") {
    const times = new Map<string, number>();
    for (const { oid } of refs)
      times.set(oid, (await repository.objects.commit(`${oid}^{commit}`))?.committer.seconds ?? 0);
    refs.sort((a, b) => (times.get(a.oid) ?? 0) - (times.get(b.oid) ?? 0));
  }
  if ((orderBy?.direction ?? direction) === "DESC") refs.reverse();
}

/** An object by id, or by `<branch, tag or id>` with an optional `:<path>`. */
async function lookUp(repository: Repository, view: RefView, expression: string): Promise<GitObject | null> {
  const colon = expression.indexOf(":");
  const name = colon < 0 ? expression : expression.slice(0, colon);
  const path = colon < 0 ? "" : expression.slice(colon);
  const full = /^refs\/(heads|tags)\//.test(name) ? [name] : [`refs/heads/${name}`, `refs/tags/${name}`];
  const known = name === "HEAD" ? [`refs/heads/${repository.defaultBranch}`] : full;
  for (const ref of known) {
    const found = await view.get(ref);
    if (found !== null) return repository.objects.read(found.oid + path);
  }
  return /^[0-9a-f]{4,40}$/.test(name) ? repository.objects.read(name + path) : null;
}

/** `prefix` and `name` together make the full name, whatever prefix was asked for. */
export function refValue(
  context: GraphqlContext,
  repository: Repository,
  found: RefValue,
  asked?: string,
): Value {
  const prefix = asked ?? found.ref.split("/").slice(0, 2).join("/").concat("/");
  return {
    __typename: "Ref",
    id: nodeId("REF", repository.fullName, found.ref),
    name: found.ref.slice(prefix.length),
    prefix,
    repository: () => repositoryValue(context, repository),
    branchProtectionRule: null,
    target: async () => objectValue(context, repository, await repository.objects.read(found.oid)),
  };
}

export function objectValue(
  context: GraphqlContext,
  repository: Repository,
  object: GitObject | null,
): Value | null {
  if (object === null) return null;
  const html = `${context.world.url}/${repository.fullName}/commit/${object.oid}`;
  const common = {
    oid: object.oid,
    abbreviatedOid: object.oid.slice(0, 7),
    commitUrl: html,
    commitResourcePath: new URL(html).pathname,
    repository: () => repositoryValue(context, repository),
  };
  switch (object.type) {
    case "commit":
      return commitValue(context, repository, object.oid, common);
    case "blob":
      return { ...common, ...blobValue(repository, object) };
    case "tree":
      return { ...common, ...treeValue(context, repository, object.oid) };
    case "tag":
      return { ...common, ...tagValue(context, repository, object) };
  }
}

async function commitOf(repository: Repository, oid: string): Promise<Commit> {
  const commit = await repository.objects.commit(oid);
  if (commit === null) throw new Error(`no commit ${oid}`);
  return commit;
}

function commitValue(context: GraphqlContext, repository: Repository, oid: string, common: Value): Value {
  const once = { value: null as Promise<Commit> | null };
  const commit = () => {
    once.value ??= commitOf(repository, oid);
    return once.value;
  };
  const from =
    <T>(take: (commit: Commit) => T) =>
    async () =>
      take(await commit());
  const show = async (other: string) =>
    objectValue(context, repository, await repository.objects.read(other));
  const url = `${context.world.url}/${repository.fullName}/commit/${oid}`;
  return {
    ...common,
    __typename: "Commit",
    id: nodeId("C", repository.fullName, oid),
    url,
    resourcePath: new URL(url).pathname,
    message: from(({ message }) => message),
    messageHeadline: from(({ message }) => headline(message)),
    messageBody: from(({ message }) => messageBody(message)),
    committedDate: from(({ committer }) => date(committer)),
    authoredDate: from(({ author }) => date(author)),
    pushedDate: null,
    committedViaWeb: from(({ signature }) => signature !== null),
    author: from(({ author }) => actor(author)),
    committer: from(({ committer }) => actor(committer)),
    tree: async () => show((await commit()).tree),
    signature: from(signatureValue),
    parents: async (page: PageArguments) => connection("parents", (await commit()).parents, page, show),
    history: async (
      args: PageArguments & { path?: string | null; since?: string | null; until?: string | null },
    ) => connection("history", await history(repository, oid, args), args, show),
    file: async ({ path }: { path: string }) => entryAt(context, repository, (await commit()).tree, path),
  };
}

async function history(
  repository: Repository,
  oid: string,
  { path, since, until }: { path?: string | null; since?: string | null; until?: string | null },
): Promise<string[]> {
  const limits = [
    ...(since == null ? [] : [`--since=${since}`]),
    ...(until == null ? [] : [`--until=${until}`]),
  ];
  const out = await git(repository.dir, ["rev-list", ...limits, oid, ...(path == null ? [] : ["--", path])]);
  return out.toString().split("\n").filter(Boolean);
}

function actor(who: Identity): Value {
  return {
    name: who.name,
    email: who.email,
    date: date(who),
    avatarUrl: "https://avatars.githubusercontent.com/u/0",
    user: null,
  };
}

function signatureValue(commit: Commit): Value | null {
  if (commit.signature === null) return null;
  return {
    __typename: "GpgSignature",
    email: commit.committer.email,
    isValid: true,
    payload: commit.payload,
    signature: commit.signature,
    signer: null,
    state: "VALID",
    verifiedAt: date(commit.committer),
    wasSignedByGitHub: commit.committer.email === "noreply@github.com",
    keyId: "B5690EEEBB952194",
  };
}

export function headline(message: string): string {
  return message.split("\n")[0] ?? "";
}

export function messageBody(message: string): string {
  return message.slice(headline(message).length).replace(/^\n+/, "").replace(/\n+$/, "");
}
