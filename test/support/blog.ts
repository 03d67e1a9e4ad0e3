// A blog with drafts, for tests: files at the tip of main, commands that publish them, and records rewritten by hand.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { draftRecordName } from "../../src/protocol/draft.js";
import { refOf } from "../../src/protocol/names.js";
import type { Sandbox } from "./sandbox.js";

export const globs = ["--drafts", "posts/**/*.md", "--convention", "hugo"];

/** What publishes a draft: the front matter says so, in a commit of its own. */
export const publishing =
  'sed -i "s/draft: true/draft: false/" "$FENCEPOST_DRAFT" && git commit -qam "publish $FENCEPOST_DRAFT"';

export function post(title: string, more = ""): string {
  return `---\ntitle: ${title}\ndraft: true\n${more}---\nThe text of ${title}.\n`;
}

/** Files in one commit on main, from a clone that is made for it. */
export function pushFiles(box: Sandbox, files: Record<string, string | Buffer>, date?: string): string {
  const clone = join(box.folder, "author");
  if (existsSync(clone)) box.git(clone, "pull", "--quiet", "--rebase", "origin", "main");
  else box.clone("author");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    writeFileSync(join(clone, path), text);
  }
  box.git(clone, "add", "--all");
  if (date !== undefined) Object.assign(box.env, { GIT_COMMITTER_DATE: date });
  box.git(clone, "commit", "--quiet", "-m", "write");
  delete box.env.GIT_COMMITTER_DATE;
  box.git(clone, "push", "--quiet", "origin", "HEAD:main");
  return clone;
}

export const draftRef = (path: string) => refOf("fencepost", draftRecordName(path));

/** The record at a ref, as JSON. */
export function recordAt(box: Sandbox, ref: string): Record<string, unknown> {
  const message = box.git(box.origin, "log", "-1", "--format=%B", ref);
  return JSON.parse(message.slice(message.indexOf("\n\n")));
}

/** A next record on a ref, as a faulty or old program might have written it. */
export function rewrite(box: Sandbox, ref: string, change: Record<string, unknown>, date?: string): void {
  const before = recordAt(box, ref);
  const previous = box.tip(ref);
  const depth = Number(before.depth) + 1;
  const record = { ...before, previous, depth, nonce: "rewritten-by-hand", ...change };
  const tree = box.git(box.origin, "hash-object", "-t", "tree", "-w", "/dev/null");
  const env = date === undefined ? {} : { GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date };
  Object.assign(box.env, env);
  const message = `rewritten\n\n${JSON.stringify(record)}`;
  const who = ["-c", "user.name=x", "-c", "user.email=x@x"];
  const oid = box.git(box.origin, ...who, "commit-tree", tree, "-p", previous, "-m", message);
  for (const key of Object.keys(env)) delete box.env[key];
  box.git(box.origin, "update-ref", ref, oid);
}

/** Subjects of the commits on main, newest first. */
export function subjects(box: Sandbox): string[] {
  return box.git(box.origin, "log", "--format=%s", "main").split("\n");
}

export function published(box: Sandbox): string[] {
  return subjects(box)
    .filter((line) => line.startsWith("publish "))
    .map((line) => line.slice(8));
}
