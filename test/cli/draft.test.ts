// `fencepost run --draft`: one draft in, one article out, or an outcome that says why not.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { draftRef, post, published, publishing, pushFiles, recordAt, rewrite } from "../support/blog.js";
import { leaseRecord, leaseRef, type Sandbox, sandbox } from "../support/sandbox.js";
import { gitShim } from "../support/shim.js";

const path = "posts/最初の 記事.md";
let box: Sandbox;
let clone: string;
beforeEach(() => {
  box = sandbox();
  clone = pushFiles(box, { [path]: post("one") });
});
afterEach(() => box.dispose());

const run = (options: string[], ...command: string[]) =>
  box.cli(["run", "--draft", path, "--convention", "hugo", "--json", ...options, "--", ...command], {
    cwd: clone,
  });
const publish = (...options: string[]) => run(["--push", "main", ...options], "sh", "-c", publishing);
const state = () => recordAt(box, draftRef(path));

describe("a pending draft", () => {
  it("is published: branch and record move in one push", async () => {
    const ended = await publish();
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      draft: path,
      outcome: "pushed",
      state: "published",
      attempt: 1,
    });
    expect(published(box)).toEqual([path]);
    expect(state()).toMatchObject({
      state: "published",
      token: 1,
      published: { "refs/heads/main": box.tip("refs/heads/main") },
    });
  });

  it("moves the lease in the same push too, when both are held", async () => {
    const shim = gitShim(box);
    const args = ["run", "--lease", "blog", "--draft", path, "--convention", "hugo", "--push", "main"];
    const ended = await box.cli([...args, "--", "sh", "-c", publishing], { cwd: clone, env: shim.env });
    expect(ended.code).toBe(0);
    const pushes = shim.calls().split("\n\n");
    const push = pushes.find((call) => /:refs\/heads\/main$/m.test(call)) ?? "";
    expect(push).toMatch(/:refs\/heads\/fencepost\/lease\/blog$/m);
    expect(push).toMatch(/:refs\/heads\/fencepost\/draft\//m);
    expect(push).toMatch(/^--atomic$/m);
    expect(leaseRecord(box, leaseRef("blog"))).toMatchObject({ state: "released", token: 1 });
    expect(state()).toMatchObject({ state: "published" });
  });

  it("is told to the command, and published without a push when none is asked for", async () => {
    const ended = await run(
      [],
      "sh",
      "-c",
      'echo "$FENCEPOST_DRAFT|$FENCEPOST_DRAFT_TOKEN|$FENCEPOST_LEASE"',
    );
    expect(ended.stderr).toContain(`${path}|1|\n`);
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "acquired", state: "published" });
    expect(state()).toMatchObject({ state: "published", published: {} });
  });

  it("is pending again when its command fails, with the exit code passed on", async () => {
    const ended = await run(["--push", "main"], "sh", "-c", "exit 9");
    expect(ended.code).toBe(9);
    expect(state()).toMatchObject({
      state: "pending",
      attempts: 1,
      reason: "the command failed with exit code 9",
    });
    const again = await publish();
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ outcome: "backing_off" });
    expect(published(box)).toEqual([]);
  });

  it("has failed when a push was asked for and there is nothing to push", async () => {
    const ended = await run(["--push", "main"], "true");
    expect(ended.code).toBe(1);
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "unchanged", state: "pending" });
    expect(state()).toMatchObject({ attempts: 1, reason: "it was to push, and there was nothing to push" });
  });

  it("is dead after three failures, and alive again when it is edited", async () => {
    for (let i = 0; i < 3; i++) await run(["--backoff", "0s"], "false");
    expect(state()).toMatchObject({ state: "dead", attempts: 3 });
    const dead = await publish();
    expect(dead.code).toBe(0);
    expect(JSON.parse(dead.stdout)).toMatchObject({ outcome: "dead" });
    pushFiles(box, { [path]: post("one, corrected") });
    expect(JSON.parse((await publish()).stdout)).toMatchObject({ outcome: "pushed", attempt: 1 });
    expect(state()).toMatchObject({ state: "published", token: 4 });
  });

  it("is cancelled by a signal, and pending again with the reason", async () => {
    const args = ["run", "--draft", path, "--convention", "hugo", "--", "sh", "-c", "echo up; sleep 60"];
    const running = box.start(args, { cwd: clone });
    await running.until(/up/);
    running.child.kill("SIGTERM");
    expect((await running.ended).code).toBe(143);
    expect(state()).toMatchObject({ state: "pending", event: "released", reason: "SIGTERM was received" });
  });

  it("is published from inside the command by `fencepost push`, and the command goes on, beyond any heartbeat", async () => {
    const cli = `${process.execPath} ${new URL("../../dist/cli/index.js", import.meta.url).pathname}`;
    const ended = await run(["--ttl", "6s"], "sh", "-c", `${publishing} && ${cli} push main && sleep 6`);
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ state: "published" });
    expect(state()).toMatchObject({ state: "published" });
    expect(published(box)).toEqual([path]);
  });

  it("is published from inside the command, and the push of the run itself finds that out", async () => {
    const cli = `${process.execPath} ${new URL("../../dist/cli/index.js", import.meta.url).pathname}`;
    const script = `${publishing} && ${cli} push main`;
    const ended = await run(["--push", "main"], "sh", "-c", script);
    expect(ended.code, ended.stderr).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ state: "published" });
    expect(box.git(box.origin, "for-each-ref", "refs/heads/fencepost/rescue")).toBe("");
    pushFiles(box, { "posts/b.md": post("b") });
    box.git(clone, "pull", "--quiet", "--rebase", "origin", "main");
    const more = `${script} && git commit -q --allow-empty -m more`;
    const both = ["--draft", "posts/b.md", "--lease", "blog", "--push", "main"];
    const second = await run(both, "sh", "-c", more);
    expect({ code: second.code, ...JSON.parse(second.stdout) }, second.stderr).toMatchObject({
      code: 0,
      outcome: "pushed",
      state: "published",
    });
    expect(box.git(box.origin, "log", "-1", "--format=%s", "main")).toBe("more");
  });
});

describe("what is not to be worked on", () => {
  it("is what the tip says is published, whatever the checkout says", async () => {
    const stale = box.clone("stale");
    await publish();
    const args = [
      "run",
      "--draft",
      path,
      "--convention",
      "hugo",
      "--json",
      "--",
      "touch",
      join(box.folder, "ran"),
    ];
    const ended = await box.cli(args, { cwd: stale });
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "not_pending" });
    expect(existsSync(join(box.folder, "ran"))).toBe(false);
  });

  it("is a path that is not there", async () => {
    const args = ["run", "--draft", "posts/none.md", "--convention", "hugo", "--json", "--", "true"];
    const ended = await box.cli(args, { cwd: clone });
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      outcome: "not_pending",
      why: "it is not at the tip of main",
    });
  });

  it("is a draft that is not due yet", async () => {
    pushFiles(box, { [path]: post("one", "publishDate: 2999-01-01T00:00:00Z\n") });
    const ended = await publish();
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      outcome: "nothing_due",
      next: "2999-01-01T00:00:00.000Z",
    });
  });

  it("is a draft that somebody else holds", async () => {
    const args = ["run", "--draft", path, "--convention", "hugo", "--", "sh", "-c", "echo up; sleep 60"];
    const running = box.start(args, { cwd: clone });
    await running.until(/up/);
    const ended = await publish();
    expect(ended.code).toBe(75);
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "skipped_overlap" });
    expect(ended.stderr).toMatch(new RegExp(`held by .* process ${running.child.pid}`));
  });

  it("is a draft that cannot be read, with the parser's words", async () => {
    pushFiles(box, { [path]: "---\ntitle: [\n---\n" });
    const ended = await publish();
    expect(ended.code).toBe(78);
    expect(ended.stderr).toMatch(/cannot be read: its front matter is not YAML/);
  });
});

describe("a late executor", () => {
  /** One holds the draft and sleeps past its claim; another publishes; then the first comes to push. */
  async function late(shimmed: string) {
    const go = join(box.folder, "go");
    const shim = gitShim(box, shimmed);
    const slow = box.clone("slow");
    const script = `${publishing}; echo up; until [ -f ${go} ]; do sleep 0.05; done`;
    const args = ["run", "--draft", path, "--convention", "hugo", "--push", "main", "--on-moved", "rebase"];
    const first = box.start([...args, "--json", "--ttl", "5m", "--", "sh", "-c", script], {
      cwd: slow,
      env: shim.env,
    });
    await first.until(/up/);
    return { first, go, slow };
  }

  it("is refused when another one published meanwhile, and its commits are kept", async () => {
    const { first, go, slow } = await late("");
    // By hand, as a sweep does it after the TTL.
    rewrite(box, draftRef(path), { state: "pending", event: "lost" });
    expect((await publish()).code).toBe(0);
    writeFileSync(go, "");
    const ended = await first.ended;
    expect(ended.code).toBe(76);
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "superseded" });
    expect(published(box)).toEqual([path]);
    expect(box.git(box.origin, "for-each-ref", "--format=%(objectname)", "refs/heads/fencepost/rescue")).toBe(
      box.git(slow, "rev-parse", "HEAD"),
    );
  });

  /** The draft is taken over after the last look at its record, and before the push that follows. */
  async function takenOverDuringPush(weakened: string) {
    const taken = join(box.folder, "taken");
    const { first, go } = await late(`
      const { existsSync } = require("node:fs");
      if (args[0] === "push" && args.some((arg) => arg.endsWith(":refs/heads/main"))) {
        ${weakened}
        while (!existsSync(${JSON.stringify(taken)})) spawnSync("sleep", ["0.05"]);
      }`);
    writeFileSync(go, "");
    await first.until(/pushing/);
    rewrite(box, draftRef(path), { state: "pending", event: "lost" });
    writeFileSync(taken, "");
    return first.ended;
  }

  it("is refused when a person unlocked its draft, which another one publishes at once", async () => {
    const { first, go, slow } = await late("");
    const unlock = (token: number, name = path) =>
      box.cli(["unlock", "--draft", name, "--token", String(token), "--reason", "it hangs"], { cwd: clone });
    const other = await unlock(7);
    expect([other.code, other.stderr]).toEqual([
      77,
      expect.stringMatching(/token 7 does not hold.*its token is 1/),
    ]);
    expect((await unlock(1, "posts/none.md")).code).toBe(78);
    expect((await unlock(1)).code).toBe(0);
    expect(state()).toMatchObject({
      state: "pending",
      event: "lost",
      lost: 1,
      reason: "unlocked by Writer: it hangs",
    });
    expect((await unlock(1)).code).toBe(77);
    expect((await publish()).code).toBe(0);
    writeFileSync(go, "");
    expect((await first.ended).code).toBe(76);
    expect(published(box)).toEqual([path]);
    expect(state()).toMatchObject({ state: "published", token: 2 });
    expect(box.git(box.origin, "for-each-ref", "--format=%(objectname)", "refs/heads/fencepost/rescue")).toBe(
      box.git(slow, "rev-parse", "HEAD"),
    );
  });

  it("is refused by the server itself when the draft is taken over while it pushes", async () => {
    expect((await takenOverDuringPush("")).code).toBe(76);
    expect(published(box)).toEqual([]);
  });

  it("twin: without the record in that push, the late write comes through", async () => {
    await takenOverDuringPush("args = args.filter((arg) => !/fencepost.draft/.test(arg));");
    expect(published(box)).toEqual([path]);
  });
});

describe("usage", () => {
  it("wants a lease or a draft, and a convention that exists", async () => {
    const none = await box.cli(["run", "--", "true"], { cwd: clone });
    expect([none.code, none.stderr]).toEqual([64, expect.stringMatching(/--lease is missing/)]);
    const odd = await box.cli(["run", "--draft", path, "--convention", "word", "--", "true"], { cwd: clone });
    expect([odd.code, odd.stderr]).toEqual([
      64,
      expect.stringMatching(/"word" is not known. One of: folder/),
    ]);
    const custom = await box.cli(["run", "--draft", path, "--predicate", "a ==", "--", "true"], {
      cwd: clone,
    });
    expect([custom.code, custom.stderr]).toEqual([64, expect.stringMatching(/predicate/)]);
  });
});
