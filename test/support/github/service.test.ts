/** Runs, dispatches, issues, limits, faults and the log of the local GitHub. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { graphql, rest } from "./client.js";
import { answerFault, operation } from "./rest/description.js";
import { type Github, startGithub } from "./server.js";

const REPO = "/repos/octo/blog";
let github: Github;
let token: string;
let main: string;

beforeEach(async () => {
  github = await startGithub();
  token = github.token({ contents: "write", actions: "write", issues: "write", label: "all" });
  main = await github.seed({
    files: {
      ".github/workflows/go.yml": "name: Go\non: workflow_dispatch\n",
      ".github/workflows/ci.yml": "on: push\n",
    },
  });
});

afterEach(async () => {
  await github.close();
  expect(github.violations).toEqual([]);
});

const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  rest(github, token, method, path.startsWith("/rate") ? path : REPO + path, body, headers);

describe("runs", () => {
  it("show their newest and their earlier attempts", async () => {
    github.addRun({ id: 11, conclusion: "failure", status: "completed" });
    github.addRun({ id: 11 });
    expect((await call("GET", "/actions/runs/11")).body).toMatchObject({
      run_attempt: 2,
      status: "in_progress",
      conclusion: null,
    });
    expect((await call("GET", "/actions/runs/11/attempts/1")).body).toMatchObject({
      status: "completed",
      conclusion: "failure",
    });
    expect((await call("GET", "/actions/runs/12")).status).toBe(404);
    github.finishRun(11, "cancelled");
    expect((await call("GET", "/actions/runs/11")).body.conclusion).toBe("cancelled");
  });

  it("are cancelled once, while they run", async () => {
    github.addRun({ id: 11 });
    expect((await call("POST", "/actions/runs/11/cancel")).status).toBe(202);
    github.finishRun(11, "cancelled");
    expect((await call("POST", "/actions/runs/11/cancel")).status).toBe(409);
    expect(github.cancellations).toMatchObject([{ run: 11, force: false, token: "all" }]);
  });

  it("are dispatched by file name or number, with or without their id", async () => {
    expect(
      (await call("POST", "/actions/workflows/go.yml/dispatches", { ref: "main", inputs: { draft: "a.md" } }))
        .status,
    ).toBe(204);
    const { workflows } = (await call("GET", "/actions/workflows")).body;
    const { id } = workflows.find(({ name }: { name: string }) => name === "Go");
    const detailed = await call("POST", `/actions/workflows/${id}/dispatches`, {
      ref: "main",
      return_run_details: true,
    });
    expect(detailed.status).toBe(200);
    expect((await call("GET", `/actions/runs/${detailed.body.workflow_run_id}`)).body.status).toBe("queued");
    const byVersion = await call(
      "POST",
      "/actions/workflows/go.yml/dispatches",
      { ref: "main" },
      { "x-github-api-version": "2026-03-10" },
    );
    expect(byVersion.status).toBe(200);
    expect(github.dispatches).toHaveLength(3);
    expect(github.dispatches[0]).toMatchObject({
      workflow: ".github/workflows/go.yml",
      ref: "main",
      inputs: { draft: "a.md" },
    });
  });

  it("are not dispatched against the rules", async () => {
    const refused = async (workflow: string, body: object) =>
      (await call("POST", `/actions/workflows/${workflow}/dispatches`, body)).status;
    const many = Object.fromEntries(Array.from({ length: 26 }, (_, i) => [`i${i}`, "x"]));
    expect(await refused("none.yml", { ref: "main" })).toBe(404);
    expect(await refused("ci.yml", { ref: "main" })).toBe(422);
    expect(await refused("go.yml", { ref: "none" })).toBe(422);
    expect(await refused("go.yml", { ref: "main", inputs: many })).toBe(422);
    const weak = github.token({ contents: "write", actions: "read" });
    const reply = await rest(github, weak, "POST", `${REPO}/actions/workflows/go.yml/dispatches`, {
      ref: "main",
    });
    expect([reply.status, reply.headers.get("x-accepted-github-permissions")]).toEqual([
      403,
      "actions=write",
    ]);
    expect(github.dispatches).toEqual([]);
  });

  it("keep to the narrower limits of GHES", async () => {
    const ghes = await startGithub({ server: "ghes" });
    await ghes.seed({ files: { ".github/workflows/go.yml": "on: workflow_dispatch\n" } });
    const own = ghes.token({ actions: "write" });
    const dispatch = (body: object) =>
      rest(ghes, own, "POST", `${REPO}/actions/workflows/go.yml/dispatches`, body);
    const details = await dispatch({ ref: "main", return_run_details: true });
    expect([details.status, details.headers.get("x-ratelimit-limit")]).toEqual([204, null]);
    const eleven = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`i${i}`, "x"]));
    expect((await dispatch({ ref: "main", inputs: eleven })).status).toBe(422);
    expect(ghes.counts()).toMatchObject({ rest: 2, counted: 0 });
    expect(ghes.violations).toEqual([]);
    await ghes.close();
  });
});

describe("issues", () => {
  it("are created, found, commented on and closed", async () => {
    const made = await call("POST", "/issues", {
      title: "Dead letter",
      body: "see",
      labels: ["fencepost", "bug"],
    });
    expect(made.status).toBe(201);
    await call("POST", "/issues", { title: "Other" });
    const found = await call("GET", "/issues?labels=fencepost&state=open&creator=github-actions[bot]");
    expect(found.body.map(({ number }: { number: number }) => number)).toEqual([1]);
    expect((await call("POST", "/issues/1/comments", { body: "again" })).status).toBe(201);
    const closed = await call("PATCH", "/issues/1", { state: "closed" });
    expect(closed.body).toMatchObject({ state: "closed", state_reason: "completed", comments: 1 });
    expect((await call("GET", "/issues?labels=fencepost")).body).toEqual([]);
    expect((await call("GET", "/issues?state=all&per_page=1")).headers.get("link")).toContain('rel="next"');
    expect((await call("POST", "/issues", { body: "no title" })).status).toBe(422);
  });
});

describe("limits", () => {
  it("count per repository, separately for REST and GraphQL, until the hour is over", async () => {
    const other = github.token({ contents: "read" });
    await call("GET", "/git/ref/heads/main");
    const second = await rest(github, other, "GET", `${REPO}/git/ref/heads/main`);
    expect([second.headers.get("x-ratelimit-limit"), second.headers.get("x-ratelimit-remaining")]).toEqual([
      "1000",
      "998",
    ]);
    const points = await graphql(github, token, "{ viewer { login } }");
    expect([points.headers.get("x-ratelimit-resource"), points.headers.get("x-ratelimit-remaining")]).toEqual(
      ["graphql", "999"],
    );
    expect((await call("GET", "/rate_limit")).body.resources.core.remaining).toBe(998);
    github.clock.advance(3_601_000);
    expect((await call("GET", "/git/ref/heads/main")).headers.get("x-ratelimit-remaining")).toBe("999");
  });

  it("refuse when used up", async () => {
    await call("GET", "/git/ref/heads/main");
    github.leave(token, "core", 0);
    github.leave(token, "graphql", 0);
    const over = await call("GET", "/git/ref/heads/main");
    expect([over.status, over.headers.get("x-ratelimit-remaining")]).toEqual([403, "0"]);
    const points = await graphql(github, token, "{ viewer { login } }");
    expect([points.status, points.body.errors[0].type]).toEqual([200, "RATE_LIMITED"]);
    expect((await call("GET", "/rate_limit")).status).toBe(200);
  });

  it("come in a secondary kind", async () => {
    github.faults.next({ operation: "git/get-ref" }, { kind: "secondary-limit", retryAfter: 7 });
    const reply = await call("GET", "/git/ref/heads/main");
    expect([reply.status, reply.headers.get("retry-after")]).toEqual([403, "7"]);
    expect(reply.body.message).toContain("secondary rate limit");
    expect((await call("GET", "/git/ref/heads/main")).status).toBe(200);
  });
});

describe("faults", () => {
  const REFS = "mutation($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }";
  const move = async (name: string) => {
    const { id } = (await graphql(github, token, '{ repository(owner: "octo", name: "blog") { id } }')).body
      .data.repository;
    return graphql(github, token, REFS, {
      input: { repositoryId: id, refUpdates: [{ name, afterOid: main }] },
    });
  };

  it("give the generic error before or after the write", async () => {
    github.faults.next({ operation: "updateRefs" }, { kind: "graphql-error", when: "before" });
    expect((await move("refs/heads/x")).body.data).toBeNull();
    expect(await github.tip("x")).toBeNull();
    github.faults.next({ operation: "updateRefs" }, { kind: "graphql-error", when: "after" });
    github.behaviour.genericErrorData = "field";
    expect((await move("refs/heads/x")).body.data).toEqual({ updateRefs: null });
    expect(await github.tip("x")).toBe(main);
  });

  it("lose replies, requests and the n-th request only", async () => {
    const create = (name: string) => call("POST", "/git/refs", { ref: `refs/heads/${name}`, sha: main });
    github.faults.next({ operation: "git/create-ref" }, { kind: "lost-reply" }, { nth: 2 });
    expect((await create("a")).status).toBe(201);
    await expect(create("b")).rejects.toThrow();
    expect(await github.tip("b")).toBe(main);
    github.faults.next({ operation: "git/create-ref" }, { kind: "lost-request" });
    await expect(create("c")).rejects.toThrow();
    expect(await github.tip("c")).toBeNull();
    github.faults.next(
      { operation: "git/create-ref" },
      { kind: "status", status: 504, when: "after" },
      { times: 2 },
    );
    const answers = [await call("POST", "/git/refs", { ref: "refs/heads/d", sha: main }).catch(() => null)];
    expect(answers[0]?.status ?? 504).toBe(504);
    expect(await github.tip("d")).toBe(main);
    expect(github.faults.pending).toBe(1);
    expect(github.requests.filter(({ delivered }) => !delivered)).toHaveLength(2);
  });

  it("show the state before the last change", async () => {
    const next = await github.commit("main", { "b.md": "" }, "next");
    const read = async () => (await call("GET", "/git/ref/heads/main")).body.object.sha;
    github.faults.next({ operation: "git/get-ref" }, { kind: "stale" });
    expect([await read(), await read()]).toEqual([main, next]);
    await github.repository().force("x", main);
    github.faults.next({ operation: "git/get-ref" }, { kind: "stale", refs: ["refs/heads/x"] });
    expect((await call("GET", "/git/ref/heads/x")).status).toBe(404);
    const query =
      '{ repository(owner: "octo", name: "blog") { ref(qualifiedName: "refs/heads/main") { target { oid } } } }';
    github.faults.next({ kind: "graphql" }, { kind: "stale" });
    expect((await graphql(github, token, query)).body.data.repository.ref.target.oid).toBe(main);
  });

  it("hold a request and its reply", async () => {
    const asked = github.faults.hold({ operation: "git/create-ref" });
    const first = call("POST", "/git/refs", { ref: "refs/heads/a", sha: main });
    await asked.reached;
    expect(await github.tip("a")).toBeNull();
    asked.release();
    expect((await first).status).toBe(201);
    const replied = github.faults.hold({ operation: "git/create-ref" }, "after");
    const second = call("POST", "/git/refs", { ref: "refs/heads/b", sha: main });
    await replied.reached;
    expect(await github.tip("b")).toBe(main);
    replied.release();
    expect((await second).status).toBe(201);
  });
});

describe("the log and the description", () => {
  it("names requests and never holds a token", async () => {
    await call("GET", "/git/ref/heads/main");
    await graphql(github, token, "query Who { viewer { login } }");
    expect(github.requests).toMatchObject([
      {
        kind: "rest",
        operation: "git/get-ref",
        path: `${REPO}/git/ref/heads/main`,
        status: 200,
        token: "all",
        counted: true,
      },
      {
        kind: "graphql",
        operation: "query",
        operationName: "Who",
        fields: ["viewer"],
        status: 200,
        counted: true,
      },
    ]);
    expect(JSON.stringify(github.requests)).not.toContain(token);
    github.resetCounts();
    expect(github.counts()).toEqual({ rest: 0, graphql: 0, git: 0, counted: 0 });
  });

  it("finds fault with answers that GitHub does not describe", () => {
    const get = operation("GET", "/repos/{owner}/{repo}/git/ref/{ref}");
    expect(answerFault(get, 200, { ref: "refs/heads/x" })).toContain("node_id");
    expect(answerFault(get, 202, {})).not.toBeNull();
    expect(answerFault(get, 404, { message: "Not Found" })).toBeNull();
  });

  it("says loudly what it lacks and GitHub has", async () => {
    expect((await call("GET", "/nonsense")).status).toBe(404);
    expect((await call("GET", "/milestones")).status).toBe(501);
    const query = '{ repository(owner: "octo", name: "blog") { stargazerCount } }';
    expect((await graphql(github, token, query)).body.errors).toHaveLength(1);
    expect(github.violations.splice(0)).toEqual([
      "the local GitHub has no GET /repos/octo/blog/milestones",
      "the local GitHub has no Repository.stargazerCount",
    ]);
  });

  it("answers a read within a few milliseconds", async () => {
    await call("GET", "/git/ref/heads/main");
    const from = performance.now();
    for (let i = 0; i < 20; i++) await call("GET", "/git/ref/heads/main");
    expect((performance.now() - from) / 20).toBeLessThan(50);
  });
});
