// A publish without git, where the branch is not what its maker saw, and where answers are lost.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { acquire, githubStore, publishCommit, type Store } from "../../src/index.js";
import { type LeaseRecord, leaseMessage } from "../../src/protocol/lease.js";
import type { Holding, PublishRequest } from "../../src/types.js";
import { type Github, startGithub } from "../support/github/server.js";

let github: Github;
let start: string;
let store: Store;
let holding: Holding;
beforeEach(async () => {
  github = await startGithub({ repositories: ["octo/blog"] });
  start = await github.seed({ files: { "counter.txt": "1\n" } });
  const { apiUrl, graphqlUrl } = github;
  const token = github.token({ contents: "write" });
  store = githubStore({ token, repository: "octo/blog", apiUrl, graphqlUrl });
  const result = await acquire(store, { lease: "blog", ttl: "10m" });
  if (result.outcome !== "acquired") throw new Error(JSON.stringify(result));
  holding = result.holding;
});
afterEach(() => github.close());

const publish = (request: Partial<PublishRequest> = {}) =>
  publishCommit(store, holding, {
    branch: "main",
    message: "count",
    files: { "counter.txt": "2\n" },
    ...request,
  });
const main = () => github.tip("refs/heads/main");
const write = { operation: "updateRefs" };

describe("with the tip that it was made from", () => {
  test("it is published there", async () => {
    expect(await publish({ base: start })).toMatchObject({ outcome: "pushed" });
  });

  test("nothing is laid over what came in between, before or during the call", async () => {
    const other = await publish({ files: { "counter.txt": "7\n" } });
    if (other.outcome !== "pushed") throw new Error(other.outcome);
    expect(await publish({ base: start })).toMatchObject({ outcome: "moved" });
    expect(await publish({ base: null })).toMatchObject({ outcome: "moved" });
    expect(await main()).toBe(other.commit);
    const race = () => github.repository().commit("main", { "counter.txt": "8\n" }, "race");
    github.faults.next(write, { kind: "before", run: race });
    expect(await publish({ base: other.commit, onMoved: "rebuild" })).toMatchObject({ outcome: "moved" });
  });
});

test("a refusal that comes after a lost answer is no answer to what was sent", async () => {
  github.faults.next(write, { kind: "lost-reply" });
  github.faults.next(
    { kind: "graphql" },
    { kind: "status", status: 401, when: "before", body: { message: "Bad credentials" } },
    { nth: 3, times: 5 },
  );
  const result = await publish();
  expect(await main()).not.toBe(start);
  expect(result).toMatchObject({ outcome: "unavailable", commit: await main() });
});

test("where the next holder began a new history, a lost answer stays unknown", async () => {
  const takeOver = async () => {
    const repository = github.repository();
    const record = {
      ...holding.record,
      token: 2,
      event: "acquired",
      depth: 1,
      previous: null,
      nonce: "another-nonce",
    };
    const [tip] = await github.log("refs/heads/fencepost/lease/blog");
    if (!tip) throw new Error("no lease");
    const { tree, author, committer } = tip;
    const message = leaseMessage(record as unknown as LeaseRecord);
    const root = await repository.objects.writeCommit({ tree, author, committer, parents: [], message });
    await repository.force("fencepost/lease/blog", root);
    await repository.commit("main", { "counter.txt": "9\n" }, "the next");
  };
  github.faults.next(write, { kind: "lost-reply" });
  github.faults.next({ kind: "graphql" }, { kind: "before", run: takeOver }, { nth: 3 });
  expect(await publish()).toMatchObject({ outcome: "unavailable" });
  expect((await github.log("refs/heads/main")).map(({ message }) => message.trim())).toContain("count");
});
