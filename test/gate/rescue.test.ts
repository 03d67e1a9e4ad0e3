// What a push that failed leaves behind: every commit is kept, whatever else goes wrong.
import { renameSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fencedPush, keepCommits } from "../../src/gate/push.js";
import { regenerating } from "../../src/gate/regenerate.js";
import { describeRescue } from "../../src/gate/rescue.js";
import { lease, type Stage, stage } from "./stage.js";

let at: Stage;
beforeEach(async () => {
  at = await stage();
});
afterEach(() => at.dispose());

const kept = "refs/heads/fencepost/rescue/blog/1";
/** The server declines pushes whose ref matches the pattern of a shell. */
const decline = (pattern: string) =>
  at.hook("pre-receive", `while read -r old new ref; do case $ref in ${pattern}) exit 1;; esac; done`);

describe("commits that only a further ref has", () => {
  let side: string;
  let further: { ref: string; oid: string }[];
  beforeEach(() => {
    const { head } = at.request;
    at.git(at.clone, "checkout", "--quiet", "-b", "side");
    side = at.commit("only tagged");
    at.git(at.clone, "tag", "-a", "v1", "-m", "one");
    at.git(at.clone, "tag", "blob", at.git(at.clone, "hash-object", "-w", ".git/HEAD"));
    further = [
      { ref: "refs/heads/latest", oid: head },
      { ref: "refs/tags/blob", oid: at.git(at.clone, "rev-parse", "refs/tags/blob") },
      { ref: "refs/tags/v1", oid: at.git(at.clone, "rev-parse", "refs/tags/v1") },
      { ref: "refs/tags/again", oid: side },
    ];
  });

  test("are kept beside the head, once each", async () => {
    decline("refs/heads/main");
    const result = await fencedPush({ ...at.request, further });
    expect(result).toMatchObject({
      outcome: "refused",
      rescue: {
        kept: "ref",
        ref: kept,
        further: [{ kept: "ref", ref: `${kept}-further-1`, commit: side, of: "refs/tags/v1" }],
      },
    });
    expect(at.tip(`${kept}-further-1`)).toBe(side);
    expect(at.tip(kept)).toBe(at.request.head);
    if (!("rescue" in result)) throw new Error("it was refused");
    expect(describeRescue(result.rescue)).toMatch(/refs\/tags\/v1: fencepost\/rescue\/blog\/1-further-1\./);
  });

  test("are in the bundle when the server takes no rescue", async () => {
    decline("refs/heads/main|*/rescue/*");
    const result = await fencedPush({ ...at.request, further });
    const { rescue } = result as { rescue: { file: string } };
    expect(rescue).toMatchObject({ kept: "bundle", further: [{ kept: "bundle", commit: side }] });
    const other = `${at.folder}/other`;
    at.git(at.folder, "clone", "--quiet", at.origin, other);
    at.git(other, "fetch", "--quiet", rescue.file, "refs/heads/rescued-further-1:a", "refs/heads/rescued:b");
    expect([at.git(other, "rev-parse", "a"), at.git(other, "rev-parse", "b")]).toEqual([
      side,
      at.request.head,
    ]);
  });

  test("are in a bundle alone when the server takes the head's rescue only", async () => {
    decline("refs/heads/main|*further*");
    const result = await fencedPush({ ...at.request, further });
    expect(result).toMatchObject({
      rescue: { kept: "ref", ref: kept, further: [{ kept: "bundle", commit: side }] },
    });
  });

  test("are kept too when the lease was lost before any push", async () => {
    await keepCommits({ ...at.request, further }, null);
    expect(at.tip(`${kept}-further-1`)).toBe(side);
  });

  test("are no news when they are published already", async () => {
    const rescue = await keepCommits({ ...at.request, further }, side);
    expect(rescue).not.toHaveProperty("further");
  });
});

describe("a push that hangs", () => {
  const hang =
    'if mkdir "$FOLDER/struck" 2>/dev/null; then echo x >> "$FOLDER/hanging"; sleep 30; exit 1; fi';
  const whenItHangs = async (controller: AbortController) => {
    while (at.lines("hanging").length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    controller.abort();
  };

  test("is given up when its signal aborts: unavailable, the commits kept, and no process left", async () => {
    at.hook("pre-receive", hang);
    const controller = new AbortController();
    const started = performance.now();
    const [result] = await Promise.all([
      fencedPush({ ...at.request, signal: controller.signal }),
      whenItHangs(controller),
    ]);
    expect(result).toMatchObject({
      outcome: "unavailable",
      why: expect.stringMatching(/^given up after \d+.*not known until it is read again$/),
      rescue: { kept: "ref", ref: kept, commit: at.request.head },
    });
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(at.tip("refs/heads/main")).not.toBe(at.request.head);
    expect(at.tip(lease)).toBe(at.holding.oid);
    await expect.poll(() => at.processes(), { timeout: 5000 }).toEqual([]);
  });

  test("ends the program of a command that regenerates", async () => {
    const onMoved = regenerating("regenerate", ["sleep", "40"], process.env, true);
    if (onMoved.how !== "regenerate") throw new Error("it was asked for");
    const controller = new AbortController();
    const code = onMoved.command(at.clone, [], controller.signal);
    controller.abort();
    expect(await code).not.toBe(0);
  });

  test("tells a command that regenerates", async () => {
    at.git(at.clone, "push", "--quiet", "origin", `${at.commit("other", "--amend")}:refs/heads/main`);
    const controller = new AbortController();
    let told: AbortSignal | undefined;
    const command = async (_: string, __: unknown, signal?: AbortSignal) => {
      told = signal;
      controller.abort();
      return 143;
    };
    const onMoved = { how: "regenerate", command } as const;
    const result = await fencedPush({ ...at.request, onMoved, signal: controller.signal });
    expect(result).toMatchObject({ outcome: "unavailable", rescue: { kept: "ref" } });
    expect(told?.aborted).toBe(true);
  });
});

test("a folder for temporary files that is gone changes no outcome", async () => {
  at.git(at.clone, "push", "--quiet", "origin", `${at.commit("other", "--amend")}:refs/heads/main`);
  const temp = `${at.folder}/temp`;
  const command = async () => {
    renameSync(temp, `${at.folder}/away`);
    writeFileSync(temp, "");
    return 4;
  };
  const result = await fencedPush({ ...at.request, onMoved: { how: "regenerate", command } });
  expect(result).toMatchObject({
    outcome: "moved",
    why: expect.stringMatching(/exit 4/),
    rescue: { kept: "clone", commit: at.request.head },
  });
});
