// The stand-in for actions/checkout: what is fetched, and where credentials are kept and removed.
import { expect, test } from "vitest";
import { oneJob, repositoryWith, serveGit } from "./fixtures.js";
import { runWorkflow, stepOf } from "./index.js";

test("checks out the event's commit, shallow, with credentials in an included file until post", async () => {
  const { path, oids } = await repositoryWith("one", "two", "three");
  const yaml = oneJob(`
- { id: checkout, uses: actions/checkout@v7 }
- id: look
  run: |
    git config --local --get http.http://127.0.0.1:9/.extraheader || echo "not in the local config"
    git config --includes --get http.http://127.0.0.1:9/.extraheader
    ls $RUNNER_TEMP/git-credentials-*.config
    git rev-list --count HEAD
    cat file; echo; git rev-parse --abbrev-ref HEAD; git rev-parse HEAD`);
  const result = (
    await runWorkflow({
      yaml,
      repository: path,
      github: { sha: oids[1] ?? "", server_url: "http://127.0.0.1:9" },
    }).done
  ).job("build");
  expect(result.conclusion).toBe("success");
  const log = stepOf(result, "look").log;
  expect(log).toContain("not in the local config");
  expect(log).toContain("AUTHORIZATION: basic ***");
  expect(log.slice(-4)).toEqual(["1", "two", "main", oids[1]]);
  expect(stepOf(result, "checkout", "post").log.filter((line) => line.includes("--unset-all"))).toHaveLength(
    4,
  );
});

test("post removes the credentials, and a local action can be used from the clone", async () => {
  const { path } = await repositoryWith("one");
  const yaml = oneJob(`
- { uses: actions/checkout@v6, with: { path: sub, persist-credentials: false, fetch-depth: 0 } }
- { id: look, run: "git -C sub config --includes --get-regexp 'extraheader|includeif' || echo none; ls $RUNNER_TEMP | grep credentials || echo none" }
- { uses: ./sub/missing }`);
  const result = (await runWorkflow({ yaml, repository: path }).done).job("build");
  expect(stepOf(result, "look").log.slice(-2)).toEqual(["none", "none"]);
  expect(result.steps.find((step) => step.name === "Run ./sub/missing")?.annotations[0]?.message).toContain(
    "Did you forget to run actions/checkout",
  );
});

test("a branch, and a commit, can be asked for", async () => {
  const { path, oids } = await repositoryWith("one", "two");
  const yaml = oneJob(`
- { uses: actions/checkout@v6, with: { ref: main } }
- { id: branch, run: "git symbolic-ref --short HEAD; git rev-parse HEAD" }
- { uses: actions/checkout@v6, with: { ref: "${oids[0]}" } }
- { id: commit, run: "git rev-parse HEAD" }`);
  const result = (await runWorkflow({ yaml, repository: path }).done).job("build");
  expect(stepOf(result, "branch").log.slice(-2)).toEqual(["main", oids[1]]);
  expect(stepOf(result, "commit").log.at(-1)).toBe(oids[0]);
});

test("over HTTP the job's token opens the repository, for checkout and then for the steps", async () => {
  const { path, oids } = await repositoryWith("one", "two");
  const server = await serveGit(path, "the-token");
  const yaml = oneJob(`
- { uses: actions/checkout@v6 }
- { id: with, run: "git ls-remote origin refs/heads/main" }
- { id: without, run: "cd / && GIT_TERMINAL_PROMPT=0 git ls-remote ${server}/octo/blog", continue-on-error: true }`);
  const run = runWorkflow({
    yaml,
    repository: `${server}/octo/blog`,
    github: { server_url: server },
    mintToken: () => "the-token",
  });
  const result = (await run.done).job("build");
  expect(stepOf(result, "with").log.at(-1)).toContain(oids[1]);
  expect(stepOf(result, "without").outcome).toBe("failure");
});
