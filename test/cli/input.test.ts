// Bad input and bad surroundings: one clear sentence, the right exit code, and nothing written.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { gitServer } from "../support/git-server.js";
import { leaseRef, type Sandbox, sandbox } from "../support/sandbox.js";

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.dispose());

const refs = () => box.git(box.origin, "for-each-ref");

describe("bad input", () => {
  const run = ["run", "--lease", "blog"];
  it.each<[string, string[], number, RegExp]>([
    [
      "a lease name that climbs",
      ["run", "--lease", "../x", "--", "true"],
      64,
      /lease name "\.\.\/x" has an empty, `\.` or `\.\.` segment/,
    ],
    ["an empty lease name", ["run", "--lease", "", "--", "true"], 64, /lease name "" is empty/],
    [
      "300 Japanese letters",
      ["run", "--lease", "あ".repeat(300), "--", "true"],
      64,
      /is 300 characters long, and 200 is the most/,
    ],
    ["no lease", ["run", "--", "true"], 64, /--lease/],
    ["no command", [...run], 64, /command/],
    [
      "a bad duration",
      [...run, "--ttl", "15 minutes", "--", "true"],
      64,
      /--ttl: "15 minutes" is not a duration\. Good ones: 90s, 15m, 1h30m/,
    ],
    [
      "a TTL too short",
      [...run, "--ttl", "1s", "--", "true"],
      64,
      /--ttl: "1s" is out of range; it takes 2s to 7d/,
    ],
    ["an unknown option", [...run, "--frobnicate", "--", "true"], 64, /unknown option '--frobnicate'/],
    [
      "an unknown remote",
      [...run, "--store", "upstream", "--", "true"],
      78,
      /no remote, URL or folder "upstream".*git remote -v/,
    ],
    [
      "a bad branch",
      [...run, "--push", "a..b", "--", "true"],
      64,
      /branch name "a\.\.b" .*git does not allow/,
    ],
    [
      "our own branch",
      [...run, "--push", "fencepost/lease/x", "--", "true"],
      64,
      /one of Fencepost's own records/,
    ],
    ["a bad prefix", [...run, "--ref-prefix", "A b", "--", "true"], 64, /ref prefix "A b" cannot be used/],
    ["--replace without --push", [...run, "--replace", "--", "true"], 64, /go with --push/],
    [
      "a token that is no number",
      ["push", "main", "--lease", "blog", "--token", "x"],
      64,
      /--token: "x" is not a whole number/,
    ],
    ["a push without a lease", ["push", "main"], 64, /--lease is missing, and so is FENCEPOST_LEASE/],
    ["unlock of what never was", ["unlock", "blog", "--token", "1", "--reason", "x"], 78, /never acquired/],
    ["a command that does not exist", ["frobnicate"], 64, /unknown command 'frobnicate'/],
  ])("%s", async (_, args, code, words) => {
    const clone = box.clone("a");
    const before = refs();
    const ended = await box.cli(args, { cwd: clone });
    expect(ended.stderr).toMatch(words);
    expect(ended.code).toBe(code);
    expect(refs()).toBe(before);
  });

  it("outside a clone asks for a store", async () => {
    const ended = await box.cli([...run, "--", "true"]);
    expect(ended.code).toBe(78);
    expect(ended.stderr).toMatch(/is not in a git clone.*name a store with --store/);
  });

  it("puts the failure into one object with --json", async () => {
    const ended = await box.cli([...run, "--store", "upstream", "--json", "--", "true"]);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      outcome: "configuration",
      why: expect.stringMatching(/upstream/),
    });
  });
});

describe("bad surroundings", () => {
  it("a lease branch that somebody overwrote is an error, never free", async () => {
    const clone = box.clone("a");
    await box.cli(["run", "--lease", "blog", "--", "true"], { cwd: clone });
    box.git(clone, "push", "--quiet", "--force", "origin", `HEAD:${leaseRef("blog")}`);
    const before = refs();
    for (const args of [
      ["run", "--lease", "blog", "--", "true"],
      ["status"],
      ["unlock", "blog", "--token", "1", "--reason", "x"],
    ]) {
      const ended = await box.cli(args, { cwd: clone });
      expect(ended.code).toBe(78);
      expect(ended.stderr).toMatch(/record lease\/blog .* is not a Fencepost record.*Put its branch back/);
    }
    expect(refs()).toBe(before);
  });

  it("a record of a newer format says so", async () => {
    const clone = box.clone("a");
    const tree = box.git(clone, "hash-object", "-t", "tree", "-w", "/dev/null");
    const oid = box.git(clone, "commit-tree", tree, "-m", "lease", "-m", '{"fencepost": 2}');
    box.git(clone, "push", "--quiet", "origin", `${oid}:${leaseRef("blog")}`);
    const ended = await box.cli(["run", "--lease", "blog", "--", "true"], { cwd: clone });
    expect(ended.code).toBe(78);
    expect(ended.stderr).toMatch(/format 2, which is newer than the 1 .* Upgrade/);
  });

  it("a store that may not be written to is refused on the first attempt, with the cure", async () => {
    const server = await gitServer({ root: box.folder, env: box.env });
    try {
      box.git(box.origin, "config", "http.receivepack", "false");
      const before = refs();
      const ended = await box.cli([
        "run",
        "--lease",
        "blog",
        "--store",
        `${server.url}/origin.git`,
        "--",
        "true",
      ]);
      expect(ended.code).toBe(77);
      expect(ended.stderr).toMatch(/Could not write to the store .*403.*contents: write/);
      expect(server.requests.filter((r) => r.path.includes("receive-pack"))).toHaveLength(1);
      expect(refs()).toBe(before);
    } finally {
      await server.close();
    }
  });

  it("a hook that declines is refused with the hook's words", async () => {
    hook("pre-receive", "echo no leases here >&2; exit 1");
    const ended = await box.cli(["run", "--lease", "blog", "--store", box.origin, "--", "true"]);
    expect(ended.code).toBe(77);
    expect(ended.stderr).toMatch(/pre-receive hook declined/);
  });

  it("a branch named like the prefix is explained", async () => {
    const clone = box.clone("a");
    box.git(clone, "push", "--quiet", "origin", "HEAD:refs/heads/fencepost");
    const ended = await box.cli(["run", "--lease", "blog", "--", "true"], { cwd: clone });
    expect(ended.code).toBe(78);
    expect(ended.stderr).toMatch(/'refs\/heads\/fencepost' exists.*--ref-prefix/);
    const other = await box.cli(["run", "--lease", "blog", "--ref-prefix", "leases", "--", "true"], {
      cwd: clone,
    });
    expect(other.code).toBe(0);
  });

  it("an address where nothing answers is unavailable, one where no repository is is a configuration error", async () => {
    const nothing = await box.cli([
      "run",
      "--lease",
      "blog",
      "--store",
      "http://127.0.0.1:1/x.git",
      "--",
      "true",
    ]);
    expect(nothing.code).toBe(69);
    mkdirSync(join(box.folder, "empty"));
    const empty = await box.cli([
      "run",
      "--lease",
      "blog",
      "--store",
      join(box.folder, "empty"),
      "--",
      "true",
    ]);
    expect(empty.code).toBe(78);
    expect(empty.stderr).toMatch(/does not appear to be a git repository/);
  });
});

function hook(name: string, body: string): void {
  const path = join(box.origin, "hooks", name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
}
