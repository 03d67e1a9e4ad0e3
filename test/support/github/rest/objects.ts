/** REST: commits, blobs and trees of the git database. */
import { nodeId } from "../node-ids.js";
import { EMPTY_TREE, type Identity, type PathChange, type TreeEntry } from "../objects.js";
import { authorOf, GITHUB, signatureOf } from "../signing.js";
import { notEmpty } from "./refs.js";
import { type Answer, type Context, Refused, type Route, route } from "./router.js";
import { gitCommit } from "./shapes.js";

const BASE = "/repos/{owner}/{repo}/git";

export function objectRoutes(): Route[] {
  return [
    route("POST", `${BASE}/commits`, ["contents", "write"], createCommit),
    route("GET", `${BASE}/commits/{commit_sha}`, ["contents", "read"], getCommit),
    route("POST", `${BASE}/blobs`, ["contents", "write"], createBlob),
    route("GET", `${BASE}/blobs/{file_sha}`, ["contents", "read"], getBlob),
    route("POST", `${BASE}/trees`, ["contents", "write"], createTree),
    route("GET", `${BASE}/trees/{tree_sha}`, ["contents", "read"], getTree),
  ];
}

interface Person {
  name?: string;
  email?: string;
  date?: string;
}

/** Without author and committer, the server takes the caller and its own time, and signs for bots. */
async function createCommit(context: Context): Promise<Answer> {
  await notEmpty(context);
  const body = context.body as {
    message: string;
    tree: string;
    parents?: string[];
    author?: Person;
    committer?: Person;
    signature?: string;
  };
  const { objects } = context.repository;
  const tree = await objects.read(body.tree);
  const unwritten = body.tree === EMPTY_TREE && context.behaviour.emptyTree === "unknown";
  if (tree?.type !== "tree" || unwritten) throw new Refused(422, "Tree SHA does not exist");
  for (const parent of body.parents ?? []) {
    if ((await objects.commit(parent)) === null) {
      throw new Refused(422, "Parent SHA does not exist or is not a commit object");
    }
  }
  const caller = authorOf(context.token, context.clock);
  const author = identityOf(body.author, caller);
  const signing = body.author === undefined && body.committer === undefined && caller.name.endsWith("[bot]");
  const committer = signing
    ? { ...GITHUB, seconds: author.seconds, zone: author.zone }
    : identityOf(body.committer, author);
  const oid = await objects.writeCommit({
    tree: body.tree,
    parents: body.parents ?? [],
    author,
    committer,
    message: body.message,
    signature: body.signature ?? (signing ? signatureOf() : undefined),
  });
  const commit = await objects.commit(oid);
  if (commit === null) throw new Error(`commit ${oid} cannot be read back`);
  return { status: 201, body: gitCommit(context, commit) };
}

function identityOf(person: Person | undefined, fallback: Identity): Identity {
  if (person === undefined) return fallback;
  const zone = /([+-]\d\d):?(\d\d)$/.exec(person.date ?? "");
  return {
    name: person.name ?? fallback.name,
    email: person.email ?? fallback.email,
    seconds: person.date === undefined ? fallback.seconds : Math.floor(Date.parse(person.date) / 1000),
    zone: zone === null ? "+0000" : `${zone[1]}${zone[2]}`,
  };
}

async function getCommit(context: Context): Promise<Answer> {
  await notEmpty(context);
  const sha = context.parameters.commit_sha ?? "";
  const commit = /^[0-9a-f]{40}$/.test(sha) ? await context.repository.objects.commit(sha) : null;
  if (commit === null) throw new Refused(404, "Not Found");
  return { status: 200, body: gitCommit(context, commit) };
}

async function createBlob(context: Context): Promise<Answer> {
  await notEmpty(context);
  const { content, encoding = "utf-8" } = context.body as { content: string; encoding?: string };
  const sha = await context.repository.objects.write(
    "blob",
    Buffer.from(content, encoding === "base64" ? "base64" : "utf8"),
  );
  return { status: 201, body: { sha, url: `${gitUrl(context)}/blobs/${sha}` } };
}

async function getBlob(context: Context): Promise<Answer> {
  await notEmpty(context);
  const blob = await context.repository.objects.read(context.parameters.file_sha ?? "");
  if (blob?.type !== "blob") throw new Refused(404, "Not Found");
  return {
    status: 200,
    body: {
      sha: blob.oid,
      node_id: nodeId("B", context.repository.fullName, blob.oid),
      size: blob.content.length,
      url: `${gitUrl(context)}/blobs/${blob.oid}`,
      content: lines(blob.content.toString("base64")),
      encoding: "base64",
    },
  };
}

/** GitHub breaks base64 into lines of 60 characters. */
export function lines(base64: string): string {
  return base64.replace(/.{1,60}/g, "$&\n");
}

interface NewEntry {
  path?: string;
  mode?: string;
  type?: string;
  sha?: string | null;
  content?: string;
}

async function createTree(context: Context): Promise<Answer> {
  await notEmpty(context);
  const { tree, base_tree: base } = context.body as { tree: NewEntry[]; base_tree?: string };
  const { objects } = context.repository;
  if (tree.length === 0) throw new Refused(422, "Invalid tree info");
  // A commit may be given too: its tree is meant.
  const from = base === undefined ? null : ((await objects.read(`${base}^{tree}`))?.oid ?? null);
  if (base !== undefined && from === null) throw new Refused(422, "Invalid base_tree");
  const changes: PathChange[] = [];
  for (const entry of tree) changes.push(...(await changesOf(context, entry)));
  const sha = await objects.changeTree(from, changes);
  return { status: 201, body: await treeShape(context, sha, false) };
}

async function changesOf(context: Context, entry: NewEntry): Promise<PathChange[]> {
  const { objects } = context.repository;
  const path = entry.path ?? "";
  if (path === "" || entry.mode === undefined) throw new Refused(422, "Invalid tree info");
  if (/(^|\/)(\.git|\.\.?)?(\/|$)/i.test(path))
    throw new Refused(422, "tree.path contains a malformed path component");
  if (entry.content !== undefined) {
    return [{ path, mode: entry.mode, oid: await objects.write("blob", entry.content) }];
  }
  if (entry.sha === null) return [{ path, mode: entry.mode, oid: null }];
  const object = await objects.read(entry.sha ?? "");
  if (object === null) throw new Refused(422, `tree.sha ${entry.sha} is not a valid ${entry.type ?? "blob"}`);
  if (object.type !== "tree") return [{ path, mode: entry.mode, oid: object.oid }];
  // The index has no folders, so a folder is entered file by file.
  const files = (await objects.files(object.oid)).filter(({ type }) => type !== "tree");
  return files.map((file) => ({ path: `${path}/${file.path}`, mode: file.mode, oid: file.oid }));
}

async function getTree(context: Context): Promise<Answer> {
  await notEmpty(context);
  const name = context.parameters.tree_sha ?? "";
  const branch = await context.view.get(`refs/heads/${name}`);
  const object = await context.repository.objects.read(`${branch?.oid ?? name}^{tree}`);
  if (object === null) throw new Refused(404, "Not Found");
  return { status: 200, body: await treeShape(context, object.oid, context.query.has("recursive")) };
}

async function treeShape(
  context: Context,
  sha: string,
  recursive: boolean,
): Promise<Record<string, unknown>> {
  const { objects } = context.repository;
  const flat: (TreeEntry & { path: string })[] = recursive
    ? await objects.files(sha)
    : ((await objects.tree(sha)) ?? []).map((entry) => ({ ...entry, path: entry.name }));
  const tree: Record<string, unknown>[] = [];
  for (const { path, mode, type, oid } of flat) {
    const size = type === "blob" ? { size: (await objects.read(oid))?.content.length ?? 0 } : {};
    const url = type === "commit" ? {} : { url: `${gitUrl(context)}/${type}s/${oid}` };
    tree.push({ path, mode, type, sha: oid, ...size, ...url });
  }
  return { sha, url: `${gitUrl(context)}/trees/${sha}`, tree, truncated: false };
}

function gitUrl({ api, repository }: Context): string {
  return `${api}/repos/${repository.fullName}/git`;
}
