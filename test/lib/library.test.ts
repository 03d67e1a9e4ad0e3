// The library as its users have it: by its public face, and packed, installed and type-checked in a project of theirs.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as library from "fencepost";
import { gitStore, push } from "fencepost/git";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sandbox } from "../support/sandbox.js";

const { acquire, keep, memoryStore, publishCommit, release, renew, status, unlock } = library;
const root = fileURLToPath(new URL("../..", import.meta.url));

async function hold(store: library.Store, more: Partial<library.AcquireOptions> = {}) {
  const result = await acquire(store, { lease: "blog", ttl: "10m", holder: "a test", ...more });
  if (result.outcome !== "acquired") throw new Error(JSON.stringify(result));
  return result.holding;
}

describe("a lease", () => {
  test("is held by one, and its token rises when it changes hands", async () => {
    const store = memoryStore();
    const first = await hold(store);
    expect(first.token).toBe(1);
    const refused = await acquire(store, { lease: "blog" });
    expect(refused).toMatchObject({
      outcome: "skipped_overlap",
      token: 1,
      holder: "a test",
      expiresAt: expect.any(Date),
    });
    const renewed = await renew(store, first);
    expect(renewed).toMatchObject({ outcome: "renewed", holding: { token: 1 } });
    // A holding is a plain value, and an older one of the same claim is as good.
    expect(await release(store, JSON.parse(JSON.stringify(first)))).toEqual({ outcome: "released" });
    expect((await hold(store)).token).toBe(2);
    expect(await release(store, first)).toMatchObject({
      outcome: "superseded",
      why: expect.stringMatching(/Token 1 no longer holds/),
    });
  });

  test("is shown, and freed by force with the token that was seen", async () => {
    const store = memoryStore();
    expect(await status(store, "blog")).toBeNull();
    await hold(store);
    expect(await status(store, "blog")).toMatchObject({ state: "held", token: 1, holder: "a test" });
    const ask = { lease: "blog", by: "a person", reason: "it hangs" };
    expect(await unlock(store, { ...ask, token: 7 })).toEqual({ outcome: "moved_on" });
    expect(await unlock(store, { ...ask, token: 1 })).toEqual({ outcome: "unlocked", token: 2 });
    expect(await unlock(store, { ...ask, token: 2 })).toEqual({ outcome: "free" });
    expect(await status(store, "blog")).toMatchObject({ state: "released", token: 2 });
  });

  test("is renewed at once where the holding is older than its keeping", async () => {
    const store = memoryStore();
    const holding = await hold(store);
    const old = { ...holding, writtenAt: holding.writtenAt - 9 * 60_000 };
    const keeping = keep(store, old);
    while (keeping.holding().oid === holding.oid) await new Promise((resolve) => setTimeout(resolve, 5));
    await keeping.stop();
  });

  test("is kept alive, until somebody else has it", async () => {
    const store = memoryStore();
    const holding = await hold(store, { ttl: 2000 });
    const lost = new Promise<{ why: string }>((resolve) => {
      const keeping = keep(store, holding, { onLost: resolve });
      void (async () => {
        while (keeping.holding().oid === holding.oid) await new Promise((wake) => setTimeout(wake, 20));
        await unlock(store, { lease: "blog", token: 1, by: "x", reason: "y" });
      })();
    });
    expect(await lost).toMatchObject({ why: "superseded" });
  });

  test.each([
    ["an empty name", { lease: "" }, "NameInvalid"],
    ["a TTL that is too short", { lease: "a", ttl: "1s" }, "DurationInvalid"],
    ["a TTL that is no duration", { lease: "a", ttl: "soon" }, "DurationInvalid"],
    ["a claim's id that is too short", { lease: "a", claim: { id: "x" } }, "TypeError"],
  ])("is refused for %s", async (_, options, name) => {
    await expect(acquire(memoryStore(), options)).rejects.toMatchObject({ name });
  });

  test("publishes only through a store on GitHub", async () => {
    const store = memoryStore();
    const asked = publishCommit(store, await hold(store), { branch: "main", message: "x", files: {} });
    await expect(asked).rejects.toThrow(/a store that githubStore has made/);
  });
});

describe("on any git server", () => {
  test("a push from a clone goes behind the fence, and a late one is refused with its commits kept", async () => {
    const box = sandbox();
    try {
      const clone = box.clone("a");
      const store = await gitStore({ at: "origin", directory: clone });
      const holding = await hold(store);
      const first = box.commit(clone, "one");
      const pushed = await push(store, holding, { directory: clone, branch: "main" });
      expect(pushed).toMatchObject({ outcome: "pushed", commit: first, rebased: false });
      expect(box.tip("refs/heads/main")).toBe(first);
      await unlock(store, { lease: "blog", token: 1, by: "a person", reason: "takeover" });
      const late = box.commit(clone, "two");
      const refused = await push(store, holding, { directory: clone, branch: "main" });
      expect(refused).toMatchObject({
        outcome: "superseded",
        kept: expect.stringMatching(/fencepost\/rescue\/blog\/1/),
      });
      expect(box.tip("refs/heads/main")).toBe(first);
      expect(box.tip("refs/heads/fencepost/rescue/blog/1")).toBe(late);
      await store.close();
    } finally {
      box.dispose();
    }
  });
});

describe("packed and installed", () => {
  let project: string;
  beforeAll(() => {
    project = mkdtempSync(join(tmpdir(), "fp-library-"));
    const npm = (...args: string[]) =>
      execFileSync("npm", args, { cwd: project, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    npm("pack", root, "--silent", "--ignore-scripts");
    const [packed = ""] = readdirSync(project).filter((name) => name.endsWith(".tgz"));
    writeFileSync(join(project, "package.json"), '{ "name": "user", "private": true, "type": "module" }\n');
    npm("install", "--offline", "--no-audit", "--no-fund", "--silent", `./${packed}`);
    mkdirSync(join(project, "src"));
  });
  afterAll(() => rmSync(project, { recursive: true, force: true }));

  const check = (name: string, source: string, ...flags: string[]) => {
    const path = join("src", name);
    writeFileSync(join(project, path), source);
    const tsc = join(root, "node_modules/typescript/bin/tsc");
    const strict = [
      "--strict",
      "--noEmit",
      "--skipLibCheck",
      "false",
      "--module",
      "nodenext",
      "--target",
      "es2022",
    ];
    return execFileSync(process.execPath, [tsc, ...strict, ...flags, path], {
      cwd: project,
      encoding: "utf8",
    });
  };

  test("its types hold by themselves, without those of Node", () => {
    const source = `
import { acquire, githubStore, publishCommit, release, StoreUnavailable, type Holding, type PublishResult } from "fencepost";
export async function hourly(token: string): Promise<PublishResult | null> {
  const store = githubStore({ token, repository: "octo/blog" });
  try {
    const lease = await acquire(store, { lease: "blog", ttl: "5m", holder: "worker" });
    if (lease.outcome === "skipped_overlap") return console.log(lease.holder, lease.expiresAt.toISOString()), null;
    const holding: Holding = lease.holding;
    const result = await publishCommit(store, holding, { branch: "main", message: "x", files: { "a.md": "text", "b.png": new Uint8Array(3), "c.md": null } });
    if (result.outcome === "pushed") await release(store, result.holding);
    return result;
  } catch (error) {
    if (error instanceof StoreUnavailable) console.log(error.message);
    throw error;
  }
}
`;
    expect(check("worker.ts", source, "--lib", "es2022,dom")).toBe("");
    expect(() =>
      check("wrong.ts", source.replace('ttl: "5m"', "ttl: true"), "--lib", "es2022,dom"),
    ).toThrow();
  });

  test("both doors open, and the first needs nothing of Node", () => {
    const run = (script: string) =>
      execFileSync(process.execPath, ["--input-type=module", "-e", script], {
        cwd: project,
        encoding: "utf8",
      }).trim();
    expect(
      run(
        'import * as f from "fencepost"; import * as g from "fencepost/git"; console.log(Object.keys(f).every((k) => k in g), typeof g.gitStore)',
      ),
    ).toBe("true function");
    const bundle = readFileSync(join(project, "node_modules/fencepost/dist/lib/index.js"), "utf8");
    expect(bundle).not.toMatch(/["']node:|\brequire\(|\bprocess\.(env|hrtime|pid)|\bBuffer\./);
    expect(/^\s*import\s/m.test(bundle)).toBe(false);
  });

  test("has every export in its guide", () => {
    const guide = readFileSync(join(root, "docs/library.md"), "utf8");
    for (const name of [...Object.keys(library), "gitStore", "push"]) expect(guide).toContain(`\`${name}\``);
  });
});
