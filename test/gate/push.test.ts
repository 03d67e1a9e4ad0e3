// The fenced push from every kind of clone, with everything that can move meanwhile.
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { leaseRecord, leaseRef, type Sandbox, sandbox } from "../support/sandbox.js";

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.dispose());

/** Commits in the clone, and pushes under a fresh lease. */
const work = (clone: string, script: string, ...options: string[]) =>
  box.cli(["run", "--lease", "blog", "--push", "main", "--json", ...options, "--", "sh", "-c", script], {
    cwd: clone,
  });

/** Somebody else pushes to main, outside of any lease. */
function otherPush(file: string, content?: string): string {
  const clone = join(box.folder, "other");
  if (!existsSync(clone)) box.clone("other");
  box.git(clone, "pull", "--quiet", "--rebase", "origin", "main");
  box.commit(clone, file, content);
  box.git(clone, "push", "--quiet", "origin", "HEAD:main");
  return box.git(clone, "rev-parse", "HEAD");
}

/** Everything in a clone except its objects: refs, index, config, hooks, shallow, HEAD, logs, and the work tree. */
function snapshot(clone: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const path of readdirSync(clone, { recursive: true, encoding: "utf8" })) {
    const full = join(clone, path);
    if (/^\.git\/objects\b/.test(path) || !statSync(full).isFile()) continue;
    files[path] = createHash("sha256").update(readFileSync(full)).digest("hex");
  }
  return files;
}

describe("the user's clone is byte for byte what it was, and the push goes through (C39, C40, C41)", () => {
  const kinds: [string, () => string][] = [
    ["a full clone", () => box.clone("a")],
    ["--depth=1", () => box.clone("a", "--depth=1", `file://${box.origin}`)],
    ["--filter=blob:none", () => box.clone("a", "--filter=blob:none", `file://${box.origin}`)],
    ["--filter=tree:0", () => box.clone("a", "--filter=tree:0", `file://${box.origin}`)],
    ["a folder with spaces and non-ASCII letters", () => box.clone('mon dépôt 日本 "x"')],
    [
      "an ssh remote that only the clone's own core.sshCommand can reach",
      () => {
        const ssh = join(box.folder, "ssh");
        // The last argument is the command for the other machine, which here is this one.
        writeFileSync(ssh, '#!/bin/sh\nfor last; do :; done\nexec sh -c "$last"\n');
        chmodSync(ssh, 0o755);
        const clone = box.clone("a");
        box.git(clone, "remote", "set-url", "origin", `ssh://git@server.invalid${box.origin}`);
        box.git(clone, "config", "core.sshCommand", ssh);
        return clone;
      },
    ],
    [
      "a worktree",
      () => {
        const path = join(box.folder, "tree");
        box.git(box.clone("a"), "worktree", "add", "--quiet", path);
        return path;
      },
    ],
    [
      "a detached HEAD",
      () => {
        const clone = box.clone("a");
        box.git(clone, "checkout", "--quiet", "--detach");
        return clone;
      },
    ],
    [
      "a stale index.lock",
      () => {
        const clone = box.clone("a");
        box.commit(clone, "before");
        writeFileSync(join(clone, ".git", "index.lock"), "");
        return clone;
      },
    ],
    [
      "a failing pre-push hook",
      () => {
        const clone = box.clone("a");
        const hook = join(clone, ".git", "hooks", "pre-push");
        writeFileSync(hook, "#!/bin/sh\nexit 2\n");
        chmodSync(hook, 0o755);
        return clone;
      },
    ],
    [
      "core.hooksPath with a failing hook in the user's own settings",
      () => {
        const hooks = join(box.folder, "hooks");
        mkdirSync(hooks);
        for (const name of ["pre-push", "post-checkout", "pre-rebase", "post-rewrite", "pre-commit"]) {
          writeFileSync(join(hooks, name), "#!/bin/sh\nexit 2\n");
          chmodSync(join(hooks, name), 0o755);
        }
        const clone = box.clone("a");
        box.commit(clone, "before");
        box.git(box.folder, "config", "--global", "core.hooksPath", hooks);
        return clone;
      },
    ],
  ];

  it.each(kinds)("%s", async (kind, make) => {
    for (let i = 0; i < 3; i++) otherPush(`old-${i}`);
    const clone = make();
    if (!/index.lock|hooksPath/.test(kind)) box.commit(clone, "article");
    const head = box.git(clone, "rev-parse", "HEAD");
    const before = snapshot(clone);
    const ended = await work(clone, "true");
    expect(ended.stderr).toMatch(/pushed/);
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "pushed", commit: head, replayed: false });
    expect(box.tip("refs/heads/main")).toBe(head);
    expect(snapshot(clone)).toEqual(before);
    expect(box.git(box.origin, "log", "--format=%s", leaseRef("blog"))).toMatch(
      /released.*\n.*pushed main .*\n.*acquired/,
    );
    expect(box.git(box.origin, "fsck", "--strict")).not.toMatch(/error|missing/);
  });

  it.each(kinds)("%s, when the branch moved and a rebase is needed", async (kind, make) => {
    for (let i = 0; i < 3; i++) otherPush(`old-${i}`);
    const clone = make();
    if (!/index.lock|hooksPath/.test(kind)) box.commit(clone, "article");
    const head = box.git(clone, "rev-parse", "HEAD");
    // The hooks in the user's settings would stop the other writer too.
    box.git(box.folder, "config", "--global", "core.hooksPath", "");
    const tip = otherPush("meanwhile");
    if (kind.includes("hooksPath"))
      box.git(box.folder, "config", "--global", "core.hooksPath", join(box.folder, "hooks"));
    else box.git(box.folder, "config", "--global", "--unset", "core.hooksPath");
    const before = snapshot(clone);
    const ended = await work(clone, "true");
    const result = JSON.parse(ended.stdout);
    expect(result).toMatchObject({ outcome: "pushed", replayed: true });
    expect(box.tip("refs/heads/main")).toBe(result.commit);
    expect(ended.stderr).toContain(result.commit);
    expect(result.commit).not.toBe(head);
    expect(box.git(box.origin, "rev-parse", "main^")).toBe(tip);
    expect(box.git(box.origin, "rev-list", "--count", "main")).toBe("6");
    expect(box.git(box.origin, "log", "-1", "--format=%an %ae %s", "main")).toMatch(
      /^Writer writer@example.org add /,
    );
    expect(snapshot(clone)).toEqual(before);
  });
});

describe("outcomes", () => {
  it("unchanged: there is nothing to push", async () => {
    const clone = box.clone("a");
    const ended = await work(clone, "true");
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "unchanged" });
    expect(box.git(box.origin, "log", "--format=%s", leaseRef("blog"))).not.toMatch(/pushed/);
  });

  it("unchanged: somebody else published the same change", async () => {
    const clone = box.clone("a");
    box.commit(clone, "article", "same\n");
    otherPush("article", "same\n");
    const ended = await work(clone, "true");
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "unchanged" });
  });

  it("moved: a conflict leaves nothing half done, names the files, and keeps the commits", async () => {
    const clone = box.clone("a");
    const head = box.commit(clone, "article", "mine\n");
    const tip = otherPush("article", "theirs\n");
    const before = snapshot(clone);
    const ended = await work(clone, "true");
    expect(ended.code).toBe(73);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      outcome: "moved",
      why: expect.stringMatching(/conflicts in article/),
      rescue: { kept: "ref", commit: head },
    });
    expect(box.tip("refs/heads/main")).toBe(tip);
    expect(box.tip("refs/heads/fencepost/rescue/blog/1")).toBe(head);
    expect(snapshot(clone)).toEqual(before);
    expect(leaseRecord(box, leaseRef("blog"))).toMatchObject({ state: "released" });
  });

  it("moved: with --on-moved fail nothing is rebased", async () => {
    const clone = box.clone("a");
    box.commit(clone, "article");
    const tip = otherPush("meanwhile");
    const ended = await work(clone, "true", "--on-moved", "fail");
    expect(ended.code).toBe(73);
    expect(box.tip("refs/heads/main")).toBe(tip);
  });

  it("regenerate: the command runs again on the new tip, in a folder of its own (C01)", async () => {
    const clone = box.clone("a");
    const script = "ls > listing; git add listing; git commit -q -m listing; pwd >> ../folders";
    const tip = otherPush("meanwhile");
    const ended = await box.cli(
      [
        "run",
        "--lease",
        "blog",
        "--push",
        "main",
        "--on-moved",
        "regenerate",
        "--",
        "sh",
        "-c",
        script.replace("../folders", join(box.folder, "folders")),
      ],
      { cwd: clone },
    );
    expect(ended.stderr).toMatch(/regenerating/);
    expect(ended.code).toBe(0);
    expect(box.git(box.origin, "show", "main:listing")).toMatch(/meanwhile/);
    expect(box.git(box.origin, "rev-parse", "main^")).toBe(tip);
    const folders = readFileSync(join(box.folder, "folders"), "utf8").trim().split("\n");
    expect(folders[0]).toBe(clone);
    expect(folders[1]).not.toBe(clone);
    expect(existsSync(folders[1] as string)).toBe(false);
  });

  it("moved: a command that fails on the new tip publishes nothing", async () => {
    const clone = box.clone("a");
    const tip = otherPush("meanwhile");
    const script = '[ -z "$FENCEPOST_REGENERATE" ] || exit 4; git commit -q --allow-empty -m x';
    const ended = await work(clone, script, "--on-moved", "regenerate");
    expect(ended.code).toBe(73);
    expect(ended.stderr).toMatch(/failed on the new tip \(exit 4\)/);
    expect(box.tip("refs/heads/main")).toBe(tip);
  });

  it("refused: a server without atomic pushes; nothing falls back to a push that is not atomic (C06)", async () => {
    const clone = box.clone("a");
    const acquired = box.start(
      [
        "run",
        "--lease",
        "blog",
        "--push",
        "main",
        "--json",
        "--",
        "sh",
        "-c",
        `git commit -q --allow-empty -m x; git -C ${box.origin} config receive.advertiseAtomic false`,
      ],
      { cwd: clone },
    );
    const main = box.tip("refs/heads/main");
    const ended = await acquired.ended;
    expect(ended.code).toBe(77);
    expect(ended.stderr).toMatch(
      /does not support --atomic push.*Without atomic pushes a late write cannot be refused/,
    );
    expect(ended.stderr).toMatch(/git fetch .*\.bundle refs\/heads\/rescued/);
    expect(box.tip("refs/heads/main")).toBe(main);
  });

  const server: [string, string, RegExp][] = [
    [
      "GH006",
      "remote: error: GH006: Protected branch update failed for refs/heads/main.",
      /branch is protected/,
    ],
    [
      "GH013",
      "remote: error: GH013: Repository rule violations found for refs/heads/main.",
      /bypass list.*pull request/,
    ],
    [
      "workflows",
      "refusing to allow a GitHub App to create or update workflow `.github/workflows/x.yml` without `workflows` permission",
      /workflows permission/,
    ],
  ];
  it.each(server)(
    "refused: %s is final at once, says what to change, and keeps the commits",
    async (_, words, advice) => {
      const clone = box.clone("a");
      const counter = join(box.folder, "pushes");
      hook(
        "pre-receive",
        `while read -r old new ref; do case $ref in refs/heads/main) echo x >> ${counter}; echo '${words.replace("remote: ", "")}' >&2; exit 1;; esac; done; exit 0`,
      );
      const ended = await work(clone, "git commit -q --allow-empty -m x");
      expect(ended.code).toBe(77);
      expect(ended.stderr).toMatch(advice);
      expect(readFileSync(counter, "utf8")).toBe("x\n");
      expect(box.tip("refs/heads/fencepost/rescue/blog/1")).toBe(box.git(clone, "rev-parse", "HEAD"));
      expect(leaseRecord(box, leaseRef("blog"))).toMatchObject({ state: "released" });
    },
  );

  it("refused, and the rescue ref too: the commits are in a bundle that can be fetched", async () => {
    const clone = box.clone("a");
    hook(
      "pre-receive",
      "while read -r old new ref; do case $ref in */main|*/rescue/*) exit 1;; esac; done; exit 0",
    );
    const ended = await work(clone, "git commit -q --allow-empty -m x");
    expect(ended.code).toBe(77);
    const { rescue } = JSON.parse(ended.stdout);
    const other = box.clone("b");
    box.git(other, "fetch", "--quiet", rescue.file, "refs/heads/rescued");
    expect(box.git(other, "rev-parse", "FETCH_HEAD")).toBe(box.git(clone, "rev-parse", "HEAD"));
  });

  it("a second failed push under the same token keeps both commits", async () => {
    const clone = box.clone("a");
    const main = box.git(clone, "rev-parse", "HEAD");
    for (const _ of [1, 2]) await box.cli(["run", "--lease", "blog", "--", "true"], { cwd: clone });
    const heads = ["one", "two"].map((name) => {
      box.git(clone, "reset", "--quiet", "--hard", main);
      return box.commit(clone, name);
    });
    for (const head of heads)
      await box.cli(["push", "main", "--lease", "blog", "--token", "1", "--head", head], { cwd: clone });
    const kept = box
      .git(box.origin, "for-each-ref", "--format=%(objectname)", "refs/heads/fencepost/rescue/blog/")
      .split("\n");
    expect(kept.sort()).toEqual(heads.sort());
  });
});

describe("what goes with the branch", () => {
  it("tags and further refs move in the same push, or nothing does", async () => {
    const clone = box.clone("a");
    const script = "git commit -q --allow-empty -m x; git tag -a v1 -m one; git tag light";
    const ended = await work(
      clone,
      script,
      "--tag",
      "v1",
      "--tag",
      "light",
      "--ref",
      "HEAD:refs/heads/latest",
    );
    expect(ended.stderr).toMatch(/pushed/);
    const head = box.git(clone, "rev-parse", "HEAD");
    expect(["refs/heads/main", "refs/heads/latest", "refs/tags/light"].map(box.tip)).toEqual([
      head,
      head,
      head,
    ]);
    expect(box.tip("refs/tags/v1")).toBe(box.git(clone, "rev-parse", "refs/tags/v1"));
    const published = box.git(box.origin, "log", "-1", "--skip=1", "--format=%B", leaseRef("blog"));
    expect(published).toContain(`"refs/heads/latest": "${head}"`);
    const again = await work(
      clone,
      "git commit -q --allow-empty -m y; git tag -f v1 >/dev/null",
      "--tag",
      "v1",
    );
    expect(again.code).toBe(77);
    expect(again.stderr).toMatch(/already exists.*tag of that name/);
    expect(box.tip("refs/heads/main")).toBe(head);
  });

  it("a tag on a commit that a rebase would replace stops the push", async () => {
    const clone = box.clone("a");
    const tip = otherPush("meanwhile");
    const ended = await work(clone, "git commit -q --allow-empty -m x; git tag v1", "--tag", "v1");
    expect(ended.code).toBe(73);
    expect(ended.stderr).toMatch(/refs\/tags\/v1 names a commit that would have to be replaced/);
    expect(box.tip("refs/heads/main")).toBe(tip);
    expect(box.tip("refs/tags/v1")).toBe("");
  });

  it("replaces a branch only if it is where it was when the lease was acquired", async () => {
    const clone = box.clone("a");
    box.git(clone, "push", "--quiet", "origin", "HEAD:refs/heads/gh-pages");
    const page = "git checkout -q --orphan page; git commit -q --allow-empty -m page";
    const args = (script: string) => [
      "run",
      "--lease",
      "pages",
      "--push",
      "gh-pages",
      "--replace",
      "--json",
      "--",
      "sh",
      "-c",
      script,
    ];
    const ended = await box.cli(args(page), { cwd: clone });
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "pushed" });
    expect(box.git(box.origin, "rev-list", "--count", "gh-pages")).toBe("1");
    const seed = join(box.folder, "seed");
    const moved = await box.cli(
      args(`git commit -q --amend --allow-empty -m again; git -C ${seed} push -q -f origin HEAD:gh-pages`),
      { cwd: clone },
    );
    expect(moved.code).toBe(73);
    expect(box.tip("refs/heads/gh-pages")).toBe(box.git(seed, "rev-parse", "HEAD"));
  });

  it("makes a branch that does not exist yet", async () => {
    const clone = box.clone("a");
    const ended = await box.cli(
      ["run", "--lease", "blog", "--push", "brand-new", "--", "sh", "-c", "git commit -q --allow-empty -m x"],
      { cwd: clone },
    );
    expect(ended.code).toBe(0);
    expect(box.tip("refs/heads/brand-new")).toBe(box.git(clone, "rev-parse", "HEAD"));
  });

  it("keeps merges when it rebases", async () => {
    const clone = box.clone("a");
    otherPush("meanwhile");
    const script =
      "git checkout -q -b side && git commit -q --allow-empty -m side && git checkout -q main && git commit -q --allow-empty -m ours && git merge -q --no-ff -m merge side";
    const ended = await work(clone, script);
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "pushed", replayed: true });
    expect(box.git(box.origin, "rev-list", "--merges", "--count", "main")).toBe("1");
  });
});

function hook(name: string, body: string): void {
  const path = join(box.origin, "hooks", name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
}
