// `fencepost gate`: hooks go where the server looks, never over somebody else's, and `check` says what is amiss.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hookText } from "../../src/gate/server/hook.js";
import { gitLater, hookFile, install } from "../support/gate.js";
import { type Sandbox, sandbox } from "../support/sandbox.js";

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.dispose());

const check = async (...args: string[]) => box.cli(["gate", "check", "--repository", box.origin, ...args]);
const found = async () => JSON.parse((await check("--json")).stdout);
const config = (...args: string[]) => box.git(box.origin, "config", ...args);
const everything = () =>
  Object.fromEntries(
    readdirSync(box.origin, { recursive: true, encoding: "utf8" })
      .filter((path) => statSync(join(box.origin, path)).isFile())
      .map((path) => [path, readFileSync(join(box.origin, path), "latin1")]),
  );
/** The gate refuses a plain push, whoever's hooks stand around it. */
async function refuses(): Promise<boolean> {
  const clone = box.clone(`c${Math.random()}`);
  box.commit(clone, "x");
  const ended = await gitLater(box, clone, ["push", box.origin, "HEAD:main"]);
  return ended.code !== 0 && /fencepost: refs\/heads\/main moves only/.test(ended.stderr);
}

describe("install", () => {
  it("puts both hooks in place, says so, and does it again without a change", async () => {
    const ended = await install(box);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/refs\/heads\/main {2}behind the lease "blog"/);
    expect(ended.stdout).toMatch(
      /reference-transaction: in place \(\d.*\)\n {2}pre-receive: in place .*\n {2}enforced in the transaction/,
    );
    const before = everything();
    expect(before["hooks/pre-receive"]).toMatch(/^#!\/.*\n.*written by `fencepost gate install`/);
    expect((await install(box)).code).toBe(0);
    expect(everything()).toEqual(before);
    expect(await refuses()).toBe(true);
  });

  it("makes the hooks folder where there is none", async () => {
    rmSync(join(box.origin, "hooks"), { recursive: true });
    expect((await install(box)).code).toBe(0);
    expect(await refuses()).toBe(true);
  });

  it("protects more with each call, and changes what was said before", async () => {
    await install(box);
    await install(box, "--protect", "refs/tags/**", "site-*", "--lease", "site");
    await install(box, "--protect", "site-*", "--lease", "other", "--drafts");
    const { protections } = await found();
    expect(protections).toEqual([
      { pattern: "refs/heads/main", behind: [{ kind: "lease", name: "blog" }] },
      { pattern: "refs/tags/**", behind: [{ kind: "lease", name: "site" }] },
      { pattern: "refs/heads/site-*", behind: [{ kind: "lease", name: "other" }, { kind: "draft" }] },
    ]);
  });

  it("replaces what an older version wrote", async () => {
    await install(box);
    const now = everything();
    writeFileSync(join(box.origin, "fencepost", "gate.mjs"), "old");
    writeFileSync(hookFile(box, "pre-receive"), `${now["hooks/pre-receive"]}// older\n`);
    expect((await check()).stdout).toMatch(/is not the one of this version/);
    expect((await install(box)).code).toBe(0);
    expect(everything()).toEqual(now);
  });

  it("never touches somebody else's hook, and says how to have both", async () => {
    writeFileSync(hookFile(box, "pre-receive"), "#!/bin/sh\ncat >/dev/null\n", { mode: 0o755 });
    const before = everything();
    const refused = await install(box);
    expect(refused.code).toBe(78);
    expect(everything()).toEqual(before);
    const [, command = ""] =
      /Let it run `(node \S+ pre-receive) "\$@"` with its own standard input/.exec(refused.stderr) ?? [];
    expect((await check()).stdout).toMatch(/pre-receive is somebody else's, and does not call the gate/);
    writeFileSync(hookFile(box, "pre-receive"), `#!/bin/sh\nexec ${command}\n`);
    const installed = await install(box);
    expect(installed.code).toBe(0);
    expect(installed.stdout).toMatch(/pre-receive: chained/);
    expect(readFileSync(hookFile(box, "pre-receive"), "utf8")).toMatch(/^#!\/bin\/sh/);
    expect(await refuses()).toBe(true);
    chmodSync(hookFile(box, "pre-receive"), 0o644);
    expect((await check()).stdout).toMatch(/pre-receive cannot be started: it is not executable/);
    writeFileSync(hookFile(box, "pre-receive"), `#!/bin/sh\n# not now: ${command}\n`);
    expect((await check()).stdout).toMatch(/does not call the gate/);
  });

  it.each([
    ["relative", "my hooks"],
    ["outside of the repository", "../shared-hooks"],
  ])("goes where core.hooksPath points: %s", async (_, path) => {
    mkdirSync(join(box.origin, path));
    config("core.hooksPath", join(box.origin, path));
    expect((await install(box)).code).toBe(0);
    expect(existsSync(join(box.origin, path, "reference-transaction"))).toBe(true);
    expect(existsSync(hookFile(box, "reference-transaction"))).toBe(false);
    expect(await refuses()).toBe(true);
  });

  it("goes into custom_hooks on GitLab, where only the push can be judged", async () => {
    mkdirSync(join(box.origin, "custom_hooks", "pre-receive.d"), { recursive: true });
    const ended = await install(box);
    expect(ended.stdout).toMatch(/enforced before the push only, which is all that GitLab allows/);
    expect(readdirSync(join(box.origin, "custom_hooks", "pre-receive.d"))).toEqual(["fencepost"]);
    expect((await found()).enforced).toBe("push");
    // The folder has all that it needs, so that it can be handed over as a tarball.
    const moved = join(box.folder, "elsewhere");
    cpSync(join(box.origin, "custom_hooks"), moved, { recursive: true });
    const tip = box.tip("refs/heads/main");
    const hook = spawnSync(join(moved, "pre-receive.d", "fencepost"), {
      cwd: box.origin,
      env: { ...box.env, GIT_DIR: "." },
      input: `${tip} ${"a".repeat(tip.length)} refs/heads/main\n`,
      encoding: "utf8",
    });
    expect(hook.status).toBe(1);
    expect(hook.stderr).toMatch(/^fencepost: refs\/heads\/main moves only together/);
  });

  it("works in a repository that is moved, and below a package of modules", async () => {
    await install(box);
    writeFileSync(join(box.folder, "package.json"), '{ "type": "module" }\n');
    const moved = join(box.folder, "moved here.git");
    renameSync(box.origin, moved);
    const clone = join(box.folder, "seed");
    box.commit(clone, "x");
    const ended = await gitLater(box, clone, ["push", moved, "HEAD:main"]);
    expect(ended.stderr).toMatch(/remote: fencepost: refs\/heads\/main moves only/);
  });

  it.each<[string, string[], number, RegExp]>([
    ["no lease", ["--protect", "main"], 64, /--protect needs --lease NAME, --fence NAME or --drafts/],
    ["nothing to protect", ["--lease", "blog"], 64, /--protect is about/],
    ["a lease that is no name", ["--protect", "main", "--lease", "../x"], 64, /lease name "\.\.\/x"/],
    [
      "a pattern that is none",
      ["--protect", "a b", "--lease", "x"],
      64,
      /"refs\/heads\/a b" is no pattern of refs/,
    ],
    [
      "a folder that is no repository",
      ["--repository", "/"],
      78,
      /\/ is no git repository that can be used here/,
    ],
    ["a folder that is not there", ["--repository", "/nowhere"], 78, /\/nowhere/],
  ])("refuses %s before anything is written", async (_, args, code, sentence) => {
    const before = everything();
    const ended = await box.cli(["gate", "install", "--repository", box.origin, ...args]);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toMatch(sentence);
    expect(everything()).toEqual(before);
  });
});

describe("check", () => {
  it("says in one object what is there", async () => {
    await install(box);
    expect(await found()).toEqual({
      outcome: "well",
      repository: box.origin,
      enforced: "transaction",
      protections: [{ pattern: "refs/heads/main", behind: [{ kind: "lease", name: "blog" }] }],
      hooks: [
        {
          name: "reference-transaction",
          file: hookFile(box, "reference-transaction"),
          state: "in place",
          version: "0.1.0",
        },
        { name: "pre-receive", file: hookFile(box, "pre-receive"), state: "in place", version: "0.1.0" },
      ],
      problems: [],
    });
    const asked = await box.cli(["gate", "install", "--repository", box.origin, "--check", "--json"]);
    expect(JSON.parse(asked.stdout)).toEqual(await found());
  });

  it.each<[string, () => void, string, RegExp]>([
    [
      "no gate",
      () => {
        writeFileSync(hookFile(box, "pre-receive"), "");
        for (const name of ["pre-receive", "reference-transaction"]) chmodSync(hookFile(box, name), 0o644);
      },
      "off",
      /not executable, so git ignores it/,
    ],
    [
      "a Node that is gone",
      () => {
        for (const name of ["pre-receive", "reference-transaction"]) {
          const text = readFileSync(hookFile(box, name), "utf8");
          writeFileSync(hookFile(box, name), text.replace(/^#!.*/, "#!/gone/node"));
        }
      },
      "off",
      /cannot be started: look whether \/gone\/node is there/,
    ],
    [
      "nothing protected",
      () => config("--remove-section", "fencepost.refs/heads/main"),
      "transaction",
      /nothing is protected/,
    ],
    [
      "a setting that is none",
      () => config("fencepost.protcet", "x"),
      "transaction",
      /"fencepost\.protcet" is no setting/,
    ],
    [
      "no atomic pushes",
      () => config("receive.advertiseAtomic", "false"),
      "transaction",
      /nobody can push behind the fence/,
    ],
    [
      "an escape that nobody can use",
      () => config("fencepost.allow", "me"),
      "transaction",
      /receive\.advertisePushOptions = true/,
    ],
  ])("finds %s", async (_, spoil, enforced, problem) => {
    await install(box);
    spoil();
    const result = await check("--json");
    expect(result.code).toBe(1);
    const body = JSON.parse(result.stdout);
    expect(body.outcome).toBe("findings");
    expect(body.enforced).toBe(enforced);
    expect(body.problems.join("\n")).toMatch(problem);
  });

  it("finds that there is no gate at all", async () => {
    const ended = await check();
    expect(ended.code).toBe(1);
    expect(ended.stdout).toMatch(/reference-transaction: absent\n {2}pre-receive: absent\n {2}not enforced/);
  });
});

it("starts a Node with a space in its path, or a long path, by the PATH", () => {
  const text = (node: string) =>
    hookText("pre-receive", "/r/hooks", "/r/fencepost/gate.mjs", node).split("\n")[0];
  expect(text("/usr/bin/node")).toBe("#!/usr/bin/node");
  expect(text("C:\\Program Files\\nodejs\\node.exe")).toBe("#!/usr/bin/env node");
  expect(text(`/${"n".repeat(130)}`)).toBe("#!/usr/bin/env node");
});
