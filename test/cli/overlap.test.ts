// Skips of the command line are counted, beside the lease or the draft that was held; a count never costs more than that.
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { refOf } from "../../src/protocol/names.js";
import { statsRecordName } from "../../src/protocol/stats.js";
import { post, pushFiles, recordAt } from "../support/blog.js";
import { type Sandbox, sandbox } from "../support/sandbox.js";

let box: Sandbox;
let go: string;
beforeEach(() => {
  box = sandbox();
  go = join(box.folder, "go");
});
afterEach(() => box.dispose());

const counters = (name: string) => refOf("fencepost", statsRecordName(name));
const waits = () => ["--", "sh", "-c", `until [ -f ${go} ]; do sleep 0.05; done`];
const doctor = async () => JSON.parse((await box.cli(["doctor", "--store", box.origin, "--json"])).stdout);

it("of a lease: by day, and in a row of the same holder", async () => {
  const args = ["run", "--lease", "blog", "--store", box.origin];
  const first = box.start([...args, ...waits()]);
  await first.until(/acquired/);
  for (const row of [1, 2]) {
    expect((await box.cli([...args, "--", "true"])).code).toBe(75);
    expect(recordAt(box, counters("blog"))).toMatchObject({ name: "blog", token: 1, row });
  }
  writeFileSync(go, "");
  await first.ended;
  expect(await doctor()).toMatchObject({ outcome: "well", checked: { leases: 1, stats: 1 } });
});

it("of a draft without a lease: under the draft's name", async () => {
  const path = "posts/a.md";
  const cwd = pushFiles(box, { [path]: post("one") });
  const args = ["run", "--draft", path, "--convention", "hugo"];
  const first = box.start([...args, ...waits()], { cwd });
  await first.until(/claimed the draft/);
  expect((await box.cli([...args, "--", "true"], { cwd })).code).toBe(75);
  expect(recordAt(box, counters(path))).toMatchObject({ name: path, token: 1, row: 1 });
  writeFileSync(go, "");
  await first.ended;
  expect(await doctor()).toMatchObject({ outcome: "well", checked: { drafts: 1, stats: 1 } });
});

it("that cannot be counted is the same skip, and says so", async () => {
  const hook = join(box.origin, "hooks", "update");
  writeFileSync(hook, '#!/bin/sh\ncase "$1" in refs/heads/fencepost/stats/*) exit 1;; esac\n');
  chmodSync(hook, 0o755);
  const args = ["run", "--lease", "blog", "--store", box.origin];
  const first = box.start([...args, ...waits()]);
  await first.until(/acquired/);
  const second = await box.cli([...args, "--json", "--", "true"]);
  expect(second.code).toBe(75);
  expect(JSON.parse(second.stdout)).toMatchObject({ outcome: "skipped_overlap", token: 1 });
  expect(second.stderr).toMatch(/the skip could not be counted/);
  writeFileSync(go, "");
  await first.ended;
});
