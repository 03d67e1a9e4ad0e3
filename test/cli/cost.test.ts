// What a run costs is counted, so that nothing is asked twice by accident.
import { afterAll, beforeAll, expect, it } from "vitest";
import { costs } from "../../bench/bench.js";
import { type GitServer, gitServer } from "../support/git-server.js";
import { type Sandbox, sandbox } from "../support/sandbox.js";

let box: Sandbox;
let server: GitServer;
beforeAll(async () => {
  box = sandbox();
  server = await gitServer({ root: box.folder, env: box.env });
});
afterAll(async () => {
  await server.close();
  box.dispose();
});

it("each step takes the git processes and HTTP requests that it needs, and no more", async () => {
  const clone = box.clone("a");
  box.git(clone, "remote", "set-url", "origin", `${server.url}/origin.git`);
  expect(Object.fromEntries(await costs(box, server, clone))).toEqual({
    "acquire and release, the first time ever": { processes: 12, requests: 8 },
    "acquire and release": { processes: 12, requests: 7 },
    "renew, in a process of its own, with its start": { processes: 9, requests: 8 },
    "fenced push, checked against the remote": { processes: 17, requests: 13 },
    skip: { processes: 10, requests: 5 },
  });
});
