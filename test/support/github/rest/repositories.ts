/** REST: the repository itself, branches, contents, rules and rate limits. */
import { nodeId } from "../node-ids.js";
import type { TreeEntry } from "../objects.js";
import { lines } from "./objects.js";
import { type Answer, type Context, Refused, type Route, route } from "./router.js";
import { fullRepository, gitCommit, person, user, verification } from "./shapes.js";

const BASE = "/repos/{owner}/{repo}";

export function repositoryRoutes(): Route[] {
  return [
    route("GET", BASE, ["metadata", "read"], (context) => ({
      status: 200,
      body: fullRepository(context, context.repository),
    })),
    route("GET", `${BASE}/branches/{branch}`, ["contents", "read"], getBranch),
    route("GET", `${BASE}/contents/{path}`, ["contents", "read"], getContents),
  ];
}

async function getBranch(context: Context): Promise<Answer> {
  const { repository, api, site } = context;
  const name = context.parameters.branch ?? "";
  const found = await context.view.get(`refs/heads/${name}`);
  const commit = found === null ? null : await repository.objects.commit(found.oid);
  if (commit === null) throw new Refused(404, "Branch not found");
  const url = `${api}/repos/${repository.fullName}`;
  const html = `${site}/${repository.fullName}`;
  const classic = repository.protection.covering(`refs/heads/${name}`).some(({ rule }) => rule === "GH006");
  const git = gitCommit(context, commit) as { parents: { sha: string; html_url: string }[] };
  return {
    status: 200,
    body: {
      name,
      commit: {
        sha: commit.oid,
        node_id: nodeId("C", repository.fullName, commit.oid),
        url: `${url}/commits/${commit.oid}`,
        html_url: `${html}/commit/${commit.oid}`,
        comments_url: `${url}/commits/${commit.oid}/comments`,
        commit: {
          url: `${url}/git/commits/${commit.oid}`,
          author: person(commit.author),
          committer: person(commit.committer),
          message: commit.message,
          comment_count: 0,
          tree: { sha: commit.tree, url: `${url}/git/trees/${commit.tree}` },
          verification: verification(commit),
        },
        author: user(context, commit.author.name.endsWith("[bot]") ? commit.author.name : "octocat"),
        committer: user(context, "web-flow"),
        parents: git.parents.map(({ sha, html_url }) => ({ sha, html_url, url: `${url}/commits/${sha}` })),
      },
      _links: { self: `${url}/branches/${encodeURIComponent(name)}`, html: `${html}/tree/${name}` },
      protected: repository.protection.covering(`refs/heads/${name}`).length > 0,
      protection: { enabled: classic },
      protection_url: `${url}/branches/${encodeURIComponent(name)}/protection`,
    },
  };
}

async function getContents(context: Context): Promise<Answer> {
  const { repository } = context;
  const path = (context.parameters.path ?? "").replace(/\/$/, "");
  const asked = context.query.get("ref") ?? repository.defaultBranch;
  const branch =
    (await context.view.get(`refs/heads/${asked}`)) ?? (await context.view.get(`refs/tags/${asked}`));
  const commit = branch?.oid ?? (await repository.objects.read(asked))?.oid;
  if (commit === undefined) throw new Refused(404, `No commit found for the ref ${asked}`);
  const object = await repository.objects.read(`${commit}:${path}`);
  if (object === null) throw new Refused(404, "Not Found");
  if (object.type === "tree") {
    const entries = (await repository.objects.tree(object.oid)) ?? [];
    const listed = entries.map((entry) => listing(context, `${path}/${entry.name}`, asked, entry));
    return { status: 200, body: await Promise.all(listed) };
  }
  if (/\.raw\b/.test(context.headers.accept ?? "")) return { status: 200, raw: object.content };
  const shown = await listing(context, path, asked, {
    name: path,
    mode: "100644",
    type: "blob",
    oid: object.oid,
  });
  return {
    status: 200,
    body: { ...shown, content: lines(object.content.toString("base64")), encoding: "base64" },
  };
}

async function listing(
  context: Context,
  path: string,
  ref: string,
  entry: TreeEntry,
): Promise<Record<string, unknown>> {
  const url = `${context.api}/repos/${context.repository.fullName}`;
  const html = `${context.site}/${context.repository.fullName}`;
  const dir = entry.type === "tree";
  const self = `${url}/contents/${encodeURI(path)}?ref=${ref}`;
  const git = `${url}/git/${dir ? "trees" : "blobs"}/${entry.oid}`;
  const shown = `${html}/${dir ? "tree" : "blob"}/${ref}/${encodeURI(path)}`;
  return {
    type: dir ? "dir" : "file",
    size: dir ? 0 : ((await context.repository.objects.read(entry.oid))?.content.length ?? 0),
    name: path.split("/").at(-1),
    path,
    sha: entry.oid,
    url: self,
    git_url: git,
    html_url: shown,
    download_url: dir ? null : `${html}/raw/${ref}/${encodeURI(path)}`,
    _links: { self, git, html: shown },
  };
}
