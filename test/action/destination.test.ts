// A job that publishes to another repository than its lease's: sealed in the main step, fenced in the push.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fenceRecordName } from "../../src/protocol/fence.js";
import { refOf } from "../../src/protocol/names.js";
import { draftRef, post } from "../support/blog.js";
import { type Hub, hub } from "../support/hub.js";
import { stepOf } from "../support/runner/index.js";

let on: Hub;
let folder: string;
const path = "posts/draft.md";
beforeEach(async () => {
  on = await hub({ repositories: ["octo/blog", "octo/site"] });
  await site().seed({ files: { "index.html": "" } });
  folder = mkdtempSync(join(tmpdir(), "fp-destination-"));
});
afterEach(async () => {
  expect(on.github.violations).toEqual([]);
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

const site = () => on.github.repository("octo/site");
const fence = (of: "lease" | "draft", name: string) => refOf("fencepost", fenceRecordName({ of, name }));
const fenced = async (of: "lease" | "draft", name: string) => {
  const [tip] = await site().log(fence(of, name));
  return JSON.parse(tip?.message.slice(tip.message.indexOf("\n\n")) ?? "null");
};
const articles = async () =>
  (await site().log("refs/heads/main"))
    .map(({ message }) => message.trim())
    .filter((subject) => subject.startsWith("article"));

/** A job of octo/blog that works in a clone of octo/site; `inputs` of the action, `script` and further `steps`. */
function publisher(
  inputs: Record<string, string>,
  script: string,
  steps = "",
  token = "${{ steps.app.outputs.token }}",
) {
  const given = Object.entries({ push: "true", ...inputs }).map(
    ([name, value]) => `          ${name}: ${JSON.stringify(value)}`,
  );
  return `
name: publish
on: [schedule, workflow_dispatch]
permissions:
  contents: write
  actions: read
jobs:
  write:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/create-github-app-token@v3
        id: app
        with: { app-id: '1', private-key: x }
      - uses: actions/checkout@v7
        with: { repository: octo/site, token: "\${{ steps.app.outputs.token }}" }
      - uses: fencepost/fencepost@v1
        id: lease
        with:
          push-repository: octo/site
          push-token: "${token}"
${given.join("\n")}
      - name: work
        id: work
        if: steps.lease.outputs.acquired == 'true'
        run: |
          git config user.name agent
          git config user.email agent@example.org
          ${script}
${steps.replace(/^/gm, "      ")}
`;
}
const commit = (name: string) => `git commit -q --allow-empty -m "article ${name}"`;
const wait = (name: string) => `echo ${name}-ready; until [ -f ${join(folder, name)} ]; do sleep 0.05; done`;
const go = (name: string) => writeFileSync(join(folder, name), "");
const log = (done: { job(name: string): { log: string[] } }) => done.job("write").log.join("\n");

describe("a lease in one repository, a push to another", () => {
  it("moves the branch with the fence there; the lease goes its own way", async () => {
    const done = await on.run(publisher({ lease: "blog" }, commit("one")));
    expect(done.conclusion, log(done)).toBe("success");
    expect(await articles()).toEqual(["article one"]);
    expect(await fenced("lease", "blog")).toMatchObject({ event: "accepted", token: 1 });
    expect(await on.events("blog")).toEqual(["acquired", "released"]);
    expect(done.job("write").summary).toMatch(/octo\/site\/tree\/main/);
    expect(await site().tip("refs/heads/fencepost/lease/blog")).toBeNull();
  });

  it("refuses a run that was superseded, once the next one has sealed it; the lease is released by its own holder", async () => {
    const late = on.start(
      publisher({ lease: "blog", heartbeat: "false" }, `${commit("late")}; ${wait("go")}`),
    );
    await late.seen("go-ready");
    // As GitHub says of a run that is thought to be gone.
    on.github.finishRun(late.id);
    const next = await on.run(publisher({ lease: "blog" }, commit("next")));
    expect(next.conclusion, log(next)).toBe("success");
    go("go");
    const done = await late.done;
    expect(done.conclusion).toBe("failure");
    const errors = stepOf(done.job("write"), "lease", "post").annotations.filter(
      ({ level }) => level === "error",
    );
    expect(errors.map(({ message }) => message).join()).toMatch(
      /superseded: .*token 1 of the lease "blog" is too late.*has token 2/,
    );
    expect(await articles()).toEqual(["article next"]);
    expect(await on.record("refs/heads/fencepost/lease/blog")).toMatchObject({ token: 2, state: "released" });
    const rescued = await site().log("refs/heads/fencepost/rescue/blog/1");
    expect(rescued[0]?.message.trim()).toBe("article late");
  });

  it("a token that does not reach it: nothing is done, the lease is free, and the cure is said", async () => {
    const weak = publisher(
      { lease: "blog" },
      commit("one"),
      "",
      on.github.token({ kind: "app", contents: "write", repositories: ["octo/blog"] }),
    );
    const done = await on.run(weak);
    expect(done.conclusion).toBe("failure");
    const said = stepOf(done.job("write"), "lease")
      .annotations.map(({ message }) => message)
      .join();
    expect(said).toMatch(
      /octo\/site.*GITHUB_TOKEN reaches the repository of its workflow only.*"push-token"/s,
    );
    expect(stepOf(done.job("write"), "work").conclusion).toBe("skipped");
    expect(await on.events("blog")).toEqual(["acquired", "released"]);
  });

  it("the push action goes there too, and only under a lease that is held", async () => {
    const steps = [
      "- uses: fencepost/fencepost/push@v1",
      "  id: push",
      "  if: steps.lease.outputs.acquired == 'true'",
      '  with: { push-token: "${{ steps.app.outputs.token }}" }',
    ].join("\n");
    const done = await on.run(publisher({ lease: "blog", push: "false" }, commit("one"), steps));
    expect(done.conclusion, log(done)).toBe("success");
    expect(stepOf(done.job("write"), "push").outputs).toMatchObject({ outcome: "pushed", pushed: "true" });
    expect(await articles()).toEqual(["article one"]);

    const late = on.start(
      publisher(
        { lease: "blog", push: "false", heartbeat: "false" },
        `${commit("late")}; ${wait("go")}`,
        steps,
      ),
    );
    await late.seen("go-ready");
    on.github.finishRun(late.id);
    const free = await on.run(publisher({ lease: "blog", push: "false" }, "true"));
    expect(free.conclusion, log(free)).toBe("success");
    go("go");
    const ended = await late.done;
    expect(stepOf(ended.job("write"), "push").outputs).toMatchObject({
      outcome: "superseded",
      pushed: "false",
    });
    expect(await articles()).toEqual(["article one"]);
    const [kept] = await site().log("refs/heads/fencepost/rescue/blog/2");
    expect(kept?.message.trim()).toBe("article late");
  });
});

describe("a draft in one repository, its article in another", () => {
  beforeEach(async () => {
    await on.github.commit("main", { [path]: post("a") }, "a draft");
  });
  const inputs = { draft: path, convention: "hugo" };

  it("is published on record after the push, and not a second time", async () => {
    const done = await on.run(publisher(inputs, commit("a")));
    expect(done.conclusion, log(done)).toBe("success");
    expect(await fenced("draft", path)).toMatchObject({ event: "accepted", token: 1 });
    expect(await on.record(draftRef(path))).toMatchObject({
      state: "published",
      published: { "refs/heads/main": expect.any(String) },
    });
    const again = await on.run(publisher(inputs, commit("b")));
    expect(stepOf(again.job("write"), "lease").outputs).toMatchObject({
      acquired: "false",
      outcome: "not_pending",
    });
    expect(await articles()).toEqual(["article a"]);
  });

  it("whose job died between the push and its record: the next run writes it down, and works no second time", async () => {
    const steps = [
      "- uses: fencepost/fencepost/push@v1",
      '  with: { push-token: "${{ steps.app.outputs.token }}" }',
    ].join("\n");
    // The machine is lost while it writes, after the push, that the draft is published.
    const first = on.start(publisher({ ...inputs, push: "false" }, commit("a"), steps));
    const held = on.github.faults.hold({ operation: "createCommitOnBranch" }, "before");
    await held.reached;
    await first.kill();
    expect(await articles()).toEqual(["article a"]);
    on.github.finishRun(first.id);
    const next = await on.run(publisher(inputs, commit("b")));
    expect(stepOf(next.job("write"), "lease").outputs).toMatchObject({
      acquired: "false",
      outcome: "not_pending",
    });
    expect(stepOf(next.job("write"), "lease").log.join("\n")).toMatch(
      /octo\/site has this content of the draft already, from token 1/,
    );
    const record = { state: "published", token: 2 };
    expect(await on.record(draftRef(path))).toMatchObject(record);
    // The lost write arrives after all.
    held.release();
    expect(await on.record(draftRef(path))).toMatchObject(record);
    expect(await articles()).toEqual(["article a"]);
  });
});
