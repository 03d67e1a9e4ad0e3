// What else is in the process, and what is at the other end of its streams: neither may cost a lease.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { leaseRecord, leaseRef, type Sandbox, sandbox } from "../support/sandbox.js";

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.dispose());

/** Loads a script into every Node process, as monitoring does by NODE_OPTIONS. */
function loaded(script: string): { env: NodeJS.ProcessEnv } {
  const file = join(box.folder, "preload.cjs");
  writeFileSync(file, script);
  return { env: { NODE_OPTIONS: `--require=${file}` } };
}

it("what others print into the heartbeat's output is no beat, and spoils none", async () => {
  const options = loaded(`
    if (process.argv[2] === "heartbeat") {
      process.stdout.write("monitoring is on\\nnull\\n{}\\n");
      setInterval(() => process.stdout.write("no line break"), 50).unref();
    }
  `);
  const args = ["run", "--lease", "blog", "--store", box.origin, "--ttl", "6s", "--", "sleep", "5"];
  const ended = await box.cli(args, options);
  expect(ended.stderr).not.toMatch(/starting it again|fault of Fencepost/);
  expect(ended.code).toBe(0);
  expect(box.git(box.origin, "log", "--format=%s", leaseRef("blog"))).toMatch(/#1 renewed/);
});

it("a terminal that was closed is no crash: the command ends, and the lease is free", async () => {
  const options = loaded(`
    if (process.argv[2] === "run")
      process.stderr.write = () => {
        const error = Object.assign(new Error("write EIO"), { code: "EIO" });
        process.nextTick(() => process.stderr.emit("error", error));
        return true;
      };
  `);
  const args = ["run", "--lease", "blog", "--store", box.origin, "--", "sh", "-c", "echo worked"];
  const ended = await box.cli(args, options);
  expect(ended.stdout).toBe("worked\n");
  expect(ended.code).toBe(0);
  expect(leaseRecord(box, leaseRef("blog"))).toMatchObject({ state: "released", token: 1 });
});
