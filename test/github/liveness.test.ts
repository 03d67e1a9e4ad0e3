// Whether a claim's run has finished, asked of the local GitHub, and its cancellation.
import { afterEach, beforeEach, expect, test } from "vitest";
import { githubClient } from "../../src/github/client.js";
import { cancelRun, type KnownRuns, runFinished } from "../../src/github/liveness.js";
import { type Github, startGithub } from "../support/github/server.js";

let github: Github;
const claim = { repository: "octo/blog", runId: "11", runAttempt: 1 };
beforeEach(async () => {
  github = await startGithub();
  await github.seed({ files: { "a.md": "" } });
  github.addRun({ id: 11 });
});
afterEach(async () => {
  await github.close();
  expect(github.violations).toEqual([]);
});
const client = (actions: "none" | "read" | "write" = "write") =>
  githubClient({
    token: github.token({ actions }),
    apiUrl: github.apiUrl,
    graphqlUrl: github.graphqlUrl,
    userAgent: "x",
  });

test("an attempt runs until it has completed, whatever its conclusion and whatever a later attempt does", async () => {
  expect(await runFinished(client(), claim)).toEqual({ state: "running" });
  github.finishRun(11, "cancelled");
  github.addRun({ id: 11 });
  expect(await runFinished(client(), claim)).toEqual({ state: "finished" });
  expect(await runFinished(client(), { ...claim, runAttempt: 2 })).toEqual({ state: "running" });
});

test("asking again is free while nothing changed, and not needed once it has finished", async () => {
  const known: KnownRuns = new Map();
  const ask = () => runFinished(client(), claim, { known });
  await ask();
  github.resetCounts();
  expect(await ask()).toEqual({ state: "running" });
  expect(github.counts()).toMatchObject({ rest: 1, counted: 0 });
  github.finishRun(11);
  expect(await ask()).toEqual({ state: "finished" });
  github.resetCounts();
  expect(await ask()).toEqual({ state: "finished" });
  expect(github.counts().rest).toBe(0);
});

test("what is not known is never called finished", async () => {
  const weak = await runFinished(client("none"), claim);
  expect(weak).toMatchObject({
    state: "unknown",
    reason: "permission",
    words: expect.stringContaining("actions: read"),
  });
  expect(await runFinished(client(), { ...claim, runId: "12" })).toMatchObject({ reason: "permission" });
  for (const fault of [
    { kind: "status", status: 502, when: "before" },
    { kind: "lost-reply" },
    { kind: "secondary-limit" },
  ] as const) {
    github.faults.next({ kind: "rest" }, fault);
    expect(await runFinished(client(), claim)).toMatchObject({ state: "unknown", reason: "unavailable" });
  }
  github.faults.next({ kind: "rest" }, { kind: "status", status: 200, when: "before", body: {} });
  expect(await runFinished(client(), claim)).toMatchObject({ state: "unknown", reason: "unavailable" });
});

test.each([
  {},
  { repository: "octo/blog" },
  { repository: "octo/blog", runId: "../../x" },
  { repository: "../blog", runId: "11" },
  { repository: "octo", runId: "11" },
])("a claim %o names no run, and nothing is asked", async (odd) => {
  expect(await runFinished(client(), odd)).toMatchObject({ state: "unknown", reason: "no-run" });
  expect(await cancelRun(client(), odd)).toMatchObject({ outcome: "failed", reason: "no-run" });
  expect(github.requests).toEqual([]);
});

test("a signal ends the question with its reason", async () => {
  await expect(
    runFinished(client(), claim, { signal: AbortSignal.abort(new Error("enough")) }),
  ).rejects.toThrow("enough");
});

test("a run is cancelled, found finished, or not to be cancelled", async () => {
  expect(await cancelRun(client("read"), claim)).toMatchObject({
    outcome: "failed",
    reason: "permission",
    words: expect.stringContaining("actions: write"),
  });
  expect(await cancelRun(client(), claim)).toEqual({ outcome: "requested" });
  expect(github.cancellations).toMatchObject([{ run: 11, force: false }]);
  github.finishRun(11);
  expect(await cancelRun(client(), claim)).toEqual({ outcome: "finished" });
});
