// What was said of a push is never the last word: the outcome is what the remote shows.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { fencedPush } from "../../src/gate/push.js";
import { lease, type Stage, stage } from "./stage.js";

let at: Stage;
beforeEach(async () => {
  at = await stage();
});
afterEach(() => at.dispose());

const main = () => at.tip("refs/heads/main");

/** The push of main goes through, and then this happens, and this is the answer. */
const afterPush = (then: string) =>
  at.shim(`case " $* " in *" push "*:refs/heads/main*) "$REAL" "$@" >/dev/null 2>&1; ${then};; esac`);
const rejected =
  'printf "!\\tHEAD:refs/heads/main\\t[remote rejected] (pre-receive hook declined)\\n"; exit 1';
const lost = "echo 'fatal: the remote end hung up unexpectedly' >&2; exit 128";
const noChain = 'case " $* " in *--depth=600*) echo "fatal: early EOF" >&2; exit 128;; esac';

/** The server sees a push of main, does this, and declines. */
const declines = (first: string) =>
  at.hook(
    "pre-receive",
    `while read -r old new ref; do case $ref in refs/heads/main)
       echo x >> "$FOLDER/asked"; unset GIT_QUARANTINE_PATH; ${first}; exit 1;; esac; done`,
  );

describe("words of a refusal", () => {
  test("about a push that arrived: pushed", async () => {
    afterPush(rejected);
    expect(await fencedPush(at.request)).toMatchObject({ outcome: "pushed", commit: at.request.head });
    expect(main()).toBe(at.request.head);
  });

  test("and no fence has moved: refused, after one push", async () => {
    declines(":");
    expect(await fencedPush(at.request)).toMatchObject({ outcome: "refused" });
    expect(at.lines("asked")).toHaveLength(1);
  });

  test("and the lease was taken over meanwhile: superseded", async () => {
    declines(`git update-ref ${lease} ${await at.next("taken")}`);
    expect(await fencedPush(at.request)).toMatchObject({ outcome: "superseded" });
    expect(at.lines("asked")).toHaveLength(1);
  });

  test("and the lease was renewed meanwhile: pushed again, on the record as it is then", async () => {
    const renewed = await at.next("renewed");
    declines(`[ -f "$FOLDER/once" ] && exit 0; touch "$FOLDER/once"; git update-ref ${lease} ${renewed}`);
    expect(await fencedPush(at.request)).toMatchObject({ outcome: "pushed" });
    expect(at.git(at.origin, "rev-parse", `${lease}^`)).toBe(renewed);
  });
});

describe("a lost reply", () => {
  /** Somebody else writes to the lease after our push: on top of it, or a new root. */
  const onTop = (root: boolean) => {
    const parents = root ? "" : `-p $("$REAL" -C ${at.origin} rev-parse ${lease})`;
    const identity = "-c user.name=x -c user.email=x";
    return `new=$("$REAL" -C ${at.origin} cat-file commit ${lease} | sed '1,/^$/d' |
        sed 's/"writer-0001"/"rival-00001"/' | "$REAL" -C ${at.origin} ${identity} commit-tree $("$REAL" -C ${at.origin} mktree </dev/null) ${parents} -F -)
      "$REAL" -C ${at.origin} update-ref ${lease} $new`;
  };
  const mainMovesOn = `"$REAL" -C ${"$FOLDER"}/clone -c user.name=x -c user.email=x commit --quiet --allow-empty -m more
      "$REAL" -C ${"$FOLDER"}/clone push --quiet origin HEAD:main >/dev/null 2>&1`;

  test("and a later holder's record on a new root: the branch shows that it arrived", async () => {
    afterPush(`${onTop(true)}; ${lost}`);
    expect(await fencedPush(at.request)).toMatchObject({ outcome: "pushed" });
  });

  test("and a later holder's record on a new root, and commits on top of ours: it arrived", async () => {
    afterPush(`${onTop(true)}; ${mainMovesOn}; ${lost}`);
    expect(await fencedPush(at.request)).toMatchObject({ outcome: "pushed" });
    expect(main()).not.toBe(at.request.head);
  });

  test("and a chain that cannot be fetched: the branch shows that it arrived", async () => {
    afterPush(`${onTop(false)}; ${lost}`);
    at.shim(noChain);
    expect(await fencedPush(at.request)).toMatchObject({ outcome: "pushed" });
  });

  test("of a branch that was replaced, and a chain that cannot be fetched: the branch shows it", async () => {
    afterPush(`${onTop(false)}; ${lost}`);
    at.shim(noChain);
    expect(await fencedPush({ ...at.request, replaces: main() })).toMatchObject({ outcome: "pushed" });
  });

  test("and a branch that was there before, which shows nothing: never pushed", async () => {
    at.git(at.clone, "push", "--quiet", "origin", "HEAD:main");
    const taken = await at.next("taken");
    at.shim(`case " $* " in *" push "*:refs/heads/main*)
      "$REAL" -C ${at.origin} update-ref ${lease} ${taken}; ${lost};; esac`);
    at.shim(noChain);
    const further = [{ ref: "refs/tags/v1", oid: at.request.head }];
    expect(await fencedPush({ ...at.request, further })).toMatchObject({ outcome: "unavailable" });
  });

  test("and nothing that shows whether it arrived: unavailable, and never superseded", async () => {
    const start = at.git(at.origin, "rev-parse", "main");
    afterPush(`${onTop(false)}; "$REAL" -C ${at.origin} update-ref refs/heads/main ${start}; ${lost}`);
    at.shim(noChain);
    expect(await fencedPush(at.request)).toMatchObject({
      outcome: "unavailable",
      why: expect.stringMatching(/does not show whether/),
    });
  });

  test("and a takeover that came before it: superseded, whatever commit the branch is at", async () => {
    const taken = await at.next("taken");
    at.shim(`case " $* " in *" push "*:refs/heads/main*)
      "$REAL" -C ${at.origin} update-ref ${lease} ${taken}
      "$REAL" -C ${at.clone} push --quiet origin HEAD:main >/dev/null 2>&1; ${lost};; esac`);
    expect(await fencedPush(at.request)).toMatchObject({ outcome: "superseded" });
  });

  test("twin: a push that git reports as done counts as pushed although the chain cannot be fetched", async () => {
    const start = at.git(at.origin, "rev-parse", "main");
    afterPush(`${onTop(false)}; "$REAL" -C ${at.origin} update-ref refs/heads/main ${start}; exit 0`);
    at.shim(noChain);
    expect(await fencedPush(at.request)).toMatchObject({ outcome: "pushed" });
  });
});

describe("a further ref", () => {
  test("that has commits of its own there: moved, named, after one push", async () => {
    at.git(at.clone, "checkout", "--quiet", "-b", "side", "HEAD~1");
    at.commit("theirs");
    at.git(at.clone, "push", "--quiet", "origin", "HEAD:latest");
    const further = [{ ref: "refs/heads/latest", oid: at.request.head }];
    at.shim('case " $* " in *" push "*:refs/heads/main*) echo x >> "$FOLDER/pushes";; esac');
    const before = main();
    expect(await fencedPush({ ...at.request, further })).toMatchObject({
      outcome: "moved",
      why: expect.stringMatching(/refs\/heads\/latest has commits there/),
    });
    expect(at.lines("pushes")).toHaveLength(1);
    expect(main()).toBe(before);
  });

  test("still goes there when a rebase has left nothing for the branch", async () => {
    const start = at.git(at.clone, "rev-parse", "HEAD~1");
    at.git(at.clone, "tag", "v1", start);
    const other = `${at.folder}/other`;
    at.git(at.folder, "clone", "--quiet", at.origin, other);
    at.git(at.clone, "reset", "--quiet", "--hard", start);
    at.script("clone/page", "echo page");
    at.git(at.clone, "add", "page");
    at.git(at.clone, "commit", "--quiet", "-m", "page");
    const head = at.git(at.clone, "rev-parse", "HEAD");
    at.git(at.clone, "commit", "--quiet", "--amend", "-m", "the same by somebody else");
    at.git(at.clone, "push", "--quiet", "origin", "HEAD:main");
    const further = [{ ref: "refs/tags/v1", oid: start }];
    const tip = main();
    const result = await fencedPush({ ...at.request, head, further });
    expect(result).toMatchObject({ outcome: "pushed", commit: tip });
    expect(at.tip("refs/tags/v1")).toBe(start);
    expect(main()).toBe(tip);
  });
});
