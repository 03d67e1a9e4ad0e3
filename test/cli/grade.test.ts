// `fencepost doctor` on a store that is a repository on GitHub: it says how firmly the branch is closed.
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Github, startGithub } from "../support/github/server.js";
import { type Sandbox, sandbox } from "../support/sandbox.js";

let box: Sandbox;
let github: Github;
beforeEach(async () => {
  box = sandbox();
  github = await startGithub({ private: false });
  await github.seed({ files: { "a.md": "" } });
});
afterEach(async () => {
  await github.close();
  box.dispose();
  expect(github.violations).toEqual([]);
});

const doctor = (token: string, ...args: string[]) =>
  box.cli(["doctor", "--store", github.cloneUrl(), ...args], {
    env: {
      GITHUB_TOKEN: token,
      GITHUB_SERVER_URL: github.url,
      GITHUB_API_URL: github.apiUrl,
      GITHUB_GRAPHQL_URL: github.graphqlUrl,
    },
  });
const admin = () => github.token({ kind: "pat", contents: "write", administration: "write" });

test("an open branch is said to be open, and that alone is no finding", async () => {
  const ended = await doctor("");
  expect(ended.stdout).toMatch(/^open {2}refs\/heads\/main: no ruleset restricts updates.*docs\/gate\.md/m);
  expect(ended.code).toBe(0);
});

test("a branch that one app alone may move is closed", async () => {
  github.protect({ ref: "refs/heads/main", rule: "GH013", types: ["update", "deletion"], bypass: ["app"] });
  const ended = await doctor(admin(), "--json");
  const { grade, findings } = JSON.parse(ended.stdout);
  expect(grade).toMatchObject({ branch: "refs/heads/main", grade: "closed" });
  expect(findings).toEqual([]);
  expect(JSON.parse((await doctor(admin(), "--branch", "drafts", "--json")).stdout).grade.grade).toBe("open");
});

test("a ruleset that covers the leases is a finding with what to do", async () => {
  github.protect({ ref: "~ALL", rule: "GH013" });
  const ended = await doctor(admin());
  expect(ended.stdout).toMatch(
    /^rules {2}.*pull request.*GITHUB_TOKEN can never bypass it\. Exclude fencepost\/\*\*\/\*/m,
  );
  expect(ended.code).toBe(1);
});

test("what cannot be read is unknown and fails nothing", async () => {
  github.faults.next({ kind: "rest" }, { kind: "status", status: 502, when: "before" }, { times: 2 });
  const ended = await doctor(admin());
  expect(ended.stdout).toMatch(/^unknown {2}.*could not be read \(HTTP 502/m);
  expect(ended.code).toBe(0);
});

test("a store elsewhere has no grade, and its token goes nowhere", async () => {
  const ended = await box.cli(["doctor", "--store", box.origin, "--json"], {
    env: { GITHUB_TOKEN: "secret", GITHUB_API_URL: github.apiUrl },
  });
  expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "well", grade: null });
  expect(github.requests.filter(({ kind }) => kind === "rest")).toEqual([]);
});
