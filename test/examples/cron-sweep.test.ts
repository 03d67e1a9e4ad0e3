// examples/cron-sweep.sh as cron runs it: on a clone, with the bundled command line in PATH.
import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { draftRef, post, pushFiles, recordAt, subjects } from "../support/blog.js";
import { bundle, type Sandbox, sandbox } from "../support/sandbox.js";
import { root } from "./workflows.js";

const script = join(root, "examples/cron-sweep.sh");
const posts = ["a", "b", "c", "d"].map((name) => `content/posts/${name}.md`);

let box: Sandbox;
let bin: string;
beforeEach(() => {
  box = sandbox();
  bin = join(box.folder, "bin");
  mkdirSync(bin);
  const command = join(bin, "fencepost");
  writeFileSync(command, `#!/bin/sh\nexec "${process.execPath}" "${bundle}" "$@"\n`);
  chmodSync(command, 0o755);
});
afterEach(() => box.dispose());

const write = (files: Record<string, string>) => pushFiles(box, files);
const sweep = (clone: string) =>
  promisify(execFile)(script, { env: { ...box.env, PATH: `${bin}:${box.env.PATH}`, BLOG: clone } });
const published = () => subjects(box).filter((subject) => subject.startsWith("Publish "));

test("publishes what is pending, three at a time, and leaves the clone alone", async () => {
  const clone = write(Object.fromEntries(posts.map((path) => [path, post(path)])));
  const head = box.git(clone, "rev-parse", "HEAD");
  const { stdout } = await sweep(clone);
  expect(stdout).toMatch(/4 drafts: 3 started, 1 over_cap/);
  expect(published()).toHaveLength(3);
  await sweep(clone);
  expect(published().sort()).toEqual(posts.map((path) => `Publish ${path}`));
  expect(box.git(box.origin, "show", `main:${posts[0]}`)).toBe(
    post(posts[0] as string)
      .replace("draft: true", "draft: false")
      .trim(),
  );
  expect(recordAt(box, draftRef(posts[0] as string))).toMatchObject({ state: "published", attempts: 1 });
  expect(box.git(clone, "rev-parse", "HEAD")).toBe(head);
  expect(box.git(clone, "status", "--porcelain")).toBe("");
});

test("two at once publish each draft once", async () => {
  const clone = write(Object.fromEntries(posts.slice(0, 3).map((path) => [path, post(path)])));
  await Promise.all([sweep(clone), sweep(clone)]);
  expect(published().sort()).toEqual(posts.slice(0, 3).map((path) => `Publish ${path}`));
});

test("leaves alone what is not due, and what only the text of an article says", async () => {
  const said = "---\ntitle: t\n---\ndraft: true\n";
  const later = post("later", "date: 2999-01-01\n");
  const clone = write({ [posts[0] as string]: said, [posts[1] as string]: later });
  const { stdout } = await sweep(clone);
  expect(stdout).toMatch(/2 drafts: 1 not_due, 1 not_pending/);
  expect(published()).toEqual([]);
});
