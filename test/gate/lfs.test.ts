// Git LFS: what the commits point at is uploaded before the branch moves, and never silently left out.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, sandbox } from "../support/sandbox.js";
import { gitShim } from "../support/shim.js";

let box: Sandbox;
let clone: string;
const content = "a large file\n".repeat(1000);
const oid = createHash("sha256").update(content).digest("hex");
const uploaded = () => existsSync(join(box.origin, "lfs", "objects", oid.slice(0, 2), oid.slice(2, 4), oid));

beforeEach(() => {
  box = sandbox();
  clone = box.clone("a", `file://${box.origin}`);
  box.git(clone, "lfs", "install", "--local");
  box.git(clone, "lfs", "track", "*.bin");
  box.commit(clone, "photo.bin", content);
  box.git(clone, "add", ".gitattributes");
  box.git(clone, "commit", "--quiet", "--amend", "--no-edit");
});
afterEach(() => box.dispose());

const args = ["run", "--lease", "blog", "--push", "main", "--json", "--", "true"];

describe("Git LFS", () => {
  it("objects are uploaded before the push", async () => {
    const ended = await box.cli(args, { cwd: clone });
    expect(ended.stderr).toMatch(/uploading 1 Git LFS object first/);
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "pushed" });
    expect(box.git(box.origin, "show", "main:photo.bin")).toContain(`oid sha256:${oid}`);
    expect(uploaded()).toBe(true);
  });

  it("go to the server that the repository names, and its address stands in no argument", async () => {
    const store = join(box.folder, "large files");
    box.git(box.folder, "init", "--quiet", "--bare", store);
    box.git(clone, "config", "--file", ".lfsconfig", "lfs.url", `file://${store}`);
    box.git(clone, "add", ".lfsconfig");
    box.git(clone, "commit", "--quiet", "--amend", "--no-edit");
    const shim = gitShim(box);
    const ended = await box.cli(args, { cwd: clone, env: shim.env });
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "pushed" });
    expect(existsSync(join(store, "lfs", "objects", oid.slice(0, 2), oid.slice(2, 4), oid))).toBe(true);
    expect(shim.calls()).toMatch(/^lfs\npush$/m);
    expect(shim.calls()).not.toContain("large files");
  });

  it("missing here while the commits hold pointers: refused, and main is untouched (C41)", async () => {
    const main = box.tip("refs/heads/main");
    const shim = gitShim(
      box,
      `if (args.includes("lfs")) { console.error("git: 'lfs' is not a git command. See 'git --help'."); process.exit(1); }`,
    );
    const ended = await box.cli(args, { cwd: clone, env: shim.env });
    expect(ended.code).toBe(77);
    expect(ended.stderr).toMatch(/git-lfs is not installed here.*Install git-lfs/);
    expect(box.tip("refs/heads/main")).toBe(main);
  });
});
