// The library where there is no Node: in workerd, against the local GitHub over HTTP.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Miniflare } from "miniflare";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { githubClient } from "../../src/github/client.js";
import { acquire, githubStore, unlock } from "../../src/index.js";
import type { AcquireResult, Holding, PublishResult } from "../../src/types.js";
import { type Github, startGithub } from "../support/github/server.js";

const file = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8");

/** A Worker that does what it is told: one call of the library for each request. */
const worker = `
import * as fencepost from "fencepost";
export { default as example } from "example";
export default {
  async fetch(request, env) {
    const { call, args, bytes } = await request.json();
    const store = fencepost.githubStore({ token: env.TOKEN, repository: "octo/blog", apiUrl: env.API_URL, graphqlUrl: env.GRAPHQL_URL });
    if (bytes) args.at(-1).files[bytes] = Uint8Array.from([0, 1, 254, 255]);
    try {
      if (call === "checkThenWrite") return Response.json(await checkThenWrite(store, env, ...args));
      return Response.json(await fencepost[call](store, ...args));
    } catch (error) {
      return Response.json({ threw: error.name, message: error.message });
    }
  },
};

/** What the one transaction replaces: look whether the lease is still ours, and then move the branch. */
async function checkThenWrite(store, env, holding, commit) {
  const seen = await fencepost.status(store, holding.lease);
  if (seen.token !== holding.token) return { outcome: "superseded" };
  const headers = { authorization: "token " + env.TOKEN, "user-agent": "x" };
  const url = env.API_URL + "/repos/octo/blog/git/refs/heads/main";
  const reply = await fetch(url, { method: "PATCH", headers, body: JSON.stringify({ sha: commit }) });
  return { outcome: reply.ok ? "pushed" : "refused" };
}
`;

let github: Github;
let token: string;
let mf: Miniflare;
let start: string;
beforeAll(() => {
  mf = new Miniflare(options({}));
});
beforeEach(async () => {
  github = await startGithub({ repositories: ["octo/blog"] });
  start = await github.seed({ files: { "README.md": "# a blog\n", "old.md": "old\n" } });
  token = github.token({ kind: "app", contents: "write" });
  await mf.setOptions(options({ TOKEN: token, API_URL: github.apiUrl, GRAPHQL_URL: github.graphqlUrl }));
});
afterEach(async () => {
  await github.close();
  expect(github.violations).toEqual([]);
});
afterAll(() => mf.dispose());

// No compatibility flag: nothing of Node's is there.
function options(bindings: Record<string, string>): ConstructorParameters<typeof Miniflare>[0] {
  const modules = [
    { type: "ESModule", path: "worker.mjs", contents: worker },
    { type: "ESModule", path: "fencepost", contents: file("dist/lib/index.js") },
    { type: "ESModule", path: "example", contents: file("examples/worker.mjs") },
  ] as const;
  return { modules: [...modules], compatibilityDate: "2026-07-01", bindings };
}

async function call<T>(name: string, args: unknown[], bytes?: string): Promise<T> {
  const body = JSON.stringify({ call: name, args, bytes });
  const reply = await mf.dispatchFetch("http://worker/", { method: "POST", body });
  return (await reply.json()) as T;
}
async function hold(): Promise<Holding> {
  const result = await call<AcquireResult>("acquire", [{ lease: "blog", ttl: "10m", holder: "worker" }]);
  if (result.outcome !== "acquired") throw new Error(JSON.stringify(result));
  return result.holding;
}
const publish = (holding: Holding, request: object = {}, bytes?: string) =>
  call<PublishResult>(
    "publishCommit",
    [holding, { branch: "main", message: "hello", files: { "posts/a.md": "one\n" }, ...request }],
    bytes,
  );

/** Somebody else, on a machine with Node. */
const elsewhere = () =>
  githubStore({
    token: github.token({ contents: "write" }),
    repository: "octo/blog",
    apiUrl: github.apiUrl,
    graphqlUrl: github.graphqlUrl,
  });
const takeOver = () => unlock(elsewhere(), { lease: "blog", token: 1, by: "a person", reason: "takeover" });
const main = () => github.tip("refs/heads/main");
const subjects = async () => (await github.log("refs/heads/main")).map(({ message }) => message.trim());
const text = async (path: string) =>
  (await github.repository().objects.read(`refs/heads/main:${path}`))?.content;
const record = async () => {
  const [tip] = await github.log("refs/heads/fencepost/lease/blog");
  return JSON.parse(tip?.message.slice(tip.message.indexOf("\n\n")) ?? "null");
};
const operations = () =>
  github.requests.filter(({ kind }) => kind !== "git").map(({ operation, fields }) => fields[0] ?? operation);

describe("in workerd", () => {
  test("acquire, publish, release: branch and lease move in one write", async () => {
    const holding = await hold();
    expect(holding).toMatchObject({ token: 1, claim: { host: "worker" } });
    const files = {
      "posts/締切.md": "本文です。\n",
      "bin/run": { content: "#!/bin/sh\n", mode: "100755" },
      "old.md": null,
    };
    const result = await publish(holding, { files, message: "公開する\n\n本文" }, "img/a.png");
    expect(result).toMatchObject({ outcome: "pushed", rebuilt: false });
    expect(await main()).toBe(result.commit);
    expect(String(await text("posts/締切.md"))).toBe("本文です。\n");
    expect([...((await text("img/a.png")) ?? [])]).toEqual([0, 1, 254, 255]);
    expect(String(await text("README.md"))).toBe("# a blog\n");
    expect(await text("old.md")).toBeUndefined();
    expect((await subjects())[0]).toBe("公開する\n\n本文");
    expect(await record()).toMatchObject({
      event: "pushed",
      token: 1,
      published: { "refs/heads/main": result.commit },
    });
    if (result.outcome !== "pushed") throw new Error("not pushed");
    expect(await call("release", [result.holding])).toEqual({ outcome: "released" });
    expect(await record()).toMatchObject({ state: "released", token: 1 });
  });

  test("a publish of text files takes five requests", async () => {
    const holding = await hold();
    github.requests.length = 0;
    await publish(holding, { files: { "a.md": "a", "b.md": "b", "c.md": "c" } });
    expect(operations()).toEqual([
      "repository",
      "git/create-tree",
      "git/create-commit",
      "git/create-commit",
      "updateRefs",
    ]);
  });

  test("one that was superseded is refused, and the branch is untouched", async () => {
    const holding = await hold();
    await takeOver();
    const result = await publish(holding);
    expect(result).toMatchObject({
      outcome: "superseded",
      why: expect.stringMatching(/token 1 of "blog" no longer holds the lease/),
    });
    expect(await main()).toBe(start);
    expect(await call("renew", [holding])).toMatchObject({ outcome: "superseded" });
    expect(await call("release", [holding])).toMatchObject({ outcome: "superseded" });
  });

  test("a takeover between its look and its write is refused by GitHub", async () => {
    const holding = await hold();
    github.faults.next({ operation: "updateRefs" }, { kind: "before", run: takeOver });
    expect(await publish(holding)).toMatchObject({ outcome: "superseded", commit: expect.any(String) });
    expect(await main()).toBe(start);
    expect(await record()).toMatchObject({ token: 2, event: "unlocked" });
  });

  test("twin: where the branch moves by itself, such a write comes through", async () => {
    const holding = await hold();
    const made = await github.repository().objects.read("refs/heads/main");
    const commit = await lateCommit();
    github.faults.next({ operation: "git/update-ref" }, { kind: "before", run: takeOver });
    expect(await call("checkThenWrite", [holding, commit])).toEqual({ outcome: "pushed" });
    expect(made?.oid).toBe(start);
    expect(await main()).toBe(commit);
    expect(await record()).toMatchObject({ token: 2 });
  });

  /** A commit on top of main that is on no branch yet. */
  async function lateCommit(): Promise<string> {
    const client = githubClient({
      token,
      apiUrl: github.apiUrl,
      graphqlUrl: github.graphqlUrl,
      userAgent: "x",
    });
    const tree = (await github.log("refs/heads/main"))[0]?.tree as string;
    const body = { owner: "octo", repo: "blog", message: "late", tree, parents: [start] };
    return (await client.request("POST /repos/{owner}/{repo}/git/commits", body)).data.sha;
  }

  test.each(["lost-reply", "lost-request"] as const)(
    "a write whose fate is unknown (%s) is settled by looking",
    async (kind) => {
      const holding = await hold();
      github.faults.next({ operation: "updateRefs" }, { kind });
      const result = await publish(holding);
      expect(result).toMatchObject({ outcome: "pushed" });
      expect(await subjects()).toEqual(["hello", expect.anything()]);
      expect(await main()).toBe(result.commit);
    },
  );

  test("an answer that does not echo its nonce is no success: it is looked at, and sent again", async () => {
    const holding = await hold();
    const body = { data: { updateRefs: { clientMutationId: null } } };
    github.faults.next({ operation: "updateRefs" }, { kind: "status", status: 200, when: "before", body });
    github.requests.length = 0;
    const result = await publish(holding);
    expect(result).toMatchObject({ outcome: "pushed" });
    expect(await main()).toBe(result.commit);
    expect(operations().filter((operation) => operation === "updateRefs")).toHaveLength(2);
  });

  test("a write that arrived and was built upon is known by the lease's chain", async () => {
    const holding = await hold();
    const store = elsewhere();
    github.faults.next({ operation: "updateRefs" }, { kind: "lost-reply" });
    github.faults.next(
      ({ fields }) => fields[0] === "repository",
      {
        kind: "before",
        async run() {
          await github.commit("main", { "b.md": "b" }, "somebody else");
          for (let token = 1; token <= 3; token += 2) {
            await unlock(store, { lease: "blog", token, by: "x", reason: "y" });
            await acquire(store, { lease: "blog" });
          }
        },
      },
      { nth: 2 },
    );
    expect(await publish(holding)).toMatchObject({ outcome: "pushed" });
    expect(await subjects()).toEqual(["somebody else", "hello", expect.anything()]);
  });

  test("a branch that moved: the files are laid over its new tip", async () => {
    const holding = await hold();
    const run = () => github.commit("main", { "b.md": "b\n" }, "somebody else");
    github.faults.next({ operation: "updateRefs" }, { kind: "before", run });
    expect(await publish(holding)).toMatchObject({ outcome: "pushed", rebuilt: true });
    expect(await subjects()).toEqual(["hello", "somebody else", expect.anything()]);
    expect(String(await text("b.md"))).toBe("b\n");
  });

  test("a branch that moved, where that is not wanted: nothing is done", async () => {
    const holding = await hold();
    const run = () => github.commit("main", { "b.md": "b\n" }, "somebody else");
    github.faults.next({ operation: "updateRefs" }, { kind: "before", run });
    expect(await publish(holding, { onMoved: "fail" })).toMatchObject({ outcome: "moved" });
    expect(await subjects()).toEqual(["somebody else", expect.anything()]);
    expect(await record()).toMatchObject({ event: "acquired", token: 1 });
  });

  test("a rule that refuses it: neither of the two moves, and what to do is said", async () => {
    const holding = await hold();
    github.protect({ ref: "refs/heads/main", rule: "GH013" });
    const result = await publish(holding);
    expect(result).toMatchObject({
      outcome: "refused",
      why: expect.stringMatching(/A rule of the repository may protect the branch/),
    });
    expect(await main()).toBe(start);
    expect(await record()).toMatchObject({ event: "acquired" });
  });

  test("what stays unknown is said to be so", async () => {
    const holding = await hold();
    github.faults.next(
      { operation: "updateRefs" },
      { kind: "status", status: 502, when: "before" },
      { times: 50 },
    );
    expect(await publish(holding, { attempts: 2 })).toMatchObject({
      outcome: "unavailable",
      why: expect.stringMatching(/HTTP 502/),
    });
    expect(await main()).toBe(start);
  });

  test("a branch that does not exist is made, and one that has it all is left alone", async () => {
    const holding = await hold();
    const made = await publish(holding, { branch: "site" });
    expect(made).toMatchObject({ outcome: "pushed" });
    expect((await github.log("refs/heads/site")).map(({ message }) => message.trim())).toEqual(["hello"]);
    const holder = made.outcome === "pushed" ? made.holding : holding;
    expect(await publish(holder, { branch: "site" })).toEqual({ outcome: "unchanged", commit: made.commit });
  });

  test.each([
    ["a path out of the repository", { files: { "../x": "" } }, "NameInvalid"],
    ["git's own folder", { files: { "a/.GIT/hooks/x": "" } }, "NameInvalid"],
    ["a record's branch", { branch: "fencepost/lease/blog" }, "NameInvalid"],
    ["nothing to publish", { files: undefined }, "TypeError"],
    ["no message", { message: " " }, "TypeError"],
    ["no files", { files: {} }, "TypeError"],
    ["a mode that git does not have", { files: { a: { content: "", mode: "100777" } } }, "TypeError"],
    ["text that is none", { files: { a: "\ud800" } }, null],
  ])("refuses %s before anything is written", async (_, request, threw) => {
    const holding = await hold();
    github.requests.length = 0;
    const result = await publish(holding, request);
    if (threw) expect(result).toMatchObject({ threw });
    else expect(result).not.toMatchObject({ outcome: "pushed" });
    expect(operations().filter((operation) => operation !== "repository")).toEqual([]);
    expect(await main()).toBe(start);
  });

  test("the example publishes on its cron trigger, and skips while another run holds the lease", async () => {
    const bindings = {
      GITHUB_TOKEN: token,
      REPOSITORY: "octo/blog",
      API_URL: github.apiUrl,
      GRAPHQL_URL: github.graphqlUrl,
    };
    const modules = [
      { type: "ESModule" as const, path: "worker.mjs", contents: file("examples/worker.mjs") },
      { type: "ESModule" as const, path: "fencepost", contents: file("dist/lib/index.js") },
    ];
    const example = new Miniflare({ modules, compatibilityDate: "2026-07-01", bindings });
    try {
      const { scheduled } = (await example.getWorker()) as unknown as {
        scheduled(trigger: { scheduledTime: Date; cron: string }): Promise<{ outcome: string }>;
      };
      expect(
        await scheduled({ scheduledTime: new Date("2026-12-01T07:00:00Z"), cron: "0 * * * *" }),
      ).toMatchObject({ outcome: "ok" });
      expect(await subjects()).toEqual(["Report of 2026-12-01T07", expect.anything()]);
      expect(String(await text("reports/2026-12-01T07.md"))).toMatch(/順調です。/);
      await acquire(elsewhere(), { lease: "hourly" });
      await scheduled({ scheduledTime: new Date("2026-12-01T08:00:00Z"), cron: "0 * * * *" });
      expect(await subjects()).toHaveLength(2);
    } finally {
      await example.dispose();
    }
  });
});
