// `fencepost drafts` and `fencepost redrive`: what people see, and how they bring a draft back.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { draftRef, globs, post, pushFiles, recordAt } from "../support/blog.js";
import { type Sandbox, sandbox } from "../support/sandbox.js";

let box: Sandbox;
let clone: string;
beforeEach(() => {
  box = sandbox();
  clone = pushFiles(box, {
    "posts/a.md": post("a"),
    "posts/b.md": post("b", "publishDate: 2999-01-01T00:00:00Z\n"),
    "posts/c.md": "---\ndraft: false\n---\n",
    "posts/bad.md": "---\ntitle: [\n---\n",
  });
});
afterEach(() => box.dispose());

const fail = () =>
  box.cli(["run", "--draft", "posts/a.md", "--convention", "hugo", "--backoff", "0s", "--", "false"], {
    cwd: clone,
  });
const drafts = async (...args: string[]) =>
  JSON.parse((await box.cli(["drafts", "--json", ...args], { cwd: clone })).stdout);
const redrive = (draft: string, reason = "the service is back") =>
  box.cli(["redrive", draft, "--reason", reason], { cwd: clone });

describe("drafts", () => {
  it("shows each under its heading with why, and changes nothing", async () => {
    await fail();
    const refs = box.git(box.origin, "for-each-ref");
    const shown = await drafts(...globs);
    expect(shown).toMatchObject({
      total: 4,
      counts: { pending: 1, not_due: 1, not_pending: 1, unreadable: 1 },
    });
    expect(shown.drafts[0]).toMatchObject({
      draft: "posts/a.md",
      heading: "pending",
      why: "to be tried again",
    });
    expect(shown.drafts[1]).toMatchObject({
      why: "due 2999-01-01 00:00 UTC",
      next: "2999-01-01T00:00:00.000Z",
    });
    expect(box.git(box.origin, "for-each-ref")).toBe(refs);
    const text = (await box.cli(["drafts", ...globs], { cwd: clone })).stdout;
    expect(text).toMatch(/^unreadable +posts\/bad.md +its front matter is not YAML/);
    expect(text).toMatch(/4 drafts: /);
  });

  it("tells what the records say without any convention", async () => {
    expect(await drafts()).toMatchObject({ total: 0 });
    await fail();
    expect(await drafts()).toMatchObject({ total: 1, drafts: [{ draft: "posts/a.md", attempts: 1 }] });
  });
});

describe("redrive", () => {
  it("makes a dead draft pending with all its attempts, and records who and why", async () => {
    for (let i = 0; i < 3; i++) await fail();
    expect(await drafts(...globs)).toMatchObject({ counts: { dead: 1 } });
    expect((await redrive("./posts/a.md")).code).toBe(0);
    expect(recordAt(box, draftRef("posts/a.md"))).toMatchObject({
      state: "pending",
      attempts: 0,
      redrive: { by: "Writer", reason: "the service is back" },
    });
  });

  it("refuses a draft that is unknown or not dead, and an empty reason", async () => {
    const unknown = await redrive("posts/none.md");
    expect([unknown.code, unknown.stderr]).toEqual([77, expect.stringMatching(/was ever claimed/)]);
    await fail();
    const alive = await redrive("posts/a.md");
    expect([alive.code, alive.stderr]).toEqual([77, expect.stringMatching(/is not dead. It is pending/)]);
    expect((await redrive("posts/a.md", " ")).code).toBe(64);
  });
});
