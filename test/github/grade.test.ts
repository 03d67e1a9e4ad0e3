// The grade of a branch, by its rules on the local GitHub and by rules as values.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { githubClient } from "../../src/github/client.js";
import { type BranchRules, gradeBranch, readGrade } from "../../src/github/grade.js";
import { type Github, startGithub } from "../support/github/server.js";

describe("on GitHub", () => {
  let github: Github;
  beforeEach(async () => {
    github = await startGithub({ repositories: ["octo/blog"] });
    await github.seed({ files: { "a.md": "" } });
  });
  afterEach(async () => {
    await github.close();
    expect(github.violations).toEqual([]);
  });
  const grade = (administration: "none" | "read" | "write" = "write", branch = "main") => {
    const token = github.token({ kind: "pat", contents: "read", administration });
    const { apiUrl, graphqlUrl } = github;
    const client = githubClient({ token, apiUrl, graphqlUrl, userAgent: "x" });
    return readGrade(client, "octo/blog", branch, "fencepost/lease/blog");
  };
  const restrict = (options: object = {}) =>
    github.protect({
      ref: "refs/heads/main",
      rule: "GH013",
      types: ["update", "deletion"],
      bypass: ["app"],
      ...options,
    });

  test("a branch without rules is open, and says what closes it", async () => {
    const found = await grade();
    expect(found.grade).toBe("open");
    expect(found.advice.join(" ")).toMatch(/"Restrict updates"/);
    expect(found.obstacles).toEqual([]);
  });

  test("one app that alone may bypass closes it", async () => {
    restrict();
    expect(await grade()).toMatchObject({
      grade: "closed",
      reasons: [expect.stringMatching(/the app 7654321 alone/)],
    });
  });

  test("without an admin's token the bypass list is not shown, and nothing is assumed", async () => {
    restrict();
    expect(await grade("read")).toMatchObject({
      grade: "partial",
      reasons: [expect.stringMatching(/admins only/)],
    });
  });

  test("people on the bypass list leave it partial", async () => {
    restrict({ bypass: ["app", "pat"] });
    expect(await grade()).toMatchObject({
      grade: "partial",
      reasons: [expect.stringMatching(/2 may bypass it/)],
    });
  });

  test("a branch that may be deleted is not closed", async () => {
    restrict({ types: ["update"] });
    expect(await grade()).toMatchObject({
      grade: "partial",
      reasons: [expect.anything(), expect.stringMatching(/deleted/)],
    });
  });

  test("a deploy key closes it while it is the only one that can write", async () => {
    restrict({ bypass: [], actors: [{ actor_id: null, actor_type: "DeployKey", bypass_mode: "always" }] });
    const { deployKeys } = github.repository().protection;
    deployKeys.push({ title: "publisher", readOnly: false }, { title: "mirror", readOnly: true });
    expect((await grade()).grade).toBe("closed");
    deployKeys.push({ title: "old machine", readOnly: false });
    expect(await grade()).toMatchObject({
      grade: "partial",
      reasons: [expect.stringMatching(/2 deploy keys/)],
    });
  });

  test("classic protection that restricts pushes is partial, and unseen it is not called absent", async () => {
    github.protect({ ref: "refs/heads/main", rule: "GH006", types: ["update"] });
    expect((await grade()).grade).toBe("partial");
    const unseen = await grade("none");
    expect(unseen).toMatchObject({ grade: "open" });
    expect(unseen.reasons.join(" ")).toMatch(/classic branch protection is shown to admins only/);
  });

  test("rules that cover the leases are an obstacle", async () => {
    github.protect({ ref: "~ALL", rule: "GH013" });
    github.protect({ ref: "refs/heads/fencepost/*", rule: "GH013", types: ["update"], bypass: ["app"] });
    expect((await grade()).obstacles).toEqual([
      expect.stringMatching(/pull request.* covers the branches of the leases/),
    ]);
  });

  test("a repository that cannot be seen has no grade", async () => {
    const { apiUrl, graphqlUrl } = github;
    const client = githubClient({ token: "", apiUrl, graphqlUrl, userAgent: "x" });
    expect(await readGrade(client, "octo/blog", "main", "x")).toMatchObject({ grade: "unknown" });
  });
});

describe("by rules as values", () => {
  const app = { actor_id: 1, actor_type: "Integration", bypass_mode: "always" };
  const admins = { actor_id: 5, actor_type: "RepositoryRole", bypass_mode: "always" };
  const rules = (change: Partial<BranchRules>): BranchRules => ({
    rules: [
      { type: "update", ruleset_id: 1 },
      { type: "deletion", ruleset_id: 1 },
    ],
    recordRules: [{ type: "deletion", ruleset_id: 1 }],
    rulesets: new Map([[1, { name: "main", actors: [app] }]]),
    deployKeys: null,
    classic: null,
    ...change,
  });
  const two = (a: (typeof app)[] | null, b: (typeof app)[] | null) =>
    rules({
      rules: [1, 2].flatMap((ruleset_id) => ["update", "deletion"].map((type) => ({ type, ruleset_id }))),
      rulesets: new Map([
        [1, { name: "main", actors: a }],
        [2, { name: "organisation", actors: b }],
      ]),
    });

  const deletable = (actors: (typeof app)[] | null) =>
    rules({
      rules: ["update", "deletion"].map((type, i) => ({ type, ruleset_id: i + 1 })),
      rulesets: new Map([
        [1, { name: "main", actors: [app] }],
        [2, { name: "deletions", actors }],
      ]),
    });

  const cases: [string, BranchRules, string][] = [
    ["one app", rules({}), "closed"],
    ["of two rulesets, only who bypasses both counts", two([app, admins], [app]), "closed"],
    ["of two rulesets, one whose list is hidden narrows no more", two([app], null), "closed"],
    ["two hidden lists", two(null, null), "partial"],
    ["others may delete it, by a ruleset of its own", deletable([admins]), "partial"],
    ["who may delete it is not shown", deletable(null), "partial"],
    ["nobody may delete it", deletable([]), "closed"],
    ["the same app may delete it", deletable([app]), "closed"],
    [
      "an app by pull request only",
      rules({ rulesets: new Map([[1, { name: "m", actors: [{ ...app, bypass_mode: "pull_request" }] }]]) }),
      "partial",
    ],
    ["people alone", rules({ rulesets: new Map([[1, { name: "m", actors: [admins] }]]) }), "partial"],
    ["nobody", rules({ rulesets: new Map([[1, { name: "m", actors: [] }]]) }), "partial"],
    ["a ruleset that could not be read", rules({ rulesets: new Map() }), "partial"],
  ];
  test.each(cases)("%s", (_, found, grade) => {
    expect(gradeBranch(found).grade).toBe(grade);
  });

  test("a branch that nobody can push to is an obstacle", () => {
    const found = rules({ rulesets: new Map([[1, { name: "m", actors: [] }]]) });
    expect(gradeBranch(found).obstacles).toEqual([expect.stringMatching(/lets nobody bypass it/)]);
  });

  test("leases that anybody may delete are worth a word", () => {
    expect(gradeBranch(rules({})).advice).toEqual([]);
    expect(gradeBranch(rules({ recordRules: [] })).advice).toEqual([
      expect.stringMatching(/Restrict deletions.*leases/),
    ]);
  });
});
