/** REST refs, commits and permissions of the local GitHub, against what is documented and reported of the real one. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rest } from "./client.js";
import { EMPTY_TREE } from "./objects.js";
import { type Github, startGithub } from "./server.js";

const REPO = "/repos/octo/blog";
let github: Github;
let token: string;
let main: string;

beforeEach(async () => {
  github = await startGithub();
  token = github.token({ contents: "write", label: "writer" });
  main = await github.seed({ files: { "a.md": "one\n" } });
});

afterEach(async () => {
  await github.close();
  expect(github.violations).toEqual([]);
});

const call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
  rest(github, token, method, REPO + path, body, headers);

const commit = async (parents: string[], message = "record", more: object = {}) =>
  (await call("POST", "/git/commits", { message, tree: EMPTY_TREE, parents, ...more })).body.sha as string;

describe("refs", () => {
  it("creates, reads, moves and deletes a ref in a namespace of its own", async () => {
    const one = await commit([]);
    const made = await call("POST", "/git/refs", { ref: "refs/fence/x", sha: one });
    expect(made.status).toBe(201);
    expect(made.body.object).toMatchObject({ sha: one, type: "commit" });
    expect((await call("GET", "/git/ref/fence/x")).body.object.sha).toBe(one);
    const two = await commit([one]);
    expect((await call("PATCH", "/git/refs/fence/x", { sha: two })).status).toBe(200);
    expect(await github.tip("refs/fence/x")).toBe(two);
    expect((await call("DELETE", "/git/refs/fence/x")).status).toBe(204);
    expect(await github.tip("refs/fence/x")).toBeNull();
  });

  it("refuses in the real one's words", async () => {
    const refusal = async (method: string, path: string, body?: unknown) => {
      const reply = await call(method, path, body);
      return `${reply.status} ${reply.body.message}`;
    };
    const sibling = await commit([]);
    expect(await refusal("POST", "/git/refs", { ref: "refs/heads/main", sha: main })).toBe(
      "422 Reference already exists",
    );
    expect(await refusal("POST", "/git/refs", { ref: "refs/heads/x", sha: "1".repeat(40) })).toBe(
      "422 Object does not exist",
    );
    expect(await refusal("PATCH", "/git/refs/heads/none", { sha: main })).toBe(
      "422 Reference does not exist",
    );
    expect(await refusal("PATCH", "/git/refs/refs/heads/main", { sha: main })).toBe(
      "422 Reference does not exist",
    );
    expect(await refusal("DELETE", "/git/refs/heads/none")).toBe("422 Reference does not exist");
    expect(await refusal("PATCH", "/git/refs/heads/main", { sha: sibling })).toBe(
      "422 Update is not a fast forward",
    );
    expect(await refusal("GET", "/git/ref/heads/none")).toBe("404 Not Found");
    expect(await refusal("PATCH", "/git/ref/heads/main", { sha: main })).toBe("404 Not Found");
    expect(await refusal("POST", "/git/refs", { ref: "refs/short", sha: main })).toMatch(/^422 /);
    expect(await refusal("PATCH", "/git/refs/heads/main", {})).toBe(
      `422 Invalid request.\n\n"sha" wasn't supplied.`,
    );
    expect(await github.tip("main")).toBe(main);
  });

  it("accepts the same sha, and anything by force", async () => {
    expect((await call("PATCH", "/git/refs/heads/main", { sha: main })).status).toBe(200);
    const other = await commit([]);
    expect((await call("PATCH", "/git/refs/heads/main", { sha: other, force: true })).status).toBe(200);
    expect(await github.tip("main")).toBe(other);
  });

  it("lists by prefix, not by folder", async () => {
    for (const name of ["pr/87", "pr/872", "pr/9"])
      await call("POST", "/git/refs", { ref: `refs/heads/${name}`, sha: main });
    const found = await call("GET", "/git/matching-refs/heads/pr/87");
    expect(found.body.map(({ ref }: { ref: string }) => ref)).toEqual([
      "refs/heads/pr/87",
      "refs/heads/pr/872",
    ]);
    expect((await call("GET", "/git/matching-refs/heads/none")).body).toEqual([]);
  });

  it("answers a lost race as it answers protection", async () => {
    const [one, two] = [await commit([main], "a"), await commit([main], "b")];
    github.faults.next(
      { operation: "git/update-ref" },
      { kind: "between", run: () => github.repository().force("main", one) },
    );
    const lost = await call("PATCH", "/git/refs/heads/main", { sha: two });
    expect([lost.status, lost.body.message]).toEqual([422, "Reference cannot be updated"]);
    expect(await github.tip("main")).toBe(one);
    github.protect({ ref: "refs/heads/main", rule: "GH006" });
    const refused = await call("PATCH", "/git/refs/heads/main", { sha: await commit([one]) });
    expect([refused.status, refused.body.message]).toEqual([422, "Reference cannot be updated"]);
  });

  it("can be made to overwrite what came between check and write", async () => {
    github.behaviour.patchIsAtomic = false;
    const [one, two] = [await commit([main], "a"), await commit([main], "b")];
    github.faults.next(
      { operation: "git/update-ref" },
      { kind: "between", run: () => github.repository().force("main", one) },
    );
    expect((await call("PATCH", "/git/refs/heads/main", { sha: two })).status).toBe(200);
  });

  it("lets one of several simultaneous siblings through", async () => {
    const siblings = await Promise.all(Array.from({ length: 6 }, (_, i) => commit([main], `sibling ${i}`)));
    const replies = await Promise.all(siblings.map((sha) => call("PATCH", "/git/refs/heads/main", { sha })));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(siblings).toContain(await github.tip("main"));
  });

  it("answers 409 while the repository is empty", async () => {
    await github.create("octo/empty");
    const reply = await rest(github, token, "GET", "/repos/octo/empty/git/ref/heads/main");
    expect([reply.status, reply.body.message]).toEqual([409, "Git Repository is empty."]);
  });

  it("answers 304 to a known ETag, free of charge", async () => {
    const first = await call("GET", "/git/ref/heads/main");
    const etag = first.headers.get("etag") ?? "";
    const before = first.headers.get("x-ratelimit-used");
    const again = await call("GET", "/git/ref/heads/main", undefined, { "if-none-match": etag });
    expect([again.status, again.headers.get("x-ratelimit-used")]).toEqual([304, before]);
    await github.commit("main", { "b.md": "" }, "more");
    expect((await call("GET", "/git/ref/heads/main", undefined, { "if-none-match": etag })).status).toBe(200);
    expect(github.requests.map(({ counted }) => counted)).toEqual([true, false, true]);
  });
});

describe("commits, blobs and trees", () => {
  it("stamps a commit with the server's time and signs it for a bot", async () => {
    github.clock.set("2026-03-01T10:00:00.900Z");
    github.clock.freeze();
    const reply = await call("POST", "/git/commits", { message: "m", tree: EMPTY_TREE, parents: [main] });
    expect(reply.status).toBe(201);
    expect(reply.body.committer).toEqual({
      name: "GitHub",
      email: "noreply@github.com",
      date: "2026-03-01T10:00:00Z",
    });
    expect(reply.body.verification).toMatchObject({ verified: true, reason: "valid" });
    expect(reply.headers.get("date")).toBe("Sun, 01 Mar 2026 10:00:00 GMT");
    expect((await call("GET", `/git/commits/${reply.body.sha}`)).body).toEqual(reply.body);
  });

  it("takes a caller's author and date, unsigned", async () => {
    const author = { name: "A", email: "a@b.c", date: "2020-01-02T03:04:05Z" };
    const reply = await call("POST", "/git/commits", { message: "m", tree: EMPTY_TREE, author });
    expect(reply.body).toMatchObject({
      author,
      committer: author,
      verification: { verified: false, reason: "unsigned" },
    });
  });

  it("makes identical commits identical", async () => {
    github.clock.freeze();
    const author = { name: "A", email: "a@b.c", date: "2020-01-02T03:04:05Z" };
    expect(await commit([main], "same", { author })).toBe(await commit([main], "same", { author }));
  });

  it("refuses unknown trees and parents, and an empty tree list", async () => {
    const none = "1".repeat(40);
    expect((await call("POST", "/git/commits", { message: "m", tree: none })).body.message).toBe(
      "Tree SHA does not exist",
    );
    expect(
      (await call("POST", "/git/commits", { message: "m", tree: EMPTY_TREE, parents: [none] })).status,
    ).toBe(422);
    const empty = await call("POST", "/git/trees", { tree: [] });
    expect([empty.status, empty.body.message]).toEqual([422, "Invalid tree info"]);
    github.behaviour.emptyTree = "unknown";
    expect((await call("POST", "/git/commits", { message: "m", tree: EMPTY_TREE })).status).toBe(422);
  });

  it("writes blobs and trees and reads them back", async () => {
    const blob = (await call("POST", "/git/blobs", { content: "aGk=", encoding: "base64" })).body.sha;
    const tree = await call("POST", "/git/trees", {
      base_tree: main,
      tree: [
        { path: "dir/b.md", mode: "100644", type: "blob", sha: blob },
        { path: "c.md", mode: "100644", type: "blob", content: "see\n" },
        { path: "a.md", mode: "100644", type: "blob", sha: null },
      ],
    });
    expect(tree.status).toBe(201);
    const all = await call("GET", `/git/trees/${tree.body.sha}?recursive=1`);
    const paths = all.body.tree.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(["c.md", "dir", "dir/b.md"]);
    expect((await call("GET", `/git/blobs/${blob}`)).body).toMatchObject({ content: "aGk=\n", size: 2 });
  });

  it("shows branches and contents", async () => {
    const branch = await call("GET", "/branches/main");
    expect([branch.status, branch.body.commit.sha, branch.body.protected]).toEqual([200, main, false]);
    const file = await call("GET", "/contents/a.md?ref=main");
    expect(Buffer.from(file.body.content, "base64").toString()).toBe("one\n");
    expect((await call("GET", "/contents/none.md")).status).toBe(404);
    expect((await call("GET", "")).body).toMatchObject({ default_branch: "main", private: true });
  });
});

describe("who may", () => {
  it("tells unknown, expired, too weak and blind tokens apart", async () => {
    const status = async (secret: string | null, method: string, path: string, body?: unknown) => {
      const reply = await rest(github, secret, method, path, body);
      return `${reply.status} ${reply.body?.message ?? ""}`;
    };
    const update = { sha: main };
    expect(await status("ghs_nonsense", "GET", REPO)).toBe("401 Bad credentials");
    const old = github.token({ contents: "write" });
    github.tokens.expire(old);
    expect(await status(old, "GET", REPO)).toBe("401 Bad credentials");
    const reader = github.token({ contents: "read" });
    expect(await status(reader, "PATCH", `${REPO}/git/refs/heads/main`, update)).toBe(
      "403 Resource not accessible by integration",
    );
    const elsewhere = github.token({ contents: "write", repositories: ["octo/other"] });
    expect(await status(elsewhere, "GET", REPO)).toBe("404 Not Found");
    expect(await status(null, "GET", REPO)).toBe("404 Not Found");
    const fork = github.token({ contents: "write", kind: "fork" });
    expect(await status(fork, "PATCH", `${REPO}/git/refs/heads/main`, update)).toMatch(/^403/);
    const reply = await rest(github, reader, "POST", `${REPO}/git/refs`, { ref: "refs/heads/x", sha: main });
    expect(reply.headers.get("x-accepted-github-permissions")).toContain("contents=write");
  });

  it("shows a public repository to everyone, and lets no stranger write", async () => {
    await github.create("octo/open", { private: false });
    await github.repository("octo/open").seed({ files: { "a.md": "" } });
    const path = "/repos/octo/open/git/ref/heads/main";
    expect((await rest(github, null, "GET", path)).status).toBe(200);
    const stranger = github.token({ contents: "write", repositories: ["octo/blog"] });
    expect((await rest(github, stranger, "GET", path)).status).toBe(200);
    const body = { ref: "refs/heads/x", sha: main };
    expect((await rest(github, stranger, "POST", "/repos/octo/open/git/refs", body)).status).toBe(403);
    expect((await rest(github, null, "POST", "/repos/octo/open/git/refs", body)).status).toBe(401);
  });

  it("keeps workflow files from tokens without that permission", async () => {
    const tree = await call("POST", "/git/trees", {
      tree: [{ path: ".github/workflows/x.yml", mode: "100644", type: "blob", content: "on: push\n" }],
    });
    const sha = (await call("POST", "/git/commits", { message: "m", tree: tree.body.sha, parents: [main] }))
      .body.sha;
    expect((await call("PATCH", "/git/refs/heads/main", { sha })).status).toBe(403);
    const app = github.token({ contents: "write", workflows: "write", kind: "app" });
    expect((await rest(github, app, "PATCH", `${REPO}/git/refs/heads/main`, { sha })).status).toBe(200);
    // What a branch has already may be pointed at.
    expect((await call("POST", "/git/refs", { ref: "refs/heads/copy", sha })).status).toBe(201);
    expect(() => github.token({ workflows: "write" })).toThrow("Unexpected value 'workflows'");
  });

  it("lets rulesets refuse, and only apps and people bypass", async () => {
    github.protect({ ref: "refs/heads/main", rule: "GH013", bypass: ["app"] });
    const sha = await commit([main]);
    const refused = await call("PATCH", "/git/refs/heads/main", { sha });
    expect(refused.status).toBe(422);
    expect(refused.body.message).toBe(
      "Repository rule violations found\n\nChanges must be made through a pull request.\n\n",
    );
    const app = github.token({ contents: "write", kind: "app" });
    expect((await rest(github, app, "PATCH", `${REPO}/git/refs/heads/main`, { sha })).status).toBe(200);
    expect((await call("GET", "/rulesets")).body).toHaveLength(1);
    expect((await call("GET", "/rules/branches/main")).body[0].type).toBe("pull_request");
    expect(() => github.protect({ ref: "~ALL", rule: "GH013", bypass: ["GITHUB_TOKEN"] })).toThrow();
  });
});
