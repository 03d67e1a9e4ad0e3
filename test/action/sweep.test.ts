// The sweep in jobs: real workflows in a local runner, against a local GitHub, on the bundles in dist/.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Hub, hub } from "../support/hub.js";
import { minute, post, runSweep, seedDrafts, sum, worker } from "./sweeps.js";

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

describe("what is started", () => {
  it("a draft whose event was lost, by the next sweep of the schedule", async () => {
    await seedDrafts(on, ["01"]);
    const done = await runSweep(on, { schedule: true });
    expect(done).toMatchObject({ conclusion: "success", started: ["posts/01.md"], headings: { started: 1 } });
    expect(done.outputs.count).toBe("1");
  });

  it("not one whose event may still be on the way; an event starts it at once", async () => {
    await on.github.commit("main", { "posts/1.md": post("new") }, "just now");
    expect(await runSweep(on, { schedule: true })).toMatchObject({ started: [], headings: { too_young: 1 } });
    expect((await runSweep(on)).started).toEqual(["posts/1.md"]);
  });

  it("of eight due with max-start: 3, three, then three, then two, the oldest first; then none until they are stale", async () => {
    const names = ["08", "07", "06", "05", "04", "03", "02", "01"];
    await seedDrafts(on, names, (i) => `date: 2020-01-0${i + 1}T00:00:00Z\n`);
    const inputs = { "max-start": 3 };
    const rounds = [];
    for (let i = 0; i < 4; i++) rounds.push(await runSweep(on, { schedule: true, inputs }));
    const short = rounds.map(({ started }) => started.map((path) => path.slice(6, 8)));
    expect(short).toEqual([["08", "07", "06"], ["05", "04", "03"], ["02", "01"], []]);
    expect(rounds.map(({ headings }) => headings)).toEqual([
      { started: 3, over_cap: 5 },
      { started: 3, over_cap: 2, already_started: 3 },
      { started: 2, already_started: 6 },
      { already_started: 8 },
    ]);
    for (const { headings, outputs } of rounds) expect(sum(headings)).toBe(Number(outputs.total));
    on.github.clock.advance(21 * minute);
    expect((await runSweep(on, { schedule: true, inputs })).started).toHaveLength(3);
  });

  it("of five with one that cannot be read, four; the fifth is said with the parser's message", async () => {
    await seedDrafts(on, ["01", "02", "04", "05"]);
    await on.github.commit("main", { "posts/03.md": "---\ntitle: [unclosed\n---\n" }, "broken");
    const done = await runSweep(on, { inputs: { "max-start": 9 } });
    expect(done.started).toHaveLength(4);
    expect(done.headings).toEqual({ started: 4, unreadable: 1 });
    expect(done.warnings).toHaveLength(1);
    expect(done.warnings[0]).toMatch(/"posts\/03\.md" cannot be read: .*(flow|unclosed|line|\])/i);
    expect(done.summary).toMatch(/`unreadable` \(1\)/);
    await on.github.commit("main", { "posts/03.md": post("mended") }, "mended");
    expect(await runSweep(on)).toMatchObject({ started: ["posts/03.md"], warnings: [] });
  });

  it("a draft whose holder's run has finished, and none whose run goes on", async () => {
    await seedDrafts(on, ["01", "02"]);
    for (const id of [501, 502]) on.github.addRun({ id });
    const other = worker(on);
    await other.claim("posts/01.md", 501);
    await other.claim("posts/02.md", 502);
    on.github.finishRun(501, "failure");
    const done = await runSweep(on, { inputs: { "max-start": 2 } });
    expect(done.started).toEqual(["posts/01.md"]);
    expect(done.headings).toEqual({ started: 1, held: 1 });
  });

  it("asks about no more than a few holders, and says once where it may not ask", async () => {
    const names = Array.from({ length: 7 }, (_, i) => `0${i}`);
    await seedDrafts(on, names);
    const other = worker(on);
    for (const [i, name] of names.entries()) {
      on.github.addRun({ id: 600 + i });
      await other.claim(`posts/${name}.md`, 600 + i);
    }
    on.github.resetCounts();
    await runSweep(on, { inputs: { "max-start": 1 } });
    const asks = () => on.github.requests.filter(({ path }) => path.includes("/attempts/")).length;
    expect(asks()).toBe(4);
    on.github.resetCounts();
    const blind = await runSweep(on, { permissions: "contents: write" });
    expect(asks()).toBe(1);
    expect(blind.headings).toEqual({ held: 7 });
    expect(blind.log.match(/actions: read/g)).toHaveLength(1);
  });
});

describe("what it says and what it costs", () => {
  it("every file under one heading, in outputs, log and summary alike", async () => {
    await seedDrafts(on, ["01", "02", "03", "04"], (i) => (i === 3 ? "date: 2999-01-01T00:00:00Z\n" : ""));
    await on.github.commit("main", { "posts/00.md": "---\ndraft: false\n---\n" }, "published");
    const other = worker(on);
    await other.claim("posts/01.md");
    await other.kill("posts/02.md");
    const done = await runSweep(on);
    expect(done.headings).toEqual({ started: 1, held: 1, dead: 1, not_due: 1, not_pending: 1 });
    expect(done.outputs.total).toBe("5");
    const addition = "5 drafts: 1 dead + 1 started + 1 held + 1 not_due + 1 not_pending = 5";
    expect(done.log).toContain(addition);
    expect(done.summary).toContain(addition);
    const places = ["`dead`", "`started`", "`held`", "`not_due`", "`not_pending`"].map((h) =>
      done.summary.indexOf(`#### ${h} (1)`),
    );
    expect(places.every((at) => at > 0)).toBe(true);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(done.summary).toContain(`[\`posts/02.md\`](${on.github.url}/octo/blog/blob/main/posts/02.md)`);
    expect(done.summary).toContain("[run](https://example.org/run)");
    expect(done.summary).toContain("2999-01-01 00:00 UTC");
    const quiet = await runSweep(on, { inputs: { summary: "false" } });
    expect(quiet.summary).toBe("");
  });

  it("one request, and one for each hundred records; dispatch and alerts come on top", async () => {
    const names = Array.from({ length: 105 }, (_, i) => String(i + 100));
    await seedDrafts(on, names);
    await runSweep(on, { inputs: { "max-start": 99 } });
    const requests = async () => {
      on.github.resetCounts();
      await runSweep(on, { inputs: { "max-start": 0 } });
      const { rest, graphql } = on.github.counts();
      return rest + graphql;
    };
    expect(await requests()).toBe(1 + Math.ceil(99 / 100));
    await runSweep(on, { inputs: { "max-start": 99 } });
    expect(await requests()).toBe(1 + Math.ceil(105 / 100));
  }, 60_000);

  it("keeps the records by git alone where it is told to", async () => {
    await seedDrafts(on, ["01", "02"]);
    on.github.resetCounts();
    expect((await runSweep(on, { inputs: { store: "git" } })).started).toEqual(["posts/01.md"]);
    expect((await runSweep(on, { inputs: { store: "git" } })).started).toEqual(["posts/02.md"]);
    expect(on.github.counts()).toMatchObject({ rest: 0, graphql: 0 });
  });
});

describe("inputs", () => {
  it.each([
    [{ drafts: "!posts/*.md" }, /Input "drafts": .*name no file/],
    [{ convention: "gatsby" }, /Input "convention": "gatsby" is not one of folder/],
    [{ convention: "" }, /Input "convention" is missing/],
    [{ convention: "custom" }, /"predicate" is empty/],
    [{ "due-field": "when" }, /go with the convention custom/],
    [{ "max-start": 257 }, /Input "max-start": "257" is not a whole number from 0 to 256/],
    [{ dispatch: "../other.yml" }, /Input "dispatch": "\.\.\/other\.yml" is no file/],
    [{ trigger: "cron" }, /Input "trigger": "cron" is not one of auto, event, clock/],
    [{ branch: "nowhere" }, /The branch nowhere does not exist in octo\/blog/],
  ])("%j is refused with the rule", async (inputs: Record<string, string | number>, words) => {
    const done = await runSweep(on, { inputs });
    expect(done.conclusion).toBe("failure");
    expect(done.errors).toEqual([expect.stringMatching(words)]);
  });

  it("several globs on lines, a predicate, a branch of its own, and the default branch where the run has none", async () => {
    await seedDrafts(on, ["01"]);
    await on.github.commit("other", { "notes/a.md": "---\nstatus: ready\n---\n" }, "a branch");
    const inputs = {
      drafts: "posts/*.md\n notes/*.md\n!posts/01.md",
      convention: "",
      predicate: 'status == "ready"',
    };
    expect((await runSweep(on, { inputs: { ...inputs, branch: "other" } })).started).toEqual(["notes/a.md"]);
    const tag = await runSweep(on, { github: { ref: "refs/tags/v1" } });
    expect(tag.started).toEqual(["posts/01.md"]);
    const payload = { repository: { full_name: "octo/blog", default_branch: "other" } };
    const told = await runSweep(on, {
      github: { ref: "refs/tags/v1" },
      event: { name: "release", payload },
      inputs: { drafts: "notes/*.md" },
    });
    expect(told.outputs.total).toBe("1");
  });
});
