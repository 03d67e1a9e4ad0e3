// `fencepost doctor`: finds each kind of damage on live records, and is content with none.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fenceRecordName } from "../../src/protocol/fence.js";
import { refOf } from "../../src/protocol/names.js";
import { countSkip, statsMessage } from "../../src/protocol/stats.js";
import { draftRef, globs, post, publishing, pushFiles, recordAt, rewrite } from "../support/blog.js";
import { leaseRef, type Sandbox, sandbox } from "../support/sandbox.js";

const statsRef = "refs/heads/fencepost/stats/blog";

let box: Sandbox;
let clone: string;
beforeEach(async () => {
  box = sandbox();
  clone = pushFiles(box, { "posts/a.md": post("a") });
  const args = [
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
  for (const draft of [args, ["--", "true"]])
    await box.cli(["run", "--lease", "blog", ...draft], { cwd: clone });
});
afterEach(() => box.dispose());

const doctor = async (...args: string[]) => {
  const ended = await box.cli(["doctor", "--json", ...args], { cwd: clone });
  return { code: ended.code, ...JSON.parse(ended.stdout) };
};
const hours = (n: number) => new Date(Date.now() - n * 3_600_000).toISOString();

describe("doctor", () => {
  it("is content with what Fencepost wrote", async () => {
    expect(await doctor(...globs)).toMatchObject({
      code: 0,
      outcome: "well",
      findings: [],
      checked: { leases: 1, drafts: 1 },
    });
    const text = await box.cli(["doctor"], { cwd: clone });
    expect(text.stdout).toMatch(/all is well: 1 leases, 1 drafts/);
  });

  const damage: [string, () => void, object][] = [
    ["a token that went back", () => rewrite(box, leaseRef("blog"), { token: 1 }), { check: "token" }],
    [
      "a lease that changed hands under the old token",
      () => rewrite(box, leaseRef("blog"), { event: "acquired", state: "released" }),
      { check: "token" },
    ],
    ["a chain that broke", () => rewrite(box, leaseRef("blog"), { depth: 99 }), { check: "chain" }],
    [
      "a record that nobody can parse",
      () => box.git(box.origin, "update-ref", leaseRef("blog"), "main"),
      { check: "unreadable" },
    ],
    [
      "a draft's token that went back",
      () => {
        rewrite(box, draftRef("posts/a.md"), { token: 5 });
        rewrite(box, draftRef("posts/a.md"), { token: 2 });
      },
      { check: "token" },
    ],
    [
      "a lease that is held and expired",
      () => rewrite(box, leaseRef("blog"), { state: "held", event: "renewed" }, hours(3)),
      { check: "expired", what: "lease blog" },
    ],
    [
      "a draft that is held and expired",
      () => rewrite(box, draftRef("posts/a.md"), { state: "held", event: "renewed" }, hours(3)),
      { check: "expired", what: "draft posts/a.md" },
    ],
    [
      "counters that do not add up",
      () => {
        const ask = { lease: "blog", token: 1, now: Date.UTC(2026, 2, 1), nonce: "nonce-of-a-test" };
        const message = statsMessage(countSkip(null, ask).record);
        const tree = box.git(clone, "hash-object", "-t", "tree", "-w", "/dev/null");
        const first = box.git(clone, "commit-tree", tree, "-m", message.trimEnd());
        box.git(clone, "push", "--quiet", "origin", `${first}:${statsRef}`);
        rewrite(box, statsRef, { days: { "2026-03-01": { skipped_overlap: 5 } } });
      },
      { check: "stats", problem: expect.stringMatching(/changed by 4 instead of 1/) },
    ],
  ];
  it.each(damage)("finds %s, and says what to do", async (_, harm, finding) => {
    harm();
    const found = await doctor();
    expect(found.code).toBe(1);
    expect(found.findings).toEqual([expect.objectContaining(finding)]);
    expect(found.findings[0].advice.length).toBeGreaterThan(20);
  });

  it("says once what to do about a record that it cannot read", async () => {
    box.git(box.origin, "update-ref", leaseRef("blog"), "main");
    const { stdout } = await box.cli(["doctor"], { cwd: clone });
    expect(stdout).toMatch(
      /^unreadable {2}lease\/blog: The record lease\/blog \(commit \w{10}\) is not a Fencepost record: its commit message holds no JSON document\. Put its branch back to its last good commit; deleting it would restart the token\.$/m,
    );
  });

  it("checks what another repository has accepted here", async () => {
    const ref = refOf("fencepost", fenceRecordName({ of: "lease", name: "site" }));
    const work = ["--", "sh", "-c", "git commit -q --allow-empty -m x"];
    const elsewhere = ["--store", join(box.folder, "home.git"), "--remote", box.origin, "--push", "main"];
    box.git(box.folder, "init", "--quiet", "--bare", "home.git");
    for (let run = 1; run <= 2; run++)
      expect((await box.cli(["run", "--lease", "site", ...elsewhere, ...work], { cwd: clone })).code).toBe(0);
    expect(await doctor()).toMatchObject({ code: 0, findings: [] });
    rewrite(box, ref, { token: 1 });
    expect(await doctor()).toMatchObject({ code: 1, findings: [{ check: "token", what: "fence/site" }] });
  });

  it("advises a TTL by the longest hold, as `status` does", async () => {
    const since = hours(2);
    rewrite(box, leaseRef("blog"), { token: 3, event: "acquired", state: "held", since }, hours(2));
    rewrite(box, leaseRef("blog"), { event: "released", state: "released", since }, hours(1));
    const words =
      /the longest of 3 holds took (1h|59m).*: without a heartbeat such a run would be taken over; use --ttl 1h30m to 2h/;
    expect((await doctor()).advice).toEqual([{ lease: "blog", advice: expect.stringMatching(words) }]);
    const status = await box.cli(["status", "blog"], { cwd: clone });
    expect(status.stdout).toMatch(words);
    expect(recordAt(box, leaseRef("blog"))).toMatchObject({ token: 3 });
  });
});
