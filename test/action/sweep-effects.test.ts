// What a sweep does on GitHub beside its records: runs that it starts, and issues about dead letters.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Hub, hub } from "../support/hub.js";
import { minute, post, recordRef, runSweep, seedDrafts, sum, worker } from "./sweeps.js";

let on: Hub;
beforeEach(async () => {
  on = await hub();
});
afterEach(async () => {
  // So ends git's server, and tells its client, where every commit is older than what the sweep asks for.
  const usual = "no commits selected for shallow requests";
  expect(on.github.violations.filter((words) => !words.includes(usual))).toEqual([]);
  await on.close();
});

const dispatched = () => on.github.dispatches.map(({ workflow, ref, inputs }) => ({ workflow, ref, inputs }));
const publish = { dispatch: "publish.yml" };
const declare = (options = {}) =>
  on.github.repository().runs.declare(".github/workflows/publish.yml", options);

describe("dispatch", () => {
  it("each draft by one of two sweeps at once", async () => {
    await seedDrafts(on, ["01", "02", "03", "04"]);
    declare();
    const inputs = { ...publish, "max-start": 4 };
    const [a, b] = await Promise.all([runSweep(on, { inputs }), runSweep(on, { inputs })]);
    expect([...a.started, ...b.started].sort()).toEqual(["01", "02", "03", "04"].map((n) => `posts/${n}.md`));
    expect(dispatched().map(({ inputs }) => inputs.draft)).toHaveLength(4);
    for (const { headings } of [a, b]) expect(sum(headings)).toBe(4);
  });

  it("starts the workflow once for each draft, on the branch, and remembers it", async () => {
    await seedDrafts(on, ["01", "02"]);
    declare();
    const inputs = { dispatch: ".github/workflows/publish.yml", "max-start": 2 };
    expect(await runSweep(on, { inputs })).toMatchObject({ conclusion: "success", headings: { started: 2 } });
    const expected = ["posts/01.md", "posts/02.md"].map((draft) => ({
      workflow: ".github/workflows/publish.yml",
      ref: "main",
      inputs: { draft },
    }));
    expect(dispatched()).toEqual(expected);
    expect(await on.record(recordRef("posts/01.md"))).toMatchObject({ event: "started", attempts: 0 });
    expect((await runSweep(on, { inputs })).headings).toEqual({ already_started: 2 });
    expect(dispatched()).toEqual(expected);
  });

  it("that fails for one draft leaves the others, says so, and puts that one back", async () => {
    await seedDrafts(on, ["01", "02", "03"]);
    declare();
    const fault = { status: 422, when: "before", body: { message: "no such luck" } } as const;
    on.github.faults.next({ path: /dispatches$/ }, { kind: "status", ...fault }, { nth: 2 });
    const inputs = { ...publish, "max-start": 3 };
    const done = await runSweep(on, { inputs });
    expect(done).toMatchObject({ conclusion: "success", started: ["posts/01.md", "posts/03.md"] });
    expect(done.headings).toEqual({ started: 2, over_cap: 1 });
    expect(done.warnings.join()).toMatch(
      /"posts\/02\.md": .*"publish\.yml" could not be started.*no such luck/,
    );
    expect(done.summary).toMatch(/no such luck/);
    expect((await on.record(recordRef("posts/02.md"))).event).toBe("released");
    expect((await runSweep(on, { inputs })).started).toEqual(["posts/02.md"]);
    expect(dispatched()).toHaveLength(3);
  });

  it("whose answer was lost counts as started, since it may have been", async () => {
    await seedDrafts(on, ["01"]);
    declare();
    on.github.faults.next({ path: /dispatches$/ }, { kind: "lost-reply" });
    const done = await runSweep(on, { inputs: publish });
    expect(done).toMatchObject({ conclusion: "success", started: ["posts/01.md"] });
    expect(done.warnings.join()).toMatch(/counts as started/);
    await runSweep(on, { inputs: publish });
    expect(dispatched()).toHaveLength(1);
  });

  it("without the permission: one error with the lines to add, one request, and nothing remembered", async () => {
    await seedDrafts(on, ["01", "02"]);
    declare();
    const inputs = { ...publish, "max-start": 2 };
    const done = await runSweep(on, { inputs, permissions: "contents: write\n  actions: read" });
    expect(done.conclusion).toBe("failure");
    expect(done.errors).toHaveLength(1);
    expect(done.errors[0]).toMatch(/permissions:\n +actions: write/);
    expect(done.headings).toEqual({ over_cap: 2 });
    expect(on.github.requests.filter(({ path }) => path.endsWith("/dispatches"))).toHaveLength(1);
    expect((await runSweep(on, { inputs })).started).toHaveLength(2);
  });

  it("stops where the rate limit is used up, and the rest waits for the next sweep", async () => {
    await seedDrafts(on, ["01", "02", "03"]);
    declare();
    on.github.faults.next({ path: /dispatches$/ }, { kind: "secondary-limit", retryAfter: 60 }, { nth: 2 });
    const inputs = { ...publish, "max-start": 3 };
    const done = await runSweep(on, { inputs });
    expect(done).toMatchObject({ started: ["posts/01.md"], headings: { started: 1, over_cap: 2 } });
    expect(done.errors.join()).toMatch(/rate limit is used up/);
    expect((await runSweep(on, { inputs })).started).toEqual(["posts/02.md", "posts/03.md"]);
  });

  it("of a workflow that does not exist is an error that says where it looked", async () => {
    await seedDrafts(on, ["01"]);
    const done = await runSweep(on, { inputs: { dispatch: "typo.yml" } });
    expect(done.conclusion).toBe("failure");
    expect(done.errors[0]).toMatch(/"typo\.yml" could not be started: the default branch has no such file/);
  });

  it("that every draft fails is an error", async () => {
    await seedDrafts(on, ["01"]);
    declare({ dispatchable: false });
    const done = await runSweep(on, { inputs: publish });
    expect(done.errors.join()).toMatch(/None of 1 drafts could be started: .*workflow_dispatch/);
  });

  it("leaves a draft alone that a run claimed before it could be put back", async () => {
    await seedDrafts(on, ["01"]);
    declare();
    const run = () => worker(on).claim("posts/01.md", 700);
    on.github.faults.next({ path: /dispatches$/ }, { kind: "before", run });
    const fault = { status: 422, when: "after", body: { message: "no" } } as const;
    on.github.faults.next({ path: /dispatches$/ }, { kind: "status", ...fault });
    await runSweep(on, { inputs: publish });
    expect(await on.record(recordRef("posts/01.md"))).toMatchObject({ event: "claimed", state: "held" });
  });
});

describe("dead letters", () => {
  const issues = () => on.github.repository().issues.all;
  const inputs = { alert: "issue" };

  it("raise a warning and one issue, which is closed when the draft is edited", async () => {
    await seedDrafts(on, ["01"]);
    await worker(on).kill("posts/01.md", "the <b>generator</b> gave @nobody anything");
    const first = await runSweep(on, { inputs });
    expect(first).toMatchObject({ conclusion: "success", started: [], headings: { dead: 1 } });
    expect(first.warnings).toHaveLength(1);
    expect(first.warnings[0]).toMatch(/"posts\/01\.md" is set aside after 3 attempts \(the <b>generator/);
    await runSweep(on, { inputs });
    expect(issues()).toHaveLength(1);
    const [issue] = issues();
    expect(issue).toMatchObject({
      title: "Fencepost: posts/01.md is a dead letter",
      state: "open",
      labels: ["fencepost"],
      comments: [],
    });
    expect(issue?.body).toContain("<!-- fencepost:draft:posts-01-md=");
    expect(issue?.body).toContain("fencepost redrive posts/01.md");
    expect(issue?.body).not.toMatch(/<b>|@nobody/);
    expect(first.summary.indexOf("`dead` (1)")).toBeGreaterThan(0);

    await on.github.commit("main", { "posts/01.md": post("edited") }, "edited");
    const alive = await runSweep(on, { inputs });
    expect(alive).toMatchObject({ started: ["posts/01.md"], warnings: [] });
    expect(issue?.state).toBe("closed");
    expect(issue?.comments.map(({ body }) => body)).toEqual([expect.stringMatching(/lives again/)]);
  });

  it("that die again open the same issue again; one that a person closed stays closed until then", async () => {
    await seedDrafts(on, ["01"]);
    const other = worker(on);
    await other.kill("posts/01.md");
    await runSweep(on, { inputs });
    const issue = issues()[0];
    if (issue === undefined) throw new Error("no issue");
    on.github.repository().issues.change(issue, { state: "closed" }, on.github.clock.iso());
    await runSweep(on, { inputs });
    expect(issues().map(({ state }) => state)).toEqual(["closed"]);
    await other.redrive("posts/01.md");
    await other.kill("posts/01.md", "again");
    await runSweep(on, { inputs });
    expect(issues().map(({ state }) => state)).toEqual(["open"]);
    expect(issue.body).toContain("again");
  });

  it("of other sweeps and of other people keep their issues; those of files that are gone do not", async () => {
    await seedDrafts(on, ["01", "02"]);
    const other = worker(on);
    await other.kill("posts/01.md");
    await other.kill("posts/02.md");
    await runSweep(on, { inputs });
    on.github.repository().issues.open("mine", "mona", on.github.clock.iso(), { labels: ["fencepost"] });
    await on.github.commit("main", { "posts/01.md": null }, "gone");
    await runSweep(on, { inputs: { ...inputs, drafts: "notes/*.md" } });
    expect(issues().map(({ state }) => state)).toEqual(["open", "open", "open"]);
    await runSweep(on, { inputs });
    const closed = issues().filter(({ state }) => state === "closed");
    expect(closed.map(({ title }) => title)).toEqual(["Fencepost: posts/01.md is a dead letter"]);
  });

  it("without the permission: one error with the lines to add; the sweep itself is done", async () => {
    await seedDrafts(on, ["01", "02"]);
    await worker(on).kill("posts/01.md");
    const done = await runSweep(on, { inputs, permissions: "contents: write" });
    expect(done).toMatchObject({ conclusion: "failure", started: ["posts/02.md"] });
    expect(done.errors).toHaveLength(1);
    expect(done.errors[0]).toMatch(/permissions:\n +contents: write\n +issues: write/);
    expect(issues()).toEqual([]);
  });

  it("have no issues without alert: issue, and no warning after a day", async () => {
    await seedDrafts(on, ["01"]);
    await worker(on).kill("posts/01.md");
    expect((await runSweep(on, { permissions: "contents: write" })).warnings).toHaveLength(1);
    on.github.clock.advance(25 * 60 * minute);
    const later = await runSweep(on, { permissions: "contents: write" });
    expect(later).toMatchObject({ conclusion: "success", warnings: [], headings: { dead: 1 } });
    expect(issues()).toEqual([]);
  });

  it("that the sweep itself finds have an issue at once, and nothing is written while nothing changes", async () => {
    await seedDrafts(on, ["01"]);
    const other = worker(on);
    for (let i = 0; i < 3; i++) {
      await other.claim("posts/01.md");
      on.github.clock.advance(16 * minute);
    }
    const found = await runSweep(on, { inputs });
    expect(found.warnings).toHaveLength(1);
    expect(issues()[0]?.body).toMatch(/the lease of its last attempt was lost/);
    expect(await on.record(recordRef("posts/01.md"))).toMatchObject({ state: "dead", event: "dead" });
    on.github.resetCounts();
    await runSweep(on, { inputs });
    const written = on.github.requests.filter(({ kind, method }) => kind === "rest" && method !== "GET");
    expect(written).toEqual([]);
  });

  it("warn ten times at the most", async () => {
    const names = Array.from({ length: 12 }, (_, i) => String(i + 10));
    await seedDrafts(on, names);
    const other = worker(on);
    for (const name of names) await other.kill(`posts/${name}.md`);
    const done = await runSweep(on);
    expect(done.warnings).toHaveLength(10);
    expect(done.log).toMatch(/and 2 more/);
  }, 60_000);
});
