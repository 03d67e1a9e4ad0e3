// A lease that is taken away while the command works: all that was committed is kept, the commits of tags too.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { draftRef, post, publishing, pushFiles, recordAt, rewrite } from "../support/blog.js";
import { leaseRef, type Sandbox, sandbox } from "../support/sandbox.js";

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.dispose());

const rescue = "refs/heads/fencepost/rescue/blog/1";

/** Runs the script under a lease with the tags named, and takes the lease away when it says that it is ready. */
async function lose(clone: string, script: string, tags: string[]) {
  const options = ["--lease", "blog", "--ttl", "2s", "--push", "main", "--json"];
  const named = tags.flatMap((tag) => ["--tag", tag]);
  const run = box.start(["run", ...options, ...named, "--", "sh", "-c", `${script}; echo ready; sleep 60`], {
    cwd: clone,
  });
  await run.until(/ready/);
  await box.cli(["unlock", "blog", "--token", "1", "--reason", "test", "--store", box.origin]);
  const ended = await run.ended;
  expect(ended.code).toBe(76);
  return { ...JSON.parse(ended.stdout), said: ended.stderr };
}

it("keeps what only a tag has, and minds no tag that was not made yet", async () => {
  const clone = box.clone("a");
  const script =
    "git commit -q --allow-empty -m tagged; git tag v1; git reset -q --hard HEAD~1; git commit -q --allow-empty -m head";
  const ended = await lose(clone, script, ["v1", "v2"]);
  expect(ended).toMatchObject({ rescue: { ref: rescue, further: [{ ref: `${rescue}-further-1` }] } });
  expect(box.tip(rescue)).toBe(box.git(clone, "rev-parse", "HEAD"));
  expect(box.tip(`${rescue}-further-1`)).toBe(box.git(clone, "rev-parse", "v1"));
  expect(ended.said).toMatch(/refs\/tags\/v1: fencepost\/rescue\/blog\/1-further-1/);
});

it("keeps a tag's commits also where HEAD has none, and nothing for a tag that is old", async () => {
  const clone = box.clone("b");
  const script = "git commit -q --allow-empty -m tagged; git tag v1; git reset -q --hard HEAD~1; git tag old";
  await lose(clone, script, ["v1", "old"]);
  expect(box.tip(`${rescue}-further-1`)).toBe(box.git(clone, "rev-parse", "v1"));
  expect(box.tip(`${rescue}-further-2`)).toBe("");
});

it.each([
  ["its heartbeats", "2s", "sleep 60"],
  ["its push", "10m", "until [ -f go ]; do sleep 0.05; done"],
])(
  "a lease and a draft that are lost together, noticed by %s: nothing is pushed or written, and the work is kept",
  async (_, ttl, rest) => {
    const path = "posts/a.md";
    pushFiles(box, { [path]: post("a") });
    const before = box.tip("refs/heads/main");
    const clone = box.clone("c");
    const options = [
      "--lease",
      "blog",
      "--draft",
      path,
      "--convention",
      "hugo",
      "--ttl",
      ttl,
      "--push",
      "main",
      "--json",
    ];
    const run = box.start(["run", ...options, "--", "sh", "-c", `${publishing}; echo ready; ${rest}`], {
      cwd: clone,
    });
    await run.until(/ready/);
    const other = { holder: { id: "another-claim", host: "vm-2" }, token: 2, event: "acquired" };
    // The heartbeats write as well, until one of them is too late.
    for (const [ref, record] of [
      [leaseRef("blog"), other],
      [draftRef(path), { ...other, event: "claimed", attempts: 2, lost: 1 }],
    ] as const)
      rewrite(box, ref, record);
    writeFileSync(join(clone, "go"), "");
    const ended = await run.ended;
    expect({ code: ended.code, ...JSON.parse(ended.stdout) }, ended.stderr).toMatchObject({
      code: 76,
      outcome: "superseded",
      state: "lost",
      rescue: { ref: rescue },
    });
    expect(box.tip("refs/heads/main")).toBe(before);
    expect(box.tip(rescue)).toBe(box.git(clone, "rev-parse", "HEAD"));
    expect(recordAt(box, leaseRef("blog"))).toMatchObject({ token: 2, event: "acquired" });
    expect(recordAt(box, draftRef(path))).toMatchObject({ token: 2, state: "held", attempts: 2 });
  },
);
