// A signal counts whenever it comes: also when there is no command that it could be passed on to.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { draftRef, post, pushFiles, recordAt, rewrite } from "../support/blog.js";
import { leaseRecord, leaseRef, type Sandbox, sandbox } from "../support/sandbox.js";
import { gitShim } from "../support/shim.js";

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.dispose());

const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();

/** Sends SIGTERM to whoever calls git, once, at the first call for which `when` holds: before git runs, or after it. */
const signalOnce = (when: string, after = false) => `
const { existsSync, writeFileSync } = require("node:fs");
const sent = ${JSON.stringify(join(box.folder, "sent"))};
if ((${when}) && !existsSync(sent)) {
  writeFileSync(sent, "");
  if (${after}) spawnSync(${JSON.stringify(real)}, args);
  process.kill(process.ppid, "SIGTERM");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
}`;

it("between the lease and the start of the command: the command is not run, the lease is free", async () => {
  const ran = join(box.folder, "ran");
  const shim = gitShim(box, signalOnce('args.includes("HEAD^{commit}")'));
  const args = ["run", "--lease", "blog", "--push", "main", "--json", "--", "touch", ran];
  const ended = await box.cli(args, { cwd: box.clone("a"), env: shim.env });
  expect(ended.code).toBe(143);
  expect(existsSync(ran)).toBe(false);
  expect(ended.stderr).toMatch(/SIGTERM was received: the command is not run/);
  const body = JSON.parse(ended.stdout);
  expect(body).toMatchObject({ outcome: "acquired", signal: "SIGTERM" });
  expect(body).not.toHaveProperty("commandExit");
  expect(leaseRecord(box, leaseRef("blog"))).toMatchObject({ state: "released", token: 1 });
});

it("between two slots: the first one is done, the second stays due", async () => {
  const log = join(box.folder, "log");
  const args = ["run", "--lease", "blog", "--store", box.origin, "--schedule", "0 * * * *", "--json"];
  const command = ["--", "sh", "-c", `echo "$FENCEPOST_SLOT" >> ${log}`];
  await box.cli([...args, "--", "true"]);
  const before = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - 5 * 3_600_000).toISOString();
  rewrite(box, leaseRef("blog"), { slots: { "0 * * * * UTC": before } });
  // The first write after the first slot notes that it is done.
  const shim = gitShim(box, signalOnce(`args.includes("push") && existsSync(${JSON.stringify(log)})`));
  const ended = await box.cli([...args, "--max-backfill", "2", ...command], { env: shim.env });
  expect(ended.code).toBe(143);
  const [first, ...more] = readFileSync(log, "utf8").trim().split("\n");
  expect(more).toEqual([]);
  const body = JSON.parse(ended.stdout);
  expect(body).toMatchObject({ slots: [first], left: [expect.any(String)], signal: "SIGTERM" });
  const done = (recordAt(box, leaseRef("blog")).slots as Record<string, string>)["0 * * * * UTC"];
  expect(first).toContain(done?.slice(0, 16));
  expect(leaseRecord(box, leaseRef("blog"))).toMatchObject({ state: "released" });
});

it("while the lease is taken, after the write arrived: the lease is free again", async () => {
  const shim = gitShim(box, signalOnce('args.includes("push")', true));
  const args = ["run", "--lease", "blog", "--store", box.origin, "--", "touch", join(box.folder, "ran")];
  const ended = await box.cli(args, { env: shim.env });
  expect(ended.code).toBe(143);
  expect(existsSync(join(box.folder, "ran"))).toBe(false);
  expect(leaseRecord(box, leaseRef("blog"))).toMatchObject({ state: "released", token: 1 });
});

it("while a draft is claimed, after the write arrived: it is pending again, with the reason", async () => {
  const cwd = pushFiles(box, { "posts/a.md": post("one") });
  const shim = gitShim(box, signalOnce('args.includes("push")', true));
  const args = ["run", "--draft", "posts/a.md", "--convention", "hugo", "--", "true"];
  const ended = await box.cli(args, { cwd, env: shim.env });
  expect(ended.code).toBe(143);
  const record = recordAt(box, draftRef("posts/a.md"));
  expect(record).toMatchObject({ state: "pending", attempts: 1, reason: "SIGTERM was received" });
});
