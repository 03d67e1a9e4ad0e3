// The gate in a bare repository, through every door: what is not fenced is refused with a sentence, and the holder passes.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  claim,
  type Door,
  doors,
  gitLater,
  install,
  refs,
  seenLease,
  successor,
  take,
} from "../support/gate.js";
import { leaseRecord, leaseRef, type Sandbox, sandbox } from "../support/sandbox.js";
import { hasSsh } from "../support/ssh-server.js";

const lease = leaseRef("blog");
const main = "refs/heads/main";

describe.each(Object.keys(doors) as (keyof typeof doors)[])("over %s", (name) => {
  let box: Sandbox;
  let door: Door;
  let clone: string;
  /** Work that is not published, on top of main; the records of a superseded holder and of the one after it. */
  let head: string;
  let first: string;
  let second: string;

  beforeAll(async () => {
    if (name === "ssh" && !hasSsh) return;
    box = sandbox();
    await install(box);
    door = await doors[name](box);
    clone = box.clone("worker");
    first = take(box, clone, "first");
    second = take(box, clone, "second");
    head = box.commit(clone, "work");
  });
  afterAll(async () => {
    await door?.close();
    box?.dispose();
  });

  const push = (...args: string[]) => gitLater(box, clone, ["push", door.url, ...args], door.env);
  const record = (change: object, on = second) => {
    const seen = seenLease(box, clone, "blog", on);
    if (!seen) throw new Error("no lease");
    return successor(box, clone, seen, change);
  };
  const pushed = (commit: string) => ({ event: "pushed" as const, published: { [main]: commit } });

  const attacks: [string, () => string[], RegExp][] = [
    [
      "a plain push",
      () => [`${head}:${main}`],
      /fencepost: refs\/heads\/main moves only together with the lease "blog", in one atomic push, and nothing of the kind moves/,
    ],
    [
      "a forced push of another history",
      () => ["--force", `${box.git(clone, "commit-tree", "-m", "other", `${head}^{tree}`)}:${main}`],
      /moves only together with the lease "blog"/,
    ],
    [
      "a push by a superseded holder, with its own next record",
      () => ["--atomic", "--force", `${head}:${main}`, `${record(pushed(head), first)}:${lease}`],
      /its token 1 was superseded: the lease is at token 2, of second process 1/,
    ],
    [
      "a push by a superseded holder with the token of the new one",
      () => [
        "--atomic",
        `${head}:${main}`,
        `${record({ ...pushed(head), holder: claim("first") })}:${lease}`,
      ],
      /token 2 is held by second process 1, and this is another claim's record/,
    ],
    [
      "a push whose record names another commit",
      () => ["--atomic", `${head}:${main}`, `${record(pushed(box.tip(main)))}:${lease}`],
      /the record says that it published [0-9a-f]{10} there, not [0-9a-f]{10}/,
    ],
    [
      "a push whose record names another branch",
      () => [
        "--atomic",
        `${head}:${main}`,
        `${record({ event: "pushed", published: { "refs/heads/next": head } })}:${lease}`,
      ],
      /the record says that it published nothing there/,
    ],
    [
      "a push with a renewal",
      () => ["--atomic", `${head}:${main}`, `${record({ event: "renewed" })}:${lease}`],
      /record here says "renewed", and not that its holder pushed/,
    ],
    [
      "a push with a takeover",
      () => [
        "--atomic",
        `${head}:${main}`,
        `${record({ event: "acquired", token: 3, holder: claim("third"), published: { [main]: head } })}:${lease}`,
      ],
      /record here says "acquired"/,
    ],
    ["a deletion of the branch", () => [`:${main}`], /refs\/heads\/main is protected, and cannot be deleted/],
    [
      "a deletion of the lease's record",
      () => [`:${lease}`],
      /refs\/heads\/fencepost\/lease\/blog cannot change like this: a lease's branch is never deleted/,
    ],
    [
      "the lease's record put back to an earlier one",
      () => ["--force", `${first}:${lease}`],
      /its token 1 was superseded/,
    ],
    [
      "a commit that is no record, on the lease's branch",
      () => ["--force", `${head}:${lease}`],
      /is not a Fencepost record/,
    ],
  ];
  it.skipIf(name === "ssh" && !hasSsh).each(attacks)("refuses %s", async (_, args, sentence) => {
    const before = refs(box);
    const ended = await push(...args());
    expect(ended.stderr).toMatch(sentence);
    for (const line of ended.stderr.split("\n").filter((each) => /fencepost: /.test(each)))
      expect(line).toMatch(/^remote: fencepost: /);
    expect(ended.stderr).toMatch(/\[remote rejected\] .*\(pre-receive hook declined\)/);
    expect(ended.code).toBe(1);
    expect(refs(box)).toBe(before);
  });

  it.skipIf(name === "ssh" && !hasSsh)("names the holder, and says how to push", async () => {
    const { stderr } = await push(`${head}:${main}`);
    expect(stderr).toMatch(
      /remote: fencepost: The lease "blog" is held by second process 1, token 2, since .* Push with: fencepost push main --lease blog --token N/,
    );
    expect(stderr.match(/remote: fencepost: /g)).toHaveLength(2);
  });

  it.skipIf(name === "ssh" && !hasSsh)(
    "refuses the right record without --atomic, and leaves no trace",
    async () => {
      const before = refs(box);
      const ended = await push(`${head}:${main}`, `${record(pushed(head))}:${lease}`);
      // git itself ends there, and only a path and ssh carry the hook's words.
      if (name !== "http") {
        expect(ended.stderr).toMatch(
          /fencepost: refs\/heads\/fencepost\/lease\/blog cannot change like this: it says that it published [0-9a-f]{10} on refs\/heads\/main, which does not move with it in one atomic push\./,
        );
        expect(ended.stderr).toMatch(/ref updates aborted by hook/);
      }
      expect(ended.code).not.toBe(0);
      expect(refs(box)).toBe(before);
    },
  );

  it.skipIf(name === "ssh" && !hasSsh)("lets `fencepost push` by the holder through", async () => {
    const args = ["push", "main", "--lease", "blog", "--token", "2", "--store", door.url];
    const ended = await box.cli(args, { cwd: clone, env: door.env });
    expect(ended.stderr).toMatch(/pushed [0-9a-f]{40} to main/);
    expect(ended.code).toBe(0);
    expect(box.tip(main)).toBe(head);
    expect(leaseRecord(box, lease)).toMatchObject({ event: "pushed", token: 2, published: { [main]: head } });
  });

  it.skipIf(name === "ssh" && !hasSsh)(
    "lets `fencepost run --push` through, and refs that nothing protects",
    async () => {
      await box.cli(["unlock", "blog", "--store", box.origin, "--token", "2", "--reason", "test"]);
      const args = [
        "run",
        "--lease",
        "blog",
        "--store",
        door.url,
        "--push",
        "main",
        "--",
        "git",
        "commit",
        "-q",
      ];
      const ended = await box.cli([...args, "--allow-empty", "-m", "more"], { cwd: clone, env: door.env });
      expect(ended.stderr).toMatch(/released "blog"/);
      expect(ended.code).toBe(0);
      expect(box.tip(main)).toBe(box.git(clone, "rev-parse", "HEAD"));
      expect((await push(`${head}:refs/heads/side`)).code).toBe(0);
      expect((await push("--force", `${head}~:refs/heads/side`)).code).toBe(0);
      expect((await push(":refs/heads/side")).code).toBe(0);
    },
  );
});
