// `fencepost sweep` as a machine with cron uses it: real processes on a real bare repository.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  draftRef,
  globs,
  post,
  published,
  publishing,
  pushFiles,
  recordAt,
  rewrite,
} from "../support/blog.js";
import { type Sandbox, sandbox } from "../support/sandbox.js";

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.dispose());

const names = (n: number) => Array.from({ length: n }, (_, i) => `posts/${String(i).padStart(2, "0")}.md`);
const write = (paths: string[]) =>
  pushFiles(box, Object.fromEntries(paths.map((path) => [path, post(path)])));
const sweep = (clone: string, options: string[], command = publishing) =>
  box.cli(["sweep", ...globs, "--json", ...options, ...(command ? ["--", "sh", "-c", command] : [])], {
    cwd: clone,
  });
const adds = ({ counts, total }: { counts: Record<string, number>; total: number }) =>
  Object.values(counts).reduce((a, b) => a + b, 0) === total;

describe("with a command", () => {
  it("publishes three drafts that came in one push as three articles", async () => {
    const clone = write(names(3));
    const head = box.git(clone, "rev-parse", "HEAD");
    const ended = await sweep(clone, ["--event", "--max-start", "10"]);
    expect(ended.code).toBe(0);
    expect(published(box).sort()).toEqual(names(3));
    expect(JSON.parse(ended.stdout).worked).toHaveLength(3);
    // The clone is not touched.
    expect(box.git(clone, "rev-parse", "HEAD")).toBe(head);
    expect(box.git(clone, "status", "--porcelain")).toBe("");
  });

  it("publishes without any other act what its event forgot, once it is old enough", async () => {
    const clone = pushFiles(box, { "posts/a.md": post("a") }, new Date(Date.now() - 3_600_000).toISOString());
    pushFiles(box, { "posts/b.md": post("b") });
    const ended = await sweep(clone, ["--max-start", "5"]);
    expect(JSON.parse(ended.stdout).counts).toMatchObject({ started: 1, too_young: 1 });
    expect(published(box)).toEqual(["posts/a.md"]);
  });

  it("starts eight at most three at a time, the oldest first", async () => {
    const order = [5, 2, 7, 0, 3, 6, 1, 4].map((n) => names(8)[n] as string);
    const day = (n: number) => `date: 2026-01-0${n + 1}T00:00:00Z\n`;
    const files = order.map((path, n) => [path, post(path, day(n))] as const);
    const clone = pushFiles(box, Object.fromEntries(files));
    const rounds: number[] = [];
    for (let i = 0; i < 3; i++) {
      const ended = JSON.parse((await sweep(clone, ["--event", "--max-start", "3"])).stdout);
      expect(adds(ended)).toBe(true);
      rounds.push(ended.started.length);
    }
    expect(rounds).toEqual([3, 3, 2]);
    expect(published(box).reverse()).toEqual(order);
  });

  it("publishes four of five when one cannot be read", async () => {
    const clone = write(names(5));
    pushFiles(box, { "posts/02.md": "---\ntitle: [\n---\n" });
    const ended = await sweep(clone, ["--event", "--max-start", "10"]);
    const told = JSON.parse(ended.stdout);
    expect(published(box).sort()).toEqual(names(5).filter((path) => path !== "posts/02.md"));
    expect(told.counts).toMatchObject({ started: 4, unreadable: 1 });
    expect(ended.stderr).toMatch(/unreadable: "posts\/02.md": its front matter is not YAML/);
  });

  it("is not stopped by a draft whose command fails, and keeps what that left behind out of the others", async () => {
    const clone = write(names(3));
    const script = `${publishing}; case "$FENCEPOST_DRAFT" in *01.md) exit 3;; esac`;
    const ended = await sweep(clone, ["--event", "--max-start", "10"], script);
    expect(ended.code).toBe(1);
    expect(published(box).sort()).toEqual(["posts/00.md", "posts/02.md"]);
    expect(JSON.parse(ended.stdout).worked[1]).toMatchObject({
      state: "pending",
      why: "the command failed with exit code 3",
    });
  });

  it("sets a draft aside after three failures with a warning, and publishes it once it is edited", async () => {
    const clone = write(["posts/a.md"]);
    for (let i = 0; i < 3; i++) await sweep(clone, ["--event", "--backoff", "0s"], "false");
    const dead = await sweep(clone, ["--event"]);
    expect(dead.stderr).toMatch(/dead: "posts\/a.md" is set aside after 3 attempts/);
    expect(JSON.parse(dead.stdout).counts).toMatchObject({ dead: 1, started: 0 });
    pushFiles(box, { "posts/a.md": post("better") });
    expect((await sweep(clone, ["--event"])).code).toBe(0);
    expect(published(box)).toEqual(["posts/a.md"]);
  });

  it("publishes what an executor was killed over, after its time", async () => {
    const clone = write(["posts/a.md"]);
    const args = ["run", "--draft", "posts/a.md", "--convention", "hugo", "--ttl", "2s", "--push", "main"];
    const first = box.start([...args, "--", "sh", "-c", "echo up; sleep 60"], { cwd: clone });
    await first.until(/up/);
    // Its command lives on in a group of its own, and no longer matters.
    process.kill(-(first.child.pid as number), "SIGKILL");
    const early = JSON.parse((await sweep(clone, ["--event", "--ttl", "2s"], "")).stdout);
    expect(early.counts).toMatchObject({ held: 1 });
    for (let i = 0; i < 50 && published(box).length === 0; i++)
      await sweep(clone, ["--event", "--ttl", "2s"]);
    expect(published(box)).toEqual(["posts/a.md"]);
    expect(recordAt(box, draftRef("posts/a.md"))).toMatchObject({ token: 2, attempts: 2, lost: 1 });
  });

  it("works outside of any clone", async () => {
    write(["posts/a.md"]);
    const identity = "git -c user.name=x -c user.email=x@x commit";
    const script = publishing.replace("git commit", identity);
    const args = ["sweep", ...globs, "--event", "--store", box.origin, "--", "sh", "-c", script];
    const ended = await box.cli(args);
    expect(ended.stderr).not.toMatch(/failed/);
    expect(published(box)).toEqual(["posts/a.md"]);
  });
});

describe("without a command", () => {
  it("prints the table, remembers what it started, and does not start it again before its time", async () => {
    const clone = write(names(2));
    const first = await box.cli(["sweep", ...globs, "--event", "--max-start", "1"], { cwd: clone });
    expect(first.stdout).toMatch(/started +posts\/00.md +never tried\nover_cap +posts\/01.md/);
    expect(first.stdout).toMatch(/2 drafts: 1 started, 1 over_cap/);
    const second = JSON.parse((await sweep(clone, ["--event", "--max-start", "5"], "")).stdout);
    expect(second.started).toEqual(["posts/01.md"]);
    expect(second.counts).toMatchObject({ already_started: 1, started: 1 });
    const soon = JSON.parse(
      (await sweep(clone, ["--event", "--stale-after", "0s", "--max-start", "5"], "")).stdout,
    );
    expect(soon.started).toEqual(names(2));
  });

  it("makes an expired holder's draft pending again, and removes what is old and gone, raising the floor", async () => {
    const clone = write(names(2));
    await sweep(clone, ["--event", "--max-start", "5"]);
    const old = new Date(Date.now() - 40 * 86_400_000).toISOString();
    rewrite(box, draftRef("posts/00.md"), { token: 41 }, old);
    const swept = JSON.parse((await sweep(clone, ["--max-start", "0"], "")).stdout);
    expect(swept).toMatchObject({ pruned: 1, conflicts: 0 });
    expect(box.tip(draftRef("posts/00.md"))).toBe("");
    pushFiles(box, { "posts/new.md": post("new") });
    await sweep(clone, ["--event"]);
    expect(recordAt(box, draftRef("posts/new.md"))).toMatchObject({ token: 42 });
  });

  it("says what is wrong with its options", async () => {
    const clone = write(["posts/a.md"]);
    for (const [args, words] of [
      [["--drafts", "!x", "--convention", "hugo"], /name no file/],
      [["--drafts", "x"], /--convention is missing/],
      [["--drafts", "x", "--convention", "custom"], /needs --predicate/],
      [["--drafts", "x", "--convention", "hugo", "--timezone", "Mars"], /Mars/],
      [["--drafts", "x", "--convention", "hugo", "--push", "main"], /--push goes with COMMAND/],
    ] as const) {
      const ended = await box.cli(["sweep", ...args], { cwd: clone });
      expect([ended.code, ended.stderr]).toEqual([64, expect.stringMatching(words)]);
    }
  });

  it("takes a predicate of the user's own", async () => {
    const clone = pushFiles(box, {
      "a b/x.md": "---\nstatus: ready\n---\n",
      "a b/y.md": "---\nstatus: idea\n---\n",
      [join("a b", "見出し\n二.md")]: "---\nstatus: ready\n---\n",
    });
    const args = ["sweep", "--event", "--json", "--max-start", "9", "--predicate", 'status == "ready"'];
    const ended = await box.cli([...args, "--drafts", "a b/*.md", "!**/z*"], { cwd: clone });
    expect(JSON.parse(ended.stdout).started).toEqual(["a b/x.md", "a b/見出し\n二.md"]);
  });
});
