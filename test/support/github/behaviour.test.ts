/** What GitHub leaves open can be had both ways. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { clone, emptyCommit, git, graphql, rest } from "./client.js";
import { EMPTY_TREE } from "./objects.js";
import { type Github, startGithub } from "./server.js";

const REPO = "/repos/octo/blog";
const REFS = "mutation($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }";
const COMMIT =
  "mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { clientMutationId } }";

let github: Github;
let token: string;
let main: string;

beforeEach(async () => {
  github = await startGithub();
  token = github.token({ contents: "write" });
  main = await github.seed({ files: { "a.md": "one\n" } });
});

afterEach(async () => {
  await github.close();
  expect(github.violations).toEqual([]);
});

const record = async (message: string) => {
  const body = { message, tree: EMPTY_TREE, parents: [main] };
  return (await rest(github, token, "POST", `${REPO}/git/commits`, body)).body.sha as string;
};

it("an atomic push may be taken apart by a rule", async () => {
  github.behaviour.atomicPushRollsBack = false;
  github.protect({ ref: "refs/heads/main", rule: "GH013" });
  const work = await clone(github, token);
  const next = await emptyCommit(work, "next");
  const refs = ["HEAD:refs/heads/main", "HEAD:refs/heads/x"];
  const pushed = await git(work, github.basic(token), "push", "--porcelain", "--atomic", "origin", ...refs);
  expect(pushed.code).toBe(1);
  expect([await github.tip("main"), await github.tip("x")]).toEqual([main, next]);
});

it("a push may spend the REST limit", async () => {
  github.behaviour.pushSpendsRestLimit = true;
  const work = await clone(github, token);
  await emptyCommit(work, "next");
  await git(work, github.basic(token), "push", "origin", "HEAD:main");
  const { body } = await rest(github, token, "GET", "/rate_limit");
  expect([body.resources.core.used, github.counts().counted]).toEqual([1, 1]);
});

it("an unchanged ref may guard nothing", async () => {
  github.behaviour.unchangedRefGuards = false;
  const [held, next] = [await record("held"), await record("next")];
  await github.repository().force("lease", main);
  const { body } = await graphql(github, token, '{ repository(owner: "octo", name: "blog") { id } }');
  const refUpdates = [
    { name: "refs/heads/lease", beforeOid: held, afterOid: held },
    { name: "refs/heads/main", beforeOid: main, afterOid: next },
  ];
  const input = { repositoryId: body.data.repository.id, clientMutationId: "n", refUpdates };
  const moved = await graphql(github, token, REFS, { input });
  expect(moved.body).toEqual({ data: { updateRefs: { clientMutationId: "n" } } });
  expect([await github.tip("lease"), await github.tip("main")]).toEqual([main, next]);
});

it("texts, types and statuses come in both reported forms", async () => {
  github.behaviour.staleDataSpaces = 2;
  github.behaviour.primaryLimitStatus = 429;
  github.behaviour.primaryLimitType = "RATE_LIMIT";
  github.behaviour.secondaryLimitStatusGraphql = 200;
  const branch = { repositoryNameWithOwner: "octo/blog", branchName: "main" };
  const input = { branch, expectedHeadOid: "1".repeat(40), message: { headline: "h" } };
  const stale = await graphql(github, token, COMMIT, { input });
  expect(stale.body.errors[0].message).toContain("did not.  Pull");
  github.faults.next({ kind: "graphql" }, { kind: "secondary-limit", retryAfter: "" });
  const slow = await graphql(github, token, "{ viewer { login } }");
  expect([slow.status, slow.headers.get("retry-after")]).toEqual([200, ""]);
  github.leave(token, "core", 0);
  github.leave(token, "graphql", 0);
  expect((await rest(github, token, "GET", REPO)).status).toBe(429);
  expect((await graphql(github, token, "{ viewer { login } }")).body.errors[0].type).toBe("RATE_LIMIT");
});
