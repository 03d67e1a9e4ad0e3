// The fence: a late write is refused inside the transaction, and each of its guards is needed.
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { leaseRecord, leaseRef, type Sandbox, sandbox } from "../support/sandbox.js";
import { gitShim } from "../support/shim.js";

let box: Sandbox;
let main: string;
beforeEach(() => {
  box = sandbox();
  main = box.tip("refs/heads/main");
});
afterEach(() => box.dispose());

/**
 * A holder pushes; after git has read the advertisement, and before the server updates anything, somebody else takes
 * the lease over. A hook of the server waits for that moment, as long as `slow` is there.
 */
async function takeoverDuringPush(rewrite: string) {
  const [slow, inHook, go] = ["slow", "in-hook", "go"].map((name) => join(box.folder, name)) as [
    string,
    string,
    string,
  ];
  const hook = join(box.origin, "hooks", "pre-receive");
  const wait = `if [ -f ${slow} ]; then rm ${slow}; touch ${inHook}; until [ -f ${go} ]; do sleep 0.02; done; fi`;
  writeFileSync(hook, `#!/bin/sh\n${wait}\n`);
  chmodSync(hook, 0o755);
  const clone = box.clone("late");
  const shim = gitShim(box, rewrite);
  const script = `git commit -q --allow-empty -m late; touch ${slow}`;
  const args = [
    "run",
    "--lease",
    "blog",
    "--ttl",
    "5m",
    "--push",
    "main",
    "--attempts",
    "1",
    "--json",
    "--",
    "sh",
    "-c",
    script,
  ];
  const run = box.start(args, { cwd: clone, env: shim.env });
  while (!existsSync(inHook)) await delay(20);
  const unlocked = await box.cli([
    "unlock",
    "blog",
    "--store",
    box.origin,
    "--token",
    "1",
    "--reason",
    "takeover",
  ]);
  expect(unlocked.code).toBe(0);
  writeFileSync(go, "");
  const ended = await run.ended;
  return { ended, late: box.git(clone, "rev-parse", "HEAD"), calls: shim.calls() };
}

describe("a takeover between the ref advertisement and the update", () => {
  it("is noticed by the server, which refuses the push", async () => {
    const { ended, late } = await takeoverDuringPush("");
    expect(ended.code).toBe(76);
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "superseded", token: 1 });
    expect(ended.stderr).toMatch(/not accepted \(\[remote rejected\]/);
    expect(box.tip("refs/heads/main")).toBe(main);
    expect(box.tip("refs/heads/fencepost/rescue/blog/1")).toBe(late);
    expect(leaseRecord(box, leaseRef("blog"))).toMatchObject({ token: 2 });
  });

  it("twin: without --atomic the late write comes through", async () => {
    const { late, calls } = await takeoverDuringPush('args = args.filter((arg) => arg !== "--atomic");');
    expect(calls).toMatch(/^push$/m);
    expect(box.tip("refs/heads/main")).toBe(late);
  });

  it("twin: with the lease named but left unchanged the late write comes through", async () => {
    // The refspec names the held commit instead of its successor, so that git never sends the lease's ref.
    const unchanged = `
      const held = args.map((arg) => /^--force-with-lease=refs.heads.fencepost.lease.blog:([0-9a-f]{40})$/.exec(arg)?.[1]).find(Boolean);
      if (args.some((arg) => arg.endsWith(":refs/heads/main")))
        args = args.map((arg) => arg.replace(/^[0-9a-f]{40}:(refs.heads.fencepost.lease.blog)$/, held + ":$1"));`;
    const { late } = await takeoverDuringPush(unchanged);
    expect(box.tip("refs/heads/main")).toBe(late);
  });
});

describe("a takeover before the push", () => {
  const late = async () => {
    const clone = box.clone("late");
    const go = join(box.folder, "go");
    const shim = gitShim(box);
    const work = `git commit -q --allow-empty -m late; echo ready; until [ -f ${go} ]; do sleep 0.02; done`;
    const args = [
      "run",
      "--lease",
      "blog",
      "--ttl",
      "5m",
      "--push",
      "main",
      "--attempts",
      "2",
      "--",
      "sh",
      "-c",
      work,
    ];
    const run = box.start(args, { cwd: clone, env: shim.env });
    await run.until(/ready/);
    await box.cli(["unlock", "blog", "--store", box.origin, "--token", "1", "--reason", "takeover"]);
    writeFileSync(go, "");
    return { ended: await run.ended, head: box.git(clone, "rev-parse", "HEAD"), calls: shim.calls() };
  };

  it("is final: nothing is pushed but the rescue, and nothing is retried", async () => {
    const { ended, head, calls } = await late();
    expect(ended.code).toBe(76);
    expect(ended.stderr).toMatch(
      /superseded: the push was refused and main is untouched, because token 1 of "blog" no longer holds/,
    );
    expect(ended.stderr).toMatch(/kept on fencepost\/rescue\/blog\/1/);
    expect(calls).not.toMatch(/:refs\/heads\/main$/m);
    expect(box.tip("refs/heads/main")).toBe(main);
    expect(box.tip("refs/heads/fencepost/rescue/blog/1")).toBe(head);
  });
});

describe("`fencepost push` by a token that no longer holds", () => {
  it("is refused, whether or not the claim is known", async () => {
    const clone = box.clone("a");
    for (const _ of [1, 2]) await box.cli(["run", "--lease", "blog", "--", "true"], { cwd: clone });
    const head = box.commit(clone, "late");
    const refused = await box.cli(["push", "main", "--lease", "blog", "--token", "1"], { cwd: clone });
    expect(refused.code).toBe(76);
    const released = await box.cli(["push", "main", "--lease", "blog", "--token", "2"], { cwd: clone });
    expect(released.code).toBe(76);
    const imagined = await box.cli(["push", "main", "--lease", "blog", "--token", "9"], { cwd: clone });
    expect(imagined.code).toBe(78);
    expect(imagined.stderr).toMatch(/went backwards: token 9 was seen before, and now it says 2/);
    expect(box.tip("refs/heads/main")).toBe(main);
    expect(box.tip("refs/heads/fencepost/rescue/blog/1")).toBe(head);
  });

  it("passes inside `fencepost run`, and the run renews and releases on top of it", async () => {
    const clone = box.clone("a");
    const cli = `${process.execPath} ${new URL("../../dist/cli/index.js", import.meta.url).pathname}`;
    const script = `git commit -q --allow-empty -m one && ${cli} push main && git commit -q --allow-empty -m two && ${cli} push main --json`;
    const run = await box.cli(["run", "--lease", "blog", "--", "sh", "-c", script], { cwd: clone });
    expect(run.stderr).toMatch(/pushed/);
    expect(run.code).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({ outcome: "pushed", lease: "blog", token: 1 });
    expect(box.tip("refs/heads/main")).toBe(box.git(clone, "rev-parse", "HEAD"));
    expect(leaseRecord(box, leaseRef("blog"))).toMatchObject({ state: "released", token: 1, depth: 4 });
  });
});
