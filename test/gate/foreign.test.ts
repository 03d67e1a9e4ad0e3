// Two repositories: one has the leases and the drafts, the other is published to, and refuses by its own fence.
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fenceRecordName } from "../../src/protocol/fence.js";
import { refOf } from "../../src/protocol/names.js";
import { draftRef, post, pushFiles } from "../support/blog.js";
import { leaseRecord, leaseRef, type Running, type Sandbox, sandbox } from "../support/sandbox.js";
import { gitShim } from "../support/shim.js";

let box: Sandbox;
/** The bare repository that is published to, and where its clones are. */
let site: string;
let first: string;
beforeEach(() => {
  box = sandbox();
  site = join(box.folder, "site.git");
  box.git(box.folder, "init", "--quiet", "--bare", "-b", "main", site);
  box.git(box.origin, "push", "--quiet", site, "main");
  first = tip("refs/heads/main");
});
afterEach(() => box.dispose());

const tip = (ref: string) => box.git(site, "for-each-ref", "--format=%(objectname)", ref);
const fence = (of: "lease" | "draft", name: string) => refOf("fencepost", fenceRecordName({ of, name }));
const record = (ref: string) => {
  const message = box.git(site, "log", "-1", "--format=%B", ref);
  return JSON.parse(message.slice(message.indexOf("\n\n")));
};
/** The records of a fence in the order in which they were written. */
const chain = (ref: string) =>
  box
    .git(site, "log", "--reverse", "--format=%H", ref)
    .split("\n")
    .map((oid) => {
      const { event, token } = record(oid);
      return `${event} ${token}`;
    });
const published = () => box.git(site, "log", "--format=%s", `${first}..main`).split("\n").filter(Boolean);

function siteClone(name: string): string {
  box.git(box.folder, "clone", "--quiet", site, name);
  const path = join(box.folder, name);
  box.git(path, "config", "user.name", "Writer");
  box.git(path, "config", "user.email", "writer@example.org");
  return path;
}

const to = () => ["--store", box.origin, "--remote", site, "--push", "main", "--json"];
const under = (script: string, ...more: string[]) => [
  "run",
  "--lease",
  "blog",
  "--ttl",
  "10m",
  ...to(),
  ...more,
  "--",
  "sh",
  "-c",
  script,
];
const commit = (subject: string) => `git commit -q --allow-empty -m "${subject}"`;
const file = (name: string) => join(box.folder, name);
const wait = (name: string) =>
  `touch ${file(`${name}-waits`)}; until [ -f ${file(name)} ]; do sleep 0.02; done`;
async function waiting(name: string) {
  while (!existsSync(file(`${name}-waits`))) await delay(20);
}
const go = (name: string) => writeFileSync(file(name), "");
const unlock = (token: number) =>
  box.cli(["unlock", "blog", "--store", box.origin, "--token", String(token), "--reason", "takeover"]);
const outcome = (ended: { stdout: string }) => JSON.parse(ended.stdout).outcome;

describe("another repository as destination", () => {
  it("is sealed before the command runs, and its fence moves with the branch", async () => {
    const clone = siteClone("a");
    const seen = `git -C ${site} log -1 --format=%s ${fence("lease", "blog")} > ${file("sealed")}`;
    const ended = await box.cli(under(`${seen}; ${commit("one")}`), { cwd: clone });
    expect({ code: ended.code, outcome: outcome(ended) }, ended.stderr).toEqual({
      code: 0,
      outcome: "pushed",
    });
    expect(readFileSync(file("sealed"), "utf8")).toMatch(/^fence blog #1 sealed for /);
    expect(published()).toEqual(["one"]);
    expect(record(fence("lease", "blog"))).toMatchObject({
      event: "accepted",
      token: 1,
      accepted: { token: 1, published: { "refs/heads/main": tip("refs/heads/main") } },
    });
    // The lease stays where it is, and goes its own way.
    expect(leaseRecord(box, leaseRef("blog"))).toMatchObject({ state: "released", token: 1 });
    expect(tip(leaseRef("blog"))).toBe("");
    expect(box.tip("refs/heads/main")).toBe(first);
  });

  it("refuses an older token once a newer one has sealed it", async () => {
    const [late, next] = [siteClone("late"), siteClone("next")];
    const older = box.start(under(`${commit("late")}; ${wait("go")}`), { cwd: late });
    await waiting("go");
    expect((await unlock(1)).code).toBe(0);
    const newer = await box.cli(under(commit("next")), { cwd: next });
    expect(newer.code, newer.stderr).toBe(0);
    go("go");
    const ended = await older.ended;
    expect(ended.code).toBe(76);
    expect(outcome(ended)).toBe("superseded");
    expect(ended.stderr).toMatch(
      /token 1 of the lease "blog" is too late: the fence of the destination has token 3/,
    );
    expect(published()).toEqual(["next"]);
    expect(tip("refs/heads/fencepost/rescue/blog/1")).toBe(box.git(late, "rev-parse", "HEAD"));
    expect(chain(fence("lease", "blog"))).toEqual(["sealed 1", "sealed 3", "accepted 3"]);
  });

  it("keeps the commits of a push from inside the command that comes too late", async () => {
    const late = siteClone("late");
    const cli = `"${process.execPath}" "${join(import.meta.dirname, "../../dist/cli/index.js")}"`;
    const script = `${commit("late")}; ${wait("go")}; ${cli} push main --json > ${file("told")}; exit 0`;
    const args = under(script).filter((arg, i, all) => arg !== "--push" && all[i - 1] !== "--push");
    const older = box.start(args, { cwd: late });
    await waiting("go");
    await unlock(1);
    go("go");
    await older.ended;
    const ref = "refs/heads/fencepost/rescue/blog/1";
    expect(JSON.parse(readFileSync(file("told"), "utf8"))).toMatchObject({
      outcome: "superseded",
      rescue: { ref },
    });
    expect(tip(ref)).toBe(box.git(late, "rev-parse", "HEAD"));
    expect(published()).toEqual([]);
  });

  it("accepts an older token until then, and the newer holder finds what it wrote", async () => {
    const [late, next] = [siteClone("late"), siteClone("next")];
    const older = box.start(under(`${commit("late")}; ${wait("go")}`), { cwd: late });
    await waiting("go");
    await unlock(1);
    go("go");
    expect((await older.ended).code).toBe(0);
    const newer = await box.cli(under(`git pull -q --rebase && ${commit("next")}`), { cwd: next });
    expect(newer.code, newer.stderr).toBe(0);
    expect(published()).toEqual(["next", "late"]);
    expect(chain(fence("lease", "blog"))).toEqual(["sealed 1", "accepted 1", "sealed 3", "accepted 3"]);
  });

  it("does not run a command whose token is older than its fence", async () => {
    const clone = siteClone("a");
    for (let token = 1; token <= 3; token++) await box.cli(under(commit(`run ${token}`)), { cwd: clone });
    // As when the leases were put back from an old copy.
    box.git(box.origin, "update-ref", "-d", leaseRef("blog"));
    const ended = await box.cli(under(commit("again")), { cwd: clone });
    expect({ code: ended.code, outcome: outcome(ended) }).toEqual({ code: 76, outcome: "superseded" });
    expect(ended.stderr).toMatch(/has token 3.*The command was not run/);
    expect(published()).toHaveLength(3);
    expect(leaseRecord(box, leaseRef("blog"))).toMatchObject({ state: "released" });
  });

  it("is not taken for the store's own because only `.git` tells them apart", async () => {
    const store = join(box.folder, "site");
    box.git(box.folder, "init", "--quiet", "--bare", "-b", "main", store);
    const clone = siteClone("a");
    const args = ["run", "--lease", "blog", "--store", store, "--remote", site, "--push", "main", "--"];
    const ended = await box.cli([...args, "sh", "-c", commit("one")], { cwd: clone });
    expect(ended.code, ended.stderr).toBe(0);
    expect(published()).toEqual(["one"]);
  });

  it("is no other repository when it is the store by another spelling", async () => {
    const clone = box.clone("own");
    const args = ["run", "--lease", "blog", "--remote", `${box.origin}/`, "--push", "main", "--", "sh", "-c"];
    expect((await box.cli([...args, commit("one")], { cwd: clone })).code).toBe(0);
    expect(box.git(box.origin, "for-each-ref", "refs/heads/fencepost/fence")).toBe("");
    expect(box.git(box.origin, "log", "--format=%s", leaseRef("blog"))).toMatch(/pushed main/);
  });

  it("is not written to when its fence was put back", async () => {
    const clone = siteClone("a");
    const back = `git -C ${site} update-ref -d ${fence("lease", "blog")}`;
    const ended = await box.cli(under(`${commit("one")}; ${back}`), { cwd: clone });
    expect(ended.code).toBe(78);
    expect(ended.stderr).toMatch(/The fence of "blog" in the destination went backwards/);
    expect(published()).toEqual([]);
  });
});

describe("a seal that arrives while an older token's push is under way", () => {
  /** The push has read the refs and sent its pack; a hook of the site holds it there until the newer holder has sealed. */
  async function sealDuringPush(rewrite: string) {
    const clone = siteClone("late");
    const hook = join(site, "hooks", "pre-receive");
    const slow = file("slow");
    writeFileSync(hook, `#!/bin/sh\nif [ -f ${slow} ]; then rm ${slow}; ${wait("go")}; fi\n`);
    chmodSync(hook, 0o755);
    const shim = gitShim(box, rewrite);
    const older = box.start(under(`${commit("late")}; touch ${slow}`, "--attempts", "1"), {
      cwd: clone,
      env: shim.env,
    });
    await waiting("go");
    await unlock(1);
    const newer = await box.cli(under("true"), { cwd: siteClone("next") });
    expect(outcome(newer)).toBe("unchanged");
    expect(record(fence("lease", "blog"))).toMatchObject({ event: "sealed", token: 3 });
    go("go");
    return older.ended;
  }

  it("is noticed by the server, which refuses the push", async () => {
    const ended = await sealDuringPush("");
    expect({ code: ended.code, outcome: outcome(ended) }).toEqual({ code: 76, outcome: "superseded" });
    expect(published()).toEqual([]);
  });

  it("twin: without --atomic the late write comes through", async () => {
    await sealDuringPush('args = args.filter((arg) => arg !== "--atomic");');
    expect(published()).toEqual(["late"]);
  });

  it("twin: with the fence left out of the push the late write comes through", async () => {
    await sealDuringPush(
      'if (args.includes("push") && args.some((arg) => arg.endsWith(":refs/heads/main"))) args = args.filter((arg) => !/:refs\\/heads\\/fencepost\\/fence\\//.test(arg));',
    );
    expect(published()).toEqual(["late"]);
  });
});

describe("a draft that is published to another repository", () => {
  const path = "posts/締切.md";
  const article = () => `cp "$FENCEPOST_DRAFT" article.md 2>/dev/null; ${commit("article")}`;
  const ttl = "3s";
  const work = (script: string, ...more: string[]) => [
    ...["run", "--draft", path, "--convention", "hugo", "--ttl", ttl, ...to(), ...more],
    ...["--", "sh", "-c", script],
  ];
  beforeEach(() => {
    pushFiles(box, { [path]: post("a") });
  });
  const draft = () => leaseRecord(box, draftRef(path));
  const killed = async (run: Running) => {
    const ended = await run.ended;
    expect(ended.code).toBe(255);
    await delay(4500);
  };
  const suicide = "kill -9 $PPID; sleep 5";

  it("is published on record in its own repository, after the push", async () => {
    const ended = await box.cli(work(article()), { cwd: siteClone("a") });
    expect({ code: ended.code, ...JSON.parse(ended.stdout) }, ended.stderr).toMatchObject({
      code: 0,
      outcome: "pushed",
      state: "published",
    });
    expect(draft()).toMatchObject({
      state: "published",
      published: { "refs/heads/main": tip("refs/heads/main") },
    });
    expect(chain(fence("draft", path))).toEqual(["sealed 1", "accepted 1"]);
    const again = await box.cli(work(article()), { cwd: siteClone("b") });
    expect(outcome(again)).toBe("not_pending");
    expect(published()).toEqual(["article"]);
  });

  it("is published once when its executor dies between the seal and the push", async () => {
    await killed(box.start(work(`${article()}; ${suicide}`), { cwd: siteClone("a") }));
    expect(published()).toEqual([]);
    const next = await box.cli(work(article()), { cwd: siteClone("b") });
    expect(outcome(next), next.stderr).toBe("pushed");
    expect(published()).toEqual(["article"]);
    expect(chain(fence("draft", path))).toEqual(["sealed 1", "sealed 2", "accepted 2"]);
  });

  it("is published once when its executor dies between the push and its record", async () => {
    const clone = siteClone("a");
    const hook = join(site, "hooks", "post-receive");
    writeFileSync(hook, `#!/bin/sh\nif grep -q refs/heads/main; then kill -9 $(cat ${file("pid")}); fi\n`);
    chmodSync(hook, 0o755);
    await killed(box.start(work(`echo $PPID > ${file("pid")}; ${article()}`), { cwd: clone }));
    writeFileSync(hook, "#!/bin/sh\n");
    expect(published()).toEqual(["article"]);
    expect(draft()).toMatchObject({ state: "held", token: 1 });
    const next = await box.cli(work("touch never"), { cwd: siteClone("b") });
    expect({ code: next.code, outcome: outcome(next) }, next.stderr).toEqual({
      code: 0,
      outcome: "not_pending",
    });
    expect(next.stderr).toMatch(/has this content of the draft already, from token 1/);
    expect(draft()).toMatchObject({ state: "published", token: 2 });
    expect(published()).toEqual(["article"]);
    expect(existsSync(join(box.folder, "b", "never"))).toBe(false);
  });

  it("is published by a push from inside the command, once", async () => {
    const cli = `"${process.execPath}" "${join(import.meta.dirname, "../../dist/cli/index.js")}"`;
    const script = `${article()}; ${cli} push main; ${commit("second")}; ${cli} push main; echo $? > ${file("code")}`;
    const args = work(script).filter((arg, i, all) => arg !== "--push" && all[i - 1] !== "--push");
    const ended = await box.cli(args, { cwd: siteClone("a") });
    expect({ code: ended.code, state: JSON.parse(ended.stdout).state }, ended.stderr).toEqual({
      code: 0,
      state: "published",
    });
    expect(readFileSync(file("code"), "utf8").trim()).toBe("76");
    expect(published()).toEqual(["article"]);
    expect(draft()).toMatchObject({ state: "published" });
  });

  it("with a lease has two fences, which both move", async () => {
    const ended = await box.cli(work(article(), "--lease", "blog"), { cwd: siteClone("a") });
    expect(ended.code, ended.stderr).toBe(0);
    expect(record(fence("lease", "blog"))).toMatchObject({ event: "accepted", token: 1 });
    expect(record(fence("draft", path))).toMatchObject({ event: "accepted", token: 1 });
    expect(draft()).toMatchObject({ state: "published" });
    expect(leaseRecord(box, leaseRef("blog"))).toMatchObject({ state: "released" });
  });
});
