// The exact requests of the store on GitHub, against answers written by hand.
import nock from "nock";
import { afterEach, beforeEach, expect, test } from "vitest";
import { githubClient } from "../../src/github/client.js";
import { recordName } from "../../src/protocol/names.js";
import { githubStore } from "../../src/store/github.js";
import { fakeClock } from "../support/fake-clock.js";

const api = "https://api.github.test";
const a = recordName("lease", "a");
const b = recordName("lease", "b");
const [one, two] = ["1".repeat(40), "2".repeat(40)];
const date = "Sun, 01 Mar 2026 12:00:00 GMT";

const newStore = () =>
  githubStore({
    octokit: githubClient({
      token: "ghs_x",
      apiUrl: api,
      graphqlUrl: `${api}/graphql`,
      userAgent: "fencepost",
    }),
    repository: "octo/blog",
    prefix: "fencepost",
    clock: fakeClock(),
    chance: { nonce: () => "nonce-1", random: () => 0.5 },
    warn: () => {},
  });

beforeEach(() => nock.disableNetConnect());
afterEach(() => {
  const left = nock.pendingMocks();
  nock.cleanAll();
  nock.enableNetConnect();
  expect(left).toEqual([]);
});

const common = {
  reqheaders: {
    "x-github-api-version": "2022-11-28",
    "content-type": /^application\/json/,
    "user-agent": /^fencepost /,
    authorization: "token ghs_x",
  },
  badheaders: ["if-modified-since"],
};
/** White space in a query means nothing. */
const tidy = (text: string) => text.replace(/\s+/g, " ").trim();
const asks = (query: RegExp | string, variables: object) => (body: { query: string; variables: object }) => {
  if (typeof query === "string") expect(tidy(body.query)).toBe(tidy(query));
  else expect(body.query).toMatch(query);
  expect(body.variables).toEqual(variables);
  return true;
};
const commit = (oid: string, message: string, parents: string[] = []) => ({
  oid,
  message,
  committedDate: "2026-03-01T11:59:58Z",
  parents: { nodes: parents.map((each) => ({ oid: each })) },
});
const restCommit = (sha: string, message: string, parents: string[] = []) => ({
  sha,
  message,
  committer: { name: "GitHub", email: "noreply@github.com", date: "2026-03-01T11:59:58Z" },
  parents: parents.map((each) => ({ sha: each })),
});
const writtenAt = Date.UTC(2026, 2, 1, 11, 59, 58);

function nockRead() {
  const variables = {
    owner: "octo",
    name: "blog",
    ref0: "refs/heads/fencepost/lease/a",
    ref1: "refs/heads/fencepost/lease/b",
  };
  const target =
    "{ target { ... on Commit { oid message committedDate parents(first: 2) { nodes { oid } } } } }";
  const query = `query FencepostRead($owner: String!, $name: String!, $ref0: String!, $ref1: String!) { repository(owner: $owner, name: $name) { id r0: ref(qualifiedName: $ref0) ${target} r1: ref(qualifiedName: $ref1) ${target} } }`;
  nock(api, common)
    .post("/graphql", asks(query, variables))
    .reply(
      200,
      { data: { repository: { id: "R_1", r0: { target: commit(one, "x\n") }, r1: null } } },
      { date },
    );
}

test("a read is one query, and its Date header is the time", async () => {
  nockRead();
  expect(await newStore().read([a, b])).toEqual({
    now: Date.parse(date),
    records: [{ name: a, oid: one, writtenAt, parents: [], message: "x\n" }, null],
  });
});

test("a read without a Date header is not given a time of our own", async () => {
  const reply = { data: { repository: { id: "R_1", r0: null } } };
  nock(api).post("/graphql").times(3).reply(200, reply);
  const clock = { ...fakeClock(), sleep: async () => {} };
  const octokit = githubClient({ token: "x", apiUrl: api, graphqlUrl: `${api}/graphql`, userAgent: "x" });
  const chance = { nonce: () => "n", random: () => 0 };
  const store = githubStore({ octokit, repository: "octo/blog", prefix: "p", clock, chance, warn: () => {} });
  await expect(store.read([a])).rejects.toThrow("no Date header");
});

test("a child of the tip is one mutation, with the message taken apart", async () => {
  const input = {
    branch: { repositoryNameWithOwner: "octo/blog", branchName: "fencepost/lease/a" },
    expectedHeadOid: one,
    message: { headline: "lease a", body: '{\n  "nonce": "n"\n}' },
  };
  nock(api, common)
    .post(
      "/graphql",
      asks(/^mutation FencepostCommit\(.* createCommitOnBranch\(input: \$input\)/s, { input }),
    )
    .reply(200, { data: { createCommitOnBranch: { commit: commit(two, "lease a\n\n{}", [one]) } } });
  const message = 'lease a\n\n{\n  "nonce": "n"\n}\n';
  expect(await newStore().swap([{ name: a, expected: one, next: { message } }])).toEqual({
    outcome: "applied",
    written: [{ name: a, oid: two, writtenAt, parents: [one], message: "lease a\n\n{}" }],
  });
});

test("a new record is a commit without author, and a ref", async () => {
  nock(api, common)
    .post("/repos/octo/blog/git/commits", {
      message: "x\n",
      tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
      parents: [],
    })
    .reply(201, restCommit(one, "x\n"))
    .post("/repos/octo/blog/git/refs", { ref: "refs/heads/fencepost/lease/a", sha: one })
    .reply(201, { object: { sha: one } });
  expect(await newStore().swap([{ name: a, expected: null, next: { message: "x\n" } }])).toEqual({
    outcome: "applied",
    written: [{ name: a, oid: one, writtenAt, parents: [], message: "x\n" }],
  });
});

test("several records are commits, and one updateRefs with what is expected of each", async () => {
  nockRead();
  const store = newStore();
  await store.read([a, b]);
  const refUpdates = [
    { name: "refs/heads/fencepost/lease/a", beforeOid: one, afterOid: two, force: true },
    { name: "refs/heads/fencepost/lease/b", beforeOid: one, afterOid: "0".repeat(40), force: false },
  ];
  const input = { repositoryId: "R_1", clientMutationId: "nonce-1", refUpdates };
  nock(api, common)
    .post("/repos/octo/blog/git/commits")
    .reply(201, restCommit(two, "y\n"))
    .post("/graphql", asks(/^mutation FencepostUpdateRefs\(.* updateRefs\(input: \$input\)/s, { input }))
    .reply(200, { data: { updateRefs: { clientMutationId: "nonce-1" } } });
  const changes = [
    { name: a, expected: one, next: { message: "y\n", root: true } },
    { name: b, expected: one, next: null },
  ];
  expect(await store.swap(changes)).toMatchObject({ outcome: "applied", written: [{ oid: two }, null] });
});

test("whether a record is unchanged is asked with the ETag of the answer before, and nothing else", async () => {
  const path = "/repos/octo/blog/git/ref/heads%2Ffencepost%2Flease%2Fa";
  nock(api, { badheaders: ["if-none-match", "if-modified-since"] })
    .get(path)
    .reply(200, { object: { sha: one } }, { etag: 'W/"1"', "last-modified": date });
  nock(api, { badheaders: ["if-modified-since"], reqheaders: { "if-none-match": 'W/"1"' } })
    .get(path)
    .times(2)
    .reply(304);
  const store = newStore();
  expect(await store.unchanged?.({ name: a, oid: one })).toBe(true);
  expect(await store.unchanged?.({ name: a, oid: one })).toBe(true);
  // The ETag stands for another write than the one that is asked about.
  expect(await store.unchanged?.({ name: a, oid: two })).toBe(false);
});
