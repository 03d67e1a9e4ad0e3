/** The GraphQL side of the local GitHub: its schema, its queries and its compare-and-swap mutations. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { graphql, type Reply, rest } from "./client.js";
import { EMPTY_TREE } from "./objects.js";
import { ZERO } from "./refs.js";
import { type Github, startGithub } from "./server.js";

let github: Github;
let token: string;
let main: string;

beforeEach(async () => {
  github = await startGithub();
  token = github.token({ contents: "write" });
  main = await github.seed({ files: { "a.md": "one\n", "dir/b.md": "two\n" } });
});

afterEach(async () => {
  await github.close();
  expect(github.violations).toEqual([]);
});

const ask = (query: string, variables?: Record<string, unknown>) => graphql(github, token, query, variables);

const COMMIT = `mutation($input: CreateCommitOnBranchInput!) {
  createCommitOnBranch(input: $input) {
    commit { oid committedDate message messageHeadline messageBody signature { isValid wasSignedByGitHub } }
    ref { name prefix target { oid } }
  }
}`;
const REFS = "mutation($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }";

const commitInput = (expectedHeadOid: string, more: object = {}) => ({
  input: {
    branch: { repositoryNameWithOwner: "octo/blog", branchName: "main" },
    expectedHeadOid,
    message: { headline: "lease acquired", body: '{"token":1}' },
    ...more,
  },
});

const repositoryId = async () =>
  (await ask('{ repository(owner: "octo", name: "blog") { id } }')).body.data.repository.id as string;

const child = async (parents: string[], message: string) => {
  const body = { message, tree: EMPTY_TREE, parents };
  return (await rest(github, token, "POST", "/repos/octo/blog/git/commits", body)).body.sha as string;
};

describe("queries", () => {
  it("refuses what GitHub's schema refuses", async () => {
    const reply = await ask('{ repository(owner: "octo", name: "blog") { nonsense } }');
    expect(reply.status).toBe(200);
    expect(reply.body.data).toBeUndefined();
    expect(reply.body.errors[0].message).toContain("nonsense");
  });

  it("reads refs, commits, files and trees", async () => {
    const { data } = (
      await ask(`{ repository(owner: "octo", name: "blog") {
        nameWithOwner
        defaultBranchRef { name prefix }
        ref(qualifiedName: "refs/heads/main") { target { __typename oid ... on Commit {
          message history(first: 10) { totalCount nodes { oid } } parents(first: 1) { nodes { oid } }
        } } }
        file: object(expression: "main:a.md") { ... on Blob { text byteSize isBinary isTruncated } }
        tree: object(expression: "main:") { ... on Tree { entries { name path type object { ... on Tree { entries { path } } } } } }
      } viewer { login } rateLimit { remaining cost } }`)
    ).body;
    expect(data.viewer.login).toBe("github-actions[bot]");
    expect(data.rateLimit).toEqual({ remaining: 999, cost: 1 });
    const { repository } = data;
    expect(repository.defaultBranchRef).toEqual({ name: "main", prefix: "refs/heads/" });
    expect(repository.ref.target).toMatchObject({
      __typename: "Commit",
      oid: main,
      history: { totalCount: 1 },
    });
    expect(repository.file).toEqual({ text: "one\n", byteSize: 4, isBinary: false, isTruncated: false });
    expect(repository.tree.entries[1]).toEqual({
      name: "dir",
      path: "dir",
      type: "tree",
      object: { entries: [{ path: "dir/b.md" }] },
    });
  });

  it("shows no refs outside refs/heads and refs/tags, though REST does", async () => {
    await rest(github, token, "POST", "/repos/octo/blog/git/refs", { ref: "refs/fence/x", sha: main });
    const query =
      '{ repository(owner: "octo", name: "blog") { ref(qualifiedName: "refs/fence/x") { name } } }';
    expect((await ask(query)).body.data.repository.ref).toBeNull();
    expect((await rest(github, token, "GET", "/repos/octo/blog/git/ref/fence/x")).status).toBe(200);
  });

  it("pages through refs, and insists on a page size", async () => {
    for (let i = 0; i < 5; i++) await github.repository().force(`p/${i}`, main);
    const query = `query($after: String) { repository(owner: "octo", name: "blog") {
      refs(refPrefix: "refs/heads/p/", first: 2, after: $after) { totalCount nodes { name prefix } pageInfo { hasNextPage endCursor } } } }`;
    const names: string[] = [];
    let after: string | null = null;
    do {
      const reply: Reply = await ask(query, { after });
      const { refs } = reply.body.data.repository;
      names.push(...refs.nodes.map(({ prefix, name }: { prefix: string; name: string }) => prefix + name));
      after = refs.pageInfo.hasNextPage ? refs.pageInfo.endCursor : null;
    } while (after !== null);
    expect(names).toEqual([0, 1, 2, 3, 4].map((i) => `refs/heads/p/${i}`));
    const bare = await ask(
      '{ repository(owner: "octo", name: "blog") { refs(refPrefix: "refs/heads/") { totalCount } } }',
    );
    expect(bare.body.errors[0].type).toBe("MISSING_PAGINATION_BOUNDARIES");
  });

  it("finds nodes by id, and says NOT_FOUND for what is not to be seen", async () => {
    const query = "query($id: ID!) { node(id: $id) { __typename ... on Repository { name } } }";
    expect((await ask(query, { id: await repositoryId() })).body.data.node).toEqual({
      __typename: "Repository",
      name: "blog",
    });
    const missing = (await ask('{ repository(owner: "octo", name: "none") { id } }')).body;
    expect(missing).toMatchObject({
      data: { repository: null },
      errors: [{ type: "NOT_FOUND", path: ["repository"] }],
    });
    const weak = await graphql(
      github,
      github.token(),
      '{ repository(owner: "octo", name: "blog") { nameWithOwner defaultBranchRef { name } } }',
    );
    expect(weak.body.errors[0]).toMatchObject({
      type: "FORBIDDEN",
      message: "Resource not accessible by integration",
    });
    expect((await graphql(github, "ghs_no", "{ viewer { login } }")).status).toBe(401);
  });

  it("answers on the paths of GHES too", async () => {
    const response = await fetch(`${github.url}/api/graphql`, {
      method: "POST",
      headers: { authorization: `bearer ${token}` },
      body: JSON.stringify({ query: "{ viewer { login } }" }),
    });
    expect(response.status).toBe(200);
    const repo = await fetch(`${github.url}/api/v3/repos/octo/blog`, {
      headers: { authorization: `token ${token}` },
    });
    expect(repo.status).toBe(200);
  });
});

describe("createCommitOnBranch", () => {
  it("commits a message alone, by the server's clock, signed", async () => {
    github.clock.set("2026-05-05T05:05:05Z");
    github.clock.freeze();
    const { commit, ref } = (await ask(COMMIT, commitInput(main))).body.data.createCommitOnBranch;
    expect(commit).toMatchObject({
      committedDate: "2026-05-05T05:05:05Z",
      message: 'lease acquired\n\n{"token":1}',
      messageHeadline: "lease acquired",
      messageBody: '{"token":1}',
      signature: { isValid: true, wasSignedByGitHub: true },
    });
    expect(ref).toEqual({ name: "main", prefix: "refs/heads/", target: { oid: commit.oid } });
    expect(await github.tip("main")).toBe(commit.oid);
    expect(await github.repository().file("main", "a.md")).toBe("one\n");
  });

  it("refuses another head as STALE_DATA", async () => {
    const next = await github.commit("main", { "c.md": "" }, "other");
    const { body, status } = await ask(COMMIT, commitInput(main));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      data: { createCommitOnBranch: null },
      errors: [
        {
          type: "STALE_DATA",
          path: ["createCommitOnBranch"],
          message: `Expected branch to point to "${main}" but it did not. Pull and try again.`,
        },
      ],
    });
    expect(await github.tip("main")).toBe(next);
  });

  it("adds and deletes files", async () => {
    const fileChanges = {
      additions: [{ path: "new/x.md", contents: Buffer.from("new\n").toString("base64") }],
      deletions: [{ path: "a.md" }],
    };
    expect((await ask(COMMIT, commitInput(main, { fileChanges }))).body.errors).toBeUndefined();
    expect(await github.repository().file("main", "new/x.md")).toBe("new\n");
    expect(await github.repository().file("main", "a.md")).toBeNull();
  });

  it("wants an existing branch, and a permission", async () => {
    const branch = { repositoryNameWithOwner: "octo/blog", branchName: "none" };
    expect((await ask(COMMIT, commitInput(main, { branch }))).body.errors).toHaveLength(1);
    const custom = { repositoryNameWithOwner: "octo/blog", branchName: "refs/fence/x" };
    expect((await ask(COMMIT, commitInput(main, { branch: custom }))).body.errors).toHaveLength(1);
    const reader = github.token({ contents: "read" });
    const refused = await graphql(github, reader, COMMIT, commitInput(main));
    expect(refused.body.errors[0]).toMatchObject({
      type: "FORBIDDEN",
      message: "Resource not accessible by integration",
    });
  });

  it("lets one of several simultaneous callers through", async () => {
    const replies = await Promise.all(Array.from({ length: 6 }, () => ask(COMMIT, commitInput(main))));
    const types = replies.map(({ body }) => body.errors?.[0].type ?? "ok").sort();
    expect(types).toEqual([...Array(5).fill("STALE_DATA"), "ok"]);
  });
});

describe("updateRefs", () => {
  const update = async (refUpdates: object[], clientMutationId = "n1") =>
    ask(REFS, { input: { repositoryId: await repositoryId(), clientMutationId, refUpdates } });

  it("moves several refs, creates and deletes, and echoes only the mutation id", async () => {
    const next = await child([main], "next");
    await github.repository().force("old", main);
    const { body } = await update([
      { name: "refs/heads/main", beforeOid: main, afterOid: next },
      { name: "refs/fence/new", beforeOid: ZERO, afterOid: next },
      { name: "refs/heads/old", beforeOid: main, afterOid: ZERO },
    ]);
    expect(body).toEqual({ data: { updateRefs: { clientMutationId: "n1" } } });
    expect([await github.tip("main"), await github.tip("refs/fence/new"), await github.tip("old")]).toEqual([
      next,
      next,
      null,
    ]);
  });

  it.each([
    ["another value", (next: string) => [{ name: "refs/heads/b", beforeOid: next, afterOid: next }]],
    ["no fast-forward", () => [{ name: "refs/heads/b", afterOid: "side" }]],
    ["an existing ref", (next: string) => [{ name: "refs/heads/b", beforeOid: ZERO, afterOid: next }]],
    ["an unknown object", () => [{ name: "refs/heads/b", afterOid: "1".repeat(40) }]],
    ["a rule", (next: string) => [{ name: "refs/heads/kept", beforeOid: ZERO, afterOid: next }]],
    [
      "an unchanged ref that has moved",
      () => [{ name: "refs/heads/b", beforeOid: "side", afterOid: "side" }],
    ],
  ])("moves nothing and says nothing after %s", async (_, others) => {
    github.protect({ ref: "refs/heads/kept", rule: "GH013" });
    await github.repository().force("b", main);
    const [next, side] = [await child([main], "next"), await child([], "side")];
    const rest = others(next).map((one) => JSON.parse(JSON.stringify(one).replaceAll('"side"', `"${side}"`)));
    const { status, body } = await update([
      { name: "refs/heads/main", beforeOid: main, afterOid: next },
      ...rest,
    ]);
    expect(status).toBe(200);
    expect(body.data).toBeNull();
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0].type).toBeUndefined();
    expect(body.errors[0].message).toMatch(/^Something went wrong while executing your query/);
    expect([await github.tip("main"), await github.tip("b")]).toEqual([main, main]);
  });

  it("guards that a ref does not exist", async () => {
    const next = await child([main], "next");
    const guard = { name: "refs/heads/absent", beforeOid: ZERO, afterOid: ZERO };
    const move = { name: "refs/heads/main", beforeOid: main, afterOid: next };
    await github.repository().force("absent", main);
    expect((await update([guard, move])).body.data).toBeNull();
    await github.repository().force("absent", null);
    expect((await update([guard, move])).body.data.updateRefs).not.toBeNull();
    expect(await github.tip("main")).toBe(next);
  });

  it("replaces history by force, still under the condition", async () => {
    const root = await child([], "root");
    const { body } = await update([
      { name: "refs/heads/main", beforeOid: main, afterOid: root, force: true },
    ]);
    expect(body.data.updateRefs.clientMutationId).toBe("n1");
    expect(await github.tip("main")).toBe(root);
  });

  it("can be closed to GITHUB_TOKEN", async () => {
    github.behaviour.updateRefsByGithubToken = false;
    const { body } = await update([{ name: "refs/heads/x", afterOid: main }]);
    expect(body.errors[0].type).toBe("FORBIDDEN");
  });
});

describe("createRef, updateRef, deleteRef", () => {
  it("work by node id, without a condition", async () => {
    const create = "mutation($input: CreateRefInput!) { createRef(input: $input) { ref { id name } } }";
    const input = { repositoryId: await repositoryId(), name: "refs/heads/x", oid: main };
    const { ref } = (await ask(create, { input })).body.data.createRef;
    expect(ref.name).toBe("x");
    expect((await ask(create, { input })).body.errors[0].message).toBe(
      'A ref named "refs/heads/x" already exists in the repository.',
    );
    const next = await child([main], "next");
    const move = "mutation($input: UpdateRefInput!) { updateRef(input: $input) { ref { target { oid } } } }";
    const moved = await ask(move, { input: { refId: ref.id, oid: next } });
    expect(moved.body.data.updateRef.ref.target.oid).toBe(next);
    await ask("mutation($input: DeleteRefInput!) { deleteRef(input: $input) { clientMutationId } }", {
      input: { refId: ref.id },
    });
    expect(await github.tip("x")).toBeNull();
  });
});
