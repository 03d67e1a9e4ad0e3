/** Users, repositories and commits as GitHub's REST answers show them. */

import { nodeId } from "../node-ids.js";
import type { Commit, Identity } from "../objects.js";
import type { Repository } from "../repository.js";
import type { Context } from "./router.js";

type Json = Record<string, unknown>;
type Place = Pick<Context, "api" | "site" | "clock">;

export function userId(login: string): number {
  if (login === "github-actions[bot]") return 41898282;
  if (login === "octocat") return 583231;
  return [...login].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 90_000_000, 7) + 1_000_000;
}

export function user({ api, site }: Place, login: string, type?: string): Json {
  const id = userId(login);
  const bot = login.endsWith("[bot]");
  const self = `${api}/users/${encodeURIComponent(login)}`;
  return {
    login,
    id,
    node_id: nodeId("U", String(id)),
    avatar_url: `${site}/avatars/u/${id}?v=4`,
    gravatar_id: "",
    url: self,
    html_url: bot ? `${site}/apps/${login.slice(0, -5)}` : `${site}/${login}`,
    followers_url: `${self}/followers`,
    following_url: `${self}/following{/other_user}`,
    gists_url: `${self}/gists{/gist_id}`,
    starred_url: `${self}/starred{/owner}{/repo}`,
    subscriptions_url: `${self}/subscriptions`,
    organizations_url: `${self}/orgs`,
    repos_url: `${self}/repos`,
    events_url: `${self}/events{/privacy}`,
    received_events_url: `${self}/received_events`,
    type: type ?? (bot ? "Bot" : "User"),
    user_view_type: "public",
    site_admin: false,
  };
}

const LINKS: Record<string, string> = {
  archive_url: "/{archive_format}{/ref}",
  assignees_url: "/assignees{/user}",
  blobs_url: "/git/blobs{/sha}",
  branches_url: "/branches{/branch}",
  collaborators_url: "/collaborators{/collaborator}",
  comments_url: "/comments{/number}",
  commits_url: "/commits{/sha}",
  compare_url: "/compare/{base}...{head}",
  contents_url: "/contents/{+path}",
  contributors_url: "/contributors",
  deployments_url: "/deployments",
  downloads_url: "/downloads",
  events_url: "/events",
  forks_url: "/forks",
  git_commits_url: "/git/commits{/sha}",
  git_refs_url: "/git/refs{/sha}",
  git_tags_url: "/git/tags{/sha}",
  hooks_url: "/hooks",
  issue_comment_url: "/issues/comments{/number}",
  issue_events_url: "/issues/events{/number}",
  issues_url: "/issues{/number}",
  keys_url: "/keys{/key_id}",
  labels_url: "/labels{/name}",
  languages_url: "/languages",
  merges_url: "/merges",
  milestones_url: "/milestones{/number}",
  notifications_url: "/notifications{?since,all,participating}",
  pulls_url: "/pulls{/number}",
  releases_url: "/releases{/id}",
  stargazers_url: "/stargazers",
  statuses_url: "/statuses/{sha}",
  subscribers_url: "/subscribers",
  subscription_url: "/subscription",
  tags_url: "/tags",
  teams_url: "/teams",
  trees_url: "/git/trees{/sha}",
};

export function minimalRepository(place: Place, repository: Repository): Json {
  const url = `${place.api}/repos/${repository.fullName}`;
  return {
    id: repository.id,
    node_id: nodeId("R", repository.fullName),
    name: repository.name,
    full_name: repository.fullName,
    private: repository.isPrivate,
    owner: user(place, repository.owner, "Organization"),
    html_url: `${place.site}/${repository.fullName}`,
    description: null,
    fork: false,
    url,
    ...Object.fromEntries(Object.entries(LINKS).map(([name, rest]) => [name, url + rest])),
  };
}

export function fullRepository(place: Place, repository: Repository): Json {
  const html = `${place.site}/${repository.fullName}`;
  const now = place.clock.iso();
  const none = {
    forks: 0,
    forks_count: 0,
    open_issues: 0,
    open_issues_count: 0,
    size: 1,
    stargazers_count: 0,
  };
  return {
    ...minimalRepository(place, repository),
    ...none,
    clone_url: `${html}.git`,
    git_url: `git:${html.slice(html.indexOf("//"))}.git`,
    ssh_url: `git@127.0.0.1:${repository.fullName}.git`,
    svn_url: html,
    mirror_url: null,
    default_branch: repository.defaultBranch,
    visibility: repository.isPrivate ? "private" : "public",
    has_issues: true,
    has_projects: false,
    has_wiki: false,
    has_pages: false,
    has_discussions: false,
    homepage: null,
    language: null,
    license: null,
    archived: false,
    disabled: false,
    pushed_at: now,
    created_at: now,
    updated_at: now,
    watchers: 0,
    watchers_count: 0,
    network_count: 0,
    subscribers_count: 0,
  };
}

export function person(who: Identity): { name: string; email: string; date: string } {
  return {
    name: who.name,
    email: who.email,
    date: `${new Date(who.seconds * 1000).toISOString().slice(0, 19)}Z`,
  };
}

export function verification(commit: Commit): Json {
  const signed = commit.signature !== null;
  return {
    verified: signed,
    reason: signed ? "valid" : "unsigned",
    signature: commit.signature,
    payload: signed ? commit.payload : null,
    verified_at: signed ? person(commit.committer).date : null,
  };
}

export function gitCommit({ api, site, repository }: Context, commit: Commit): Json {
  const url = `${api}/repos/${repository.fullName}/git`;
  const html = `${site}/${repository.fullName}/commit`;
  return {
    sha: commit.oid,
    node_id: nodeId("C", repository.fullName, commit.oid),
    url: `${url}/commits/${commit.oid}`,
    html_url: `${html}/${commit.oid}`,
    author: person(commit.author),
    committer: person(commit.committer),
    tree: { sha: commit.tree, url: `${url}/trees/${commit.tree}` },
    message: commit.message,
    parents: commit.parents.map((sha) => ({ sha, url: `${url}/commits/${sha}`, html_url: `${html}/${sha}` })),
    verification: verification(commit),
  };
}
