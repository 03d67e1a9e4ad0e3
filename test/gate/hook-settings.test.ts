// What a gate's settings do: patterns, drafts, the maintainers' escape, and values that cannot be used; and what the gate leaves alone.
import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DraftRecord, draftMessage } from "../../src/protocol/draft.js";
import { floorRecordName, raiseFloor } from "../../src/protocol/floor.js";
import { refOf } from "../../src/protocol/names.js";
import { draftRef, globs, post, publishing, pushFiles, recordAt } from "../support/blog.js";
import {
  commitOf,
  doors,
  gitLater,
  hookFile,
  install,
  nonce,
  refs,
  seenLease,
  successor,
  take,
} from "../support/gate.js";
import { leaseRef, type Sandbox, sandbox } from "../support/sandbox.js";
import { gitShim } from "../support/shim.js";

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.dispose());

const main = "refs/heads/main";
const push = (clone: string, ...args: string[]) => gitLater(box, clone, ["push", box.origin, ...args]);
const set = (key: string, value: string) => box.git(box.origin, "config", "--add", key, value);

/** Starts a hook as git does, with its lines. */
function hook(name: string, args: string[], lines: string[], more: NodeJS.ProcessEnv = {}) {
  return new Promise<{ code: number | null; stderr: string; took: number }>((resolve) => {
    const started = performance.now();
    const env = { ...box.env, GIT_DIR: ".", ...more };
    const child = spawn(hookFile(box, name), args, {
      cwd: box.origin,
      env,
      stdio: ["pipe", "ignore", "pipe"],
    });
    let stderr = "";
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    child.on("close", (code) => resolve({ code, stderr, took: performance.now() - started }));
    // A hook that is over does not read its lines.
    child.stdin.on("error", () => {});
    child.stdin.end(lines.map((line) => `${line}\n`).join(""));
  });
}

describe("patterns", () => {
  it("`*` stops at a slash, `**` does not, and a section of its own goes first", async () => {
    await install(box, "--protect", "refs/heads/site-*", "--lease", "site");
    set("fencepost.protect", "refs/heads/r/**");
    set("fencepost.protect", "refs/heads/site-*");
    set("fencepost.lease", "all");
    const clone = box.clone("a");
    const words = async (ref: string) => (await push(clone, `HEAD:${ref}`)).stderr;
    expect(await words("refs/heads/site-a")).toMatch(/together with the lease "site"/);
    expect(await words("refs/heads/r/a/b")).toMatch(/together with the lease "all"/);
    expect((await push(clone, "HEAD:refs/heads/site-a/b", "HEAD:refs/heads/rest")).code).toBe(0);
  });

  it("see a whole name, also beyond what JavaScript takes for the end of a line", async () => {
    await install(box, "--protect", "refs/heads/site-*", "refs/heads/r/**", "--lease", "site");
    const clone = box.clone("a");
    for (const ref of ["refs/heads/site-\u2028a", "refs/heads/r/\u2029/b"])
      expect((await push(clone, `HEAD:${ref}`)).stderr, ref).toMatch(/together with the lease "site"/);
    expect((await hook("pre-receive", [], ["what?"])).stderr).toMatch(/no change of a ref/);
  });

  it("mean the same file where names ignore case", async () => {
    await install(box);
    const clone = box.clone("a");
    expect((await push(clone, "HEAD:refs/heads/Main")).code).toBe(0);
    box.git(box.origin, "config", "core.ignorecase", "true");
    expect((await push(clone, "HEAD:refs/heads/MAIN")).stderr).toMatch(/refs\/heads\/MAIN moves only/);
  });

  it("a pattern over everything leaves the records and the rescues alone", async () => {
    await install(box, "--protect", "refs/**", "--lease", "blog");
    const clone = box.clone("a");
    take(box, clone, "a");
    expect((await push(clone, "HEAD:refs/heads/fencepost/rescue/blog/1")).code).toBe(0);
    expect((await push(clone, "HEAD:refs/tags/v1")).stderr).toMatch(
      /refs\/tags\/v1 moves only .*\n.*fencepost push BRANCH --ref HEAD:refs\/tags\/v1 --lease blog/,
    );
  });
});

describe("a setting that cannot be used refuses what it may be about", () => {
  it.each<[string, [string, string][], RegExp, boolean]>([
    [
      "no lease",
      [["fencepost.protect", main]],
      /no lease is named for "refs\/heads\/main"; set fencepost\.lease/,
      true,
    ],
    [
      "a lease that is no name",
      [
        ["fencepost.protect", main],
        ["fencepost.lease", "a//b"],
      ],
      /lease name "a\/\/b"/,
      true,
    ],
    [
      "drafts that are neither on nor off",
      [
        ["fencepost.refs/heads/main.lease", "x"],
        ["fencepost.refs/heads/main.drafts", "maybe"],
      ],
      /"maybe", and neither true nor false/,
      true,
    ],
    [
      "two rules that disagree",
      [
        ["fencepost.refs/heads/main.lease", "x"],
        ["fencepost.refs/heads/m*.lease", "y"],
      ],
      /which do not say the same/,
      true,
    ],
    [
      "a pattern that is none",
      [
        ["fencepost.protect", "main"],
        ["fencepost.lease", "x"],
      ],
      /"main" is no pattern of refs/,
      false,
    ],
    ["a prefix that is none", [["fencepost.prefix", "A b"]], /The ref prefix "A b" cannot be used/, false],
  ])("%s", async (_, settings, sentence, others) => {
    await install(box);
    box.git(box.origin, "config", "--remove-section", `fencepost.${main}`);
    for (const [key, value] of settings) set(key, value);
    const clone = box.clone("a");
    box.commit(clone, "x");
    const refused = await push(clone, "HEAD:main");
    expect(refused.stderr).toMatch(sentence);
    expect(refused.stderr).toMatch(
      /^remote: fencepost: refs\/heads\/main is protected, but nothing can pass: /m,
    );
    expect((await push(clone, "HEAD:refs/heads/side")).code === 0).toBe(others);
    const checked = await box.cli(["gate", "check", "--repository", box.origin]);
    expect(checked.stdout).toMatch(sentence);
    expect(checked.code).toBe(1);
  });

  it("and a program that is gone refuses everything", async () => {
    await install(box);
    rmSync(join(box.origin, "fencepost", "gate.mjs"));
    const clone = box.clone("a");
    expect((await push(clone, "HEAD:refs/heads/side")).stderr).toMatch(
      /remote: fencepost: the gate cannot be loaded, so nothing passes: Cannot find module/,
    );
    expect(box.tip("refs/heads/side")).toBe("");
  });
});

describe("the maintainers' escape", () => {
  const option = "fencepost-allow=the lease is stuck";
  let clone: string;
  let head: string;
  beforeEach(async () => {
    await install(box);
    box.git(box.origin, "config", "receive.advertisePushOptions", "true");
    clone = box.clone("a");
    take(box, clone, "a");
    head = box.commit(clone, "x");
  });
  const log = () =>
    readFileSync(join(box.origin, "fencepost", "allowed.log"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));

  it("passes for those who may, with a reason, and is recorded", async () => {
    const old = box.tip(main);
    set("fencepost.allow", "tester");
    const door = await doors.http(box);
    const forced = box.git(clone, "commit-tree", "-m", "other", `${head}^{tree}`);
    const ended = await gitLater(box, clone, [
      "push",
      "--force",
      "-o",
      option,
      door.url,
      `${forced}:${main}`,
    ]);
    expect(ended.stderr).toMatch(
      /remote: fencepost: refs\/heads\/main: allowed to tester, and recorded in allowed\.log/,
    );
    expect(ended.code).toBe(0);
    expect(box.tip(main)).toBe(forced);
    expect(log()).toEqual([
      {
        when: expect.stringMatching(/^20.*Z$/),
        who: "tester",
        ref: main,
        old,
        new: forced,
        reason: "the lease is stuck",
      },
    ]);
    // It counted once.
    const again = await gitLater(box, clone, ["push", "--force", door.url, `${old}:${main}`]);
    expect(again.stderr).toMatch(/moves only together with/);
    await door.close();
  });

  it("puts back a lease, deletes a packed branch, and needs no atomic push", async () => {
    set("fencepost.allow", "*");
    const [first, second] = [box.tip(leaseRef("blog")), take(box, clone, "b")];
    box.git(box.origin, "pack-refs", "--all");
    box.git(box.origin, "symbolic-ref", "HEAD", "refs/heads/none");
    const ended = await push(clone, "-o", option, `+${first}:${leaseRef("blog")}`, `:${main}`);
    expect(ended.stderr).toMatch(/allowed to/);
    expect(ended.code).toBe(0);
    expect([box.tip(leaseRef("blog")), box.tip(main)]).toEqual([first, ""]);
    expect(log().map(({ ref, old, new: to }) => [ref, old, to])).toEqual(
      expect.arrayContaining([
        [leaseRef("blog"), second, first],
        [main, expect.any(String), null],
      ]),
    );
  });

  it.each<[string, string, string[], RegExp]>([
    ["somebody else", "fencepost-allow=why not", ["alice", "bob"], /is not among fencepost\.allow/],
    ["nobody", "fencepost-allow=why not", [], /is not among fencepost\.allow/],
    ["no reason", "fencepost-allow", ["*"], /needs a reason: git push -o fencepost-allow="REASON"/],
    ["an empty reason", "fencepost-allow= ", ["*"], /needs a reason/],
    ["another option", "ci.skip", ["*"], /moves only together with/],
  ])("is refused for %s", async (_, given, allowed, sentence) => {
    for (const name of allowed) set("fencepost.allow", name);
    const before = refs(box);
    const ended = await push(clone, "-o", given, `${head}:${main}`);
    expect(ended.stderr).toMatch(sentence);
    expect(ended.code).toBe(1);
    expect(refs(box)).toBe(before);
    expect(existsSync(join(box.origin, "fencepost", "allowed.log"))).toBe(false);
  });

  it("counts once, for the hook that enforces the same push", async () => {
    set("fencepost.allow", "*");
    await push(clone, `${head}:refs/heads/side`);
    // Both hooks are started by this process here, as they are by one git receive-pack.
    const option = { GIT_PUSH_OPTION_COUNT: "1", GIT_PUSH_OPTION_0: "fencepost-allow=x" };
    const change = [`${box.tip(main)} ${head} ${main}`];
    const other = [`${"0".repeat(40)} ${head} refs/heads/other`];
    const enforce = (lines: string[]) => hook("reference-transaction", ["prepared"], lines);
    expect((await hook("pre-receive", [], change, option)).code).toBe(0);
    expect((await enforce([`${box.tip(main)} ${seenLease(box, clone)?.oid} ${main}`])).code).toBe(1);
    expect((await enforce(change)).code).toBe(0);
    expect((await enforce(change)).code).toBe(1);
    // What a push before left is gone with the next one.
    expect((await hook("pre-receive", [], change, option)).code).toBe(0);
    expect((await hook("pre-receive", [], other)).code).toBe(0);
    expect((await enforce(change)).code).toBe(1);
  });

  it("allows exactly the changes that were asked for, under that very push", async () => {
    set("fencepost.allow", "*");
    // The note is kept, as if the push had failed after it.
    renameSync(hookFile(box, "reference-transaction"), `${hookFile(box, "reference-transaction")}.off`);
    await push(clone, "-o", option, `${head}:${main}`);
    box.git(box.origin, "-c", "core.hooksPath=/dev/null", "update-ref", main, `${head}~`);
    renameSync(`${hookFile(box, "reference-transaction")}.off`, hookFile(box, "reference-transaction"));
    const notes = () => execFileSync("ls", [join(box.origin, "fencepost")], { encoding: "utf8" });
    expect(notes()).toMatch(/allowed-\d+\.json/);
    expect((await push(clone, `${head}:${main}`)).code).toBe(1);
    expect(() => box.git(box.origin, "update-ref", main, head)).toThrow(/moves only together with/);
  });
});

it("keeps no note of an allowance for long, and the log for good", async () => {
  await install(box);
  box.git(box.origin, "config", "receive.advertisePushOptions", "true");
  set("fencepost.allow", "*");
  const clone = box.clone("a");
  const left = join(box.origin, "fencepost", "allowed-1.json");
  writeFileSync(left, "[]");
  utimesSync(left, new Date(0), new Date(0));
  for (const name of ["one", "two"]) {
    box.commit(clone, name);
    expect((await push(clone, "-o", `fencepost-allow=${name}`, "HEAD:main")).code).toBe(0);
  }
  expect(readdirSync(join(box.origin, "fencepost")).sort()).toEqual(["allowed.log", "gate.mjs"]);
  expect(readFileSync(join(box.origin, "fencepost", "allowed.log"), "utf8").match(/\n/g)).toHaveLength(2);
});

describe("drafts", () => {
  it("let the branch through that they publish, where that is set", async () => {
    const clone = pushFiles(box, { "posts/a.md": post("A") });
    await install(box);
    const run = [
      "run",
      "--draft",
      "posts/a.md",
      "--convention",
      "hugo",
      "--push",
      "main",
      "--",
      "sh",
      "-c",
      publishing,
    ];
    const refused = await box.cli([...run], { cwd: clone });
    expect(refused.stderr).toMatch(/moves only together with the lease "blog", in one atomic push/);
    expect(recordAt(box, draftRef("posts/a.md"))).toMatchObject({ state: "pending" });
    await install(box, "--protect", "main", "--drafts");
    await box.cli(["redrive", "posts/a.md", "--reason", "x"], { cwd: clone });
    const record = { ...recordAt(box, draftRef("posts/a.md")) } as DraftRecord;
    delete record.notBefore;
    const tip = box.tip(draftRef("posts/a.md"));
    const again = { ...record, previous: tip, depth: record.depth + 1, nonce: nonce() };
    box.git(clone, "fetch", "--quiet", "origin", draftRef("posts/a.md"));
    const now = commitOf(box, clone, draftMessage({ ...again, event: "redriven" }), tip);
    expect((await push(clone, `${now}:${draftRef("posts/a.md")}`)).code).toBe(0);
    box.git(clone, "fetch", "--quiet", "origin");
    box.git(clone, "reset", "--quiet", "--hard", "origin/main");
    const passed = await box.cli([...run], { cwd: clone });
    expect(passed.stderr).toMatch(/pushed/);
    expect(recordAt(box, draftRef("posts/a.md"))).toMatchObject({
      state: "published",
      published: { [main]: box.tip(main) },
    });
    // And with sweeps, doctors and the others, nothing is in the way of the records.
    expect((await box.cli(["sweep", ...globs, "--", "true"], { cwd: clone })).code).toBe(0);
  });

  it.each(["loose", "packed"])("their records go as a sweep removes them (%s refs)", async (kind) => {
    await install(box);
    const clone = box.clone("a");
    const ref = draftRef("posts/a.md");
    const record = {
      fencepost: 1,
      kind: "draft",
      name: "posts/a.md",
      event: "published",
      state: "published",
      token: 7,
      fingerprint: "a".repeat(40),
      attempts: 1,
      lost: 0,
      previous: null,
      depth: 1,
      nonce: nonce(),
    } as const;
    expect((await push(clone, `${commitOf(box, clone, draftMessage(record))}:${ref}`)).code).toBe(0);
    if (kind === "packed") box.git(box.origin, "pack-refs", "--all");
    expect((await push(clone, `:${ref}`)).stderr).toMatch(
      /the floor under the tokens of drafts is 0, and must be raised to 7/,
    );
    const floor = commitOf(box, clone, raiseFloor(null, 7, nonce())?.message ?? "");
    const ended = await push(clone, "--atomic", `:${ref}`, `${floor}:${refOf("fencepost", floorRecordName)}`);
    expect(ended.code).toBe(0);
    expect(box.tip(ref)).toBe("");
  });
});

it("lets a destination insist on the fence of a lease in another repository", async () => {
  const site = join(box.folder, "site.git");
  box.git(box.folder, "clone", "--quiet", "--bare", box.origin, site);
  await box.cli(["gate", "install", "--repository", site, "--protect", "main", "--fence", "blog"]);
  const clone = box.clone("a");
  const head = box.commit(clone, "x");
  const tip = () => box.git(site, "for-each-ref", "--format=%(objectname)", main);
  const refused = await gitLater(box, clone, ["push", site, "HEAD:main"]);
  expect(refused.stderr).toMatch(
    /refs\/heads\/main moves only together with the fence "blog", in one atomic push/,
  );
  expect(tip()).not.toBe(head);
  const args = [
    "run",
    "--lease",
    "blog",
    "--store",
    box.origin,
    "--remote",
    site,
    "--push",
    "main",
    "--",
    "true",
  ];
  const ended = await box.cli(args, { cwd: clone });
  expect(ended.stderr).toMatch(/pushed/);
  expect(ended.code).toBe(0);
  expect(tip()).toBe(head);
});

describe("maintenance on the server", () => {
  it("gc and pack-refs pass, in both states of the refs", async () => {
    await install(box, "--protect", "refs/**", "--lease", "blog");
    const clone = box.clone("a");
    const bypass = ["-c", "core.hooksPath=/dev/null"];
    take(box, clone, "a");
    box.git(
      box.origin,
      ...bypass,
      "-c",
      "user.name=x",
      "-c",
      "user.email=x@x",
      "tag",
      "-a",
      "-m",
      "v1",
      "v1",
      main,
    );
    const before = refs(box);
    for (const _ of [1, 2]) {
      box.git(box.origin, "pack-refs", "--all");
      box.git(box.origin, "gc", "--quiet");
    }
    expect(refs(box)).toBe(before);
    expect(readFileSync(join(box.origin, "packed-refs"), "utf8")).toMatch(/refs\/heads\/main/);
    take(box, clone, "b");
    box.git(box.origin, "pack-refs", "--all");
  });

  it("tells a removal from what packing looks like, also where git shows it once", async () => {
    await install(box);
    box.git(box.origin, "pack-refs", "--all");
    const gone = [`${box.tip(main)} ${"0".repeat(40)} ${main}`];
    expect((await hook("reference-transaction", ["prepared"], gone)).code).toBe(0);
    writeFileSync(join(box.origin, "packed-refs.lock"), "");
    expect((await hook("reference-transaction", ["prepared"], gone)).stderr).toMatch(/cannot be deleted/);
    expect((await hook("pre-receive", [], gone)).stderr).toMatch(/cannot be deleted/);
    rmSync(join(box.origin, "packed-refs.lock"));
    expect((await hook("pre-receive", [], gone)).stderr).toMatch(/cannot be deleted/);
  });

  it("update-ref is judged too, with and without the old value, and passes with the hooks off", async () => {
    await install(box);
    const clone = box.clone("a");
    const head = box.commit(clone, "x");
    const old = box.tip(main);
    await push(clone, `${head}:refs/heads/side`);
    const update = (...args: string[]) => box.git(box.origin, "update-ref", ...args);
    expect(() => update(main, head)).toThrow(/refs\/heads\/main moves only together with the lease "blog"/);
    expect(() => update(main, head, old)).toThrow(/moves only together/);
    expect(() => update("-d", main)).toThrow(/cannot be deleted/);
    box.git(box.origin, "pack-refs", "--all");
    expect(() => update("-d", main)).toThrow(/cannot be deleted/);
    expect(() => update("-d", main, old)).toThrow(/cannot be deleted/);
    box.git(box.origin, "symbolic-ref", "refs/heads/alias", main);
    expect((await push(clone, `${head}:refs/heads/alias`)).stderr).toMatch(/refs\/heads\/main moves only/);
    expect(box.tip(main)).toBe(old);
    box.git(box.origin, "-c", "core.hooksPath=/dev/null", "update-ref", main, head);
    expect(box.tip(main)).toBe(head);
  });
});

it("takes nothing else for a protected ref that is not there yet", async () => {
  await install(box, "--protect", "refs/heads/v*", "--lease", "blog");
  rmSync(hookFile(box, "pre-receive"));
  const clone = box.clone("a");
  const head = box.commit(clone, "x");
  // git reads the end of such a name as the commit that it describes.
  const ended = await push(clone, `${head}:refs/heads/v1-g${head.slice(0, 12)}`);
  expect(ended.stderr).toMatch(/moves only together with/);
});

it("keeps other branches from standing below a lease, where its record could then never be", async () => {
  await install(box);
  const ended = await push(box.clone("a"), `HEAD:${leaseRef("new")}/refs/heads/fencepost/x`);
  expect(ended.stderr).toMatch(/is not a Fencepost record/);
});

it("is not misled by replacements and by records in other places", async () => {
  await install(box);
  const clone = box.clone("a");
  take(box, clone, "a");
  const head = box.commit(clone, "x");
  const seen = seenLease(box, clone);
  if (!seen) throw new Error("no lease");
  const wrong = successor(box, clone, seen, { event: "renewed" });
  const right = successor(box, clone, seen, { event: "pushed", published: { [main]: head } });
  await push(clone, `${right}:refs/replace/${wrong}`);
  const ended = await push(clone, "--atomic", `${head}:${main}`, `${wrong}:${leaseRef("blog")}`);
  expect(ended.stderr).toMatch(/record here says "renewed"/);
});

describe("with 5,000 refs", () => {
  const many = 5000;

  it("needs two git processes at the most, lists no refs, and starts none for what is over", async () => {
    await install(box);
    const clone = box.clone("a");
    take(box, clone, "a");
    const head = box.commit(clone, "x");
    const seen = seenLease(box, clone);
    if (!seen) throw new Error("no lease");
    const next = successor(box, clone, seen, { event: "pushed", published: { [main]: head } });
    await push(clone, `${head}:refs/heads/side`, `${next}:refs/heads/side-record`);
    const input = Array.from({ length: many }, (_, i) => `create refs/heads/many/${i} ${head}\n`).join("");
    execFileSync("git", ["-c", "core.hooksPath=/dev/null", "update-ref", "--stdin"], {
      cwd: box.origin,
      env: box.env,
      input,
    });
    const zero = "0".repeat(40);
    const others = Array.from({ length: many }, (_, i) => `${zero} ${head} refs/heads/more/${i}`);
    const fenced = [`${box.tip(main)} ${head} ${main}`, `${seen.oid} ${next} ${leaseRef("blog")}`];
    const tries: [string, string, string[], string[], number, string[]][] = [
      ["5,000 refs of no concern", "reference-transaction", ["prepared"], others, 0, ["config"]],
      [
        "and a fenced push",
        "reference-transaction",
        ["prepared"],
        [...others, ...fenced],
        0,
        ["config", "cat-file"],
      ],
      ["a fenced push", "pre-receive", [], fenced, 0, ["config", "cat-file"]],
      ["a refused push", "pre-receive", [], fenced.slice(0, 1), 1, ["config", "cat-file"]],
      ["what is over", "reference-transaction", ["committed"], fenced, 0, []],
    ];
    for (const [what, name, args, lines, code, programs] of tries) {
      const shim = gitShim(box);
      const counted = await hook(name, args, lines, shim.env);
      expect(counted.code, counted.stderr).toBe(code);
      expect(
        shim
          .calls()
          .split("\n\n")
          .filter(Boolean)
          .map((call) => call.split("\n")[0]),
      ).toEqual(programs);
      const timed = await hook(name, args, lines);
      console.log(`gate, ${many} refs, ${name}, ${what}: ${Math.round(timed.took)} ms`);
    }
    const started = performance.now();
    execFileSync(process.execPath, ["-e", "0"]);
    console.log(`of which Node takes ${Math.round(performance.now() - started)} ms`);
  });
});

it("is in place behind a dispatching hook, and hands the escape on", async () => {
  const folder = join(box.origin, "hooks", "pre-receive.d");
  mkdirSync(folder);
  // As Gitea and Forgejo write it.
  writeFileSync(
    hookFile(box, "pre-receive"),
    '#!/usr/bin/env bash\ndata=$(cat)\nfor hook in "$GIT_DIR"/hooks/$(basename "$0").d/*; do\n  echo "$data" | "$hook" || exit $?\ndone\n',
    { mode: 0o755 },
  );
  const installed = await install(box);
  expect(installed.stdout).toMatch(/enforced in the transaction/);
  expect(existsSync(join(folder, "fencepost"))).toBe(true);
  box.git(box.origin, "config", "receive.advertisePushOptions", "true");
  set("fencepost.allow", "*");
  const clone = box.clone("a");
  const head = box.commit(clone, "x");
  expect((await push(clone, `${head}:${main}`)).stderr).toMatch(
    /remote: fencepost: refs\/heads\/main moves only/,
  );
  const ended = await push(clone, "-o", "fencepost-allow=first", `${head}:${main}`);
  expect(ended.code).toBe(0);
  expect(box.tip(main)).toBe(head);
});
