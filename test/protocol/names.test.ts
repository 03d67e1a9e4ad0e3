// Names: every lease has one legal ref of its own, and only usable branches and prefixes pass.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  branchRef,
  fullRef,
  kinds,
  leaseName,
  longestLeaseName,
  NameInvalid,
  quote,
  type RecordName,
  recordName,
  recordOf,
  refOf,
  refPrefix,
  rescueRef,
} from "../../src/protocol/names.js";

let repository: string;
beforeAll(() => {
  repository = mkdtempSync(join(tmpdir(), "fencepost-names-"));
  execFileSync("git", ["init", "--quiet", "--bare", repository]);
});
afterAll(() => rmSync(repository, { recursive: true, force: true }));

/** The refs, of those given, that git itself finds well formed. One process; refs with white space cannot be asked. */
function legalForGit(refs: string[]): Set<string> {
  const options = ["-C", repository, "show-ref", "--exclude-existing"];
  const kept = execFileSync("git", options, {
    input: refs.map((ref) => `${ref}\n`).join(""),
    stdio: ["pipe", "pipe", "ignore"],
  });
  return new Set(kept.toString().split("\n").filter(Boolean));
}

function accepted(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(NameInvalid);
    return false;
  }
}

/** Names built from what git, file systems and slugs find hard. */
const hardPart = fc.constantFrom(
  ..."aAbBzZ019._-=@{}~^:?*[]\\%+#'\" /",
  ..."éÉßıİſKﬁ日本🙂",
  "e\u0301",
  ".lock",
  "..",
  "@{",
  "blog",
  "Blog",
  "main",
);
const hardName = fc.array(hardPart, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(""));
const anyName = fc
  .oneof(hardName, fc.string({ unit: "binary", minLength: 1, maxLength: 200 }), fc.string({ minLength: 1 }))
  .filter((name) => accepted(() => leaseName(name)));

/** Two names that are easily taken for each other. */
const similarPair = anyName.chain((name) =>
  fc.tuple(
    fc.constant(name),
    fc.oneof(
      anyName,
      fc.constantFrom(
        name.toUpperCase(),
        name.toLowerCase(),
        name.normalize("NFD"),
        name.normalize("NFC"),
        name.normalize("NFKC"),
        name.replaceAll("/", "-"),
        name.replaceAll("/", "="),
        name.replaceAll(" ", "-"),
        name.replace(/[^a-z0-9]+/g, "-"),
        `${name}.`,
        `${name}.lock`,
        recordName("lease", name).slice("lease/".length),
      ),
    ),
  ),
);

describe("a record's name", () => {
  it("is the lease's own where that is plain", () => {
    expect(recordName("lease", "blog-main")).toBe("lease/blog-main");
    expect(recordName("lease", "a.b_c-9")).toBe("lease/a.b_c-9");
    expect(recordName("lease", "x".repeat(100))).toBe(`lease/${"x".repeat(100)}`);
  });

  it("is a readable slug and a hash where it is not", () => {
    expect(recordName("lease", "Blog / Main")).toMatch(/^lease\/blog-main=[0-9a-f]{24}$/);
    expect(recordName("draft", "posts/été.md")).toMatch(/^draft\/posts-t-md=[0-9a-f]{24}$/);
    expect(recordName("lease", "日本語")).toMatch(/^lease\/=[0-9a-f]{24}$/);
  });

  it.each(["a.lock", "a..b", "a.", "-a", ".a", "a\nb", "x".repeat(101)])(
    "is no plain one for %j, which git could not keep or would misread",
    (name) => {
      expect(recordName("lease", name)).toMatch(/^lease\/[a-z0-9-]*=[0-9a-f]{24}$/);
    },
  );

  it("stays the same from version to version", () => {
    expect(recordName("lease", "a/b")).toBe("lease/a-b=c14cddc033f64b9dea80ea67");
  });

  it.each([
    ["Blog", "blog"],
    ["a/b", "a-b"],
    ["a", "a/b"],
    ["blog", "blog.lock"],
    ["x".repeat(101), `${"x".repeat(100)}y`],
    [`${"x".repeat(199)}y`, `${"x".repeat(199)}z`],
    ["\u00e9", "e\u0301"],
    ["a/b", "a-b=c14cddc033f64b9dea80ea67"],
  ])("differs between %j and %j, also where case is ignored", (one, other) => {
    expect(recordName("lease", one).toLowerCase()).not.toBe(recordName("lease", other).toLowerCase());
  });

  it("is never shared by two names, also where case is ignored", () => {
    fc.assert(
      fc.property(similarPair, ([one, other]) => {
        fc.pre(one !== other);
        return recordName("lease", one).toLowerCase() !== recordName("lease", other).toLowerCase();
      }),
      { numRuns: 2000 },
    );
    const names = new Set(fc.sample(anyName, 2000));
    expect(names.size).toBeGreaterThan(1000);
    expect(new Set([...names].map((name) => recordName("lease", name).toLowerCase())).size).toBe(names.size);
  });

  it("is flat, short and in lower case, so that one record never stands in another's way", () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), anyName, (kind, name) => {
        expect(recordName(kind, name)).toMatch(new RegExp(`^${kind}/[a-z0-9._=-]{1,100}$`));
      }),
      { numRuns: 1000 },
    );
  });

  it("makes a ref that git takes, for every lease name", () => {
    const refs = fc.sample(anyName, 3000).flatMap((name, i) => {
      return [refOf("fencepost", recordName("lease", name)), rescueRef("fencepost", name, i + 1)];
    });
    const legal = legalForGit(refs);
    expect(refs.filter((ref) => !legal.has(ref))).toEqual([]);
    expect(
      legalForGit(["refs/heads/a.lock", "refs/heads/a..b", "refs/heads/a~1", "refs/heads/good"]),
    ).toEqual(new Set(["refs/heads/good"]));
  });

  it("is found again in its ref, and in no other", () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const record = recordName("lease", name);
        const ref = refOf("house/fencepost", record);
        return recordOf("house/fencepost", ref) === record && recordOf("house", ref) !== record;
      }),
    );
    expect(recordOf("fencepost", "refs/heads/main")).toBeNull();
    expect(recordOf("fencepost", "refs/heads/fencepost-2/lease/a")).toBeNull();
    expect(recordOf("fencepost", "refs/tags/fencepost/lease/a")).toBeNull();
    expect(refOf("fencepost", "lease/a" as RecordName)).toBe("refs/heads/fencepost/lease/a");
  });

  it("puts the rescued commits of every token on a ref of their own", () => {
    expect(rescueRef("fencepost", "blog-main", 42)).toBe("refs/heads/fencepost/rescue/blog-main/42");
    expect(rescueRef("fencepost", "Blog", 1)).toMatch(
      /^refs\/heads\/fencepost\/rescue\/blog=[0-9a-f]{24}\/1$/,
    );
  });
});

describe("a lease name", () => {
  it.each([
    "a",
    "blog-main",
    "Blog / Main",
    "posts/2024/été.md",
    "日本語",
    "🙂",
    "x".repeat(200),
    "🙂".repeat(200),
  ])("may be %j", (name) => {
    expect(leaseName(name)).toBe(name);
  });

  it.each([
    ["", "is empty"],
    ["  ", "is empty"],
    [" a", "begins or ends with a space"],
    ["a\u00a0", "begins or ends with a space"],
    ["a\nb", "contains a control character"],
    ["a\u0000b", "contains a control character"],
    ["a\u009fb", "contains a control character"],
    ["a\u2028b", "contains a control character"],
    ["a\ud800b", "is not valid Unicode"],
    ["/a", "segment"],
    ["a/", "segment"],
    ["a//b", "segment"],
    ["a/../b", "segment"],
    ["./a", "segment"],
    ["x".repeat(201), "is 201 characters long, and 200 is the most"],
  ])("may not be %j, and the error says why and names a good one", (name, why) => {
    expect(() => leaseName(name)).toThrow(NameInvalid);
    expect(() => leaseName(name)).toThrow(
      new RegExp(`^The lease name .*${why}.*A good one: blog-main$`, "s"),
    );
  });

  it("is counted in characters as people see them, not in halves of one", () => {
    expect(accepted(() => leaseName("🙂".repeat(longestLeaseName)))).toBe(true);
    expect(accepted(() => leaseName("🙂".repeat(longestLeaseName + 1)))).toBe(false);
  });
});

describe("a ref prefix", () => {
  it.each(["fencepost", "house/fencepost", "a_b-9/c", "0"])("may be %j", (prefix) => {
    expect(refPrefix(prefix)).toBe(prefix);
  });

  it.each([
    "",
    "/a",
    "a/",
    "a//b",
    "Fencepost",
    "a.b",
    "a.lock",
    "-a",
    "a/-b",
    "a b",
    "a\n",
    "é",
    "x".repeat(101),
  ])("may not be %j", (prefix) => {
    expect(() => refPrefix(prefix)).toThrow(/^The ref prefix .* cannot be used.*A good one: fencepost$/);
  });
});

describe("a branch", () => {
  it("may be given short or in full", () => {
    expect(branchRef("main", "fencepost")).toBe("refs/heads/main");
    expect(branchRef("refs/heads/main", "fencepost")).toBe("refs/heads/main");
    expect(branchRef("feature/x@y", "fencepost")).toBe("refs/heads/feature/x@y");
  });

  it.each([
    "",
    "/",
    "a/",
    "a//b",
    "refs/heads/",
    "refs/tags/v1",
    "refs/pull/1/merge",
    "-x",
    ".a",
    "a/.b",
    "a.lock",
    "a.lock/b",
    "a..b",
    "a.",
    "a b",
    "a\tb",
    "a\nb",
    "a\u007f",
    "a~1",
    "a^",
    "a:b",
    "a?",
    "a*",
    "a[b",
    "a\\b",
    "a@{1}",
  ])("may not be %j, and the error names a good one", (branch) => {
    expect(() => branchRef(branch, "fencepost")).toThrow(/^The branch name .*A good one: main$/s);
  });

  it("may not be one of our own records, under whichever prefix they stand", () => {
    expect(() => branchRef("fencepost/lease/blog", "fencepost")).toThrow(/own records/);
    expect(() => branchRef("refs/heads/house/x", "house")).toThrow(/own records/);
    expect(branchRef("fencepost/lease/blog", "house")).toBe("refs/heads/fencepost/lease/blog");
  });
});

describe("a full ref", () => {
  it("may be a branch, a tag or anything else below refs", () => {
    expect(fullRef("refs/tags/v1.0", "fencepost")).toBe("refs/tags/v1.0");
    expect(fullRef("refs/heads/main", "fencepost")).toBe("refs/heads/main");
  });

  it.each(["main", "refs/", "refs/heads", "refs/tags/", "refs/tags/-v", "refs/tags/a..b"])(
    "may not be %j",
    (ref) => {
      expect(() => fullRef(ref, "fencepost")).toThrow(/^The ref .*A good one: refs\/heads\/main$/);
    },
  );

  it("may not be one of our own records", () => {
    expect(() => fullRef("refs/heads/fencepost/fence/a", "fencepost")).toThrow(/own records/);
  });

  it("passes exactly where git lets it, but for names that read like an option", () => {
    const part = fc.oneof(
      hardName,
      fc.string({ unit: fc.constantFrom(..."a.-/@{~^:?*[\\\u007f\u0001l"), maxLength: 6 }),
    );
    const refs = [...new Set(fc.sample(part, 4000))]
      .filter((name) => !/\s/.test(name) && !name.startsWith("-") && !name.endsWith("^{}"))
      .map((name) => `refs/heads/${name}`);
    const legal = legalForGit(refs);
    const ours = refs.filter((ref) => accepted(() => fullRef(ref, "fencepost")));
    expect(legal.size).toBeGreaterThan(100);
    expect(legal.size).toBeLessThan(refs.length - 100);
    expect(ours).toEqual(refs.filter((ref) => legal.has(ref)));
  });
});

describe("a quoted name", () => {
  it("is on one line and at most about sixty characters long", () => {
    expect(quote('a"\n::error::')).toBe('"a\\"\\n::error::"');
    expect(quote("🙂".repeat(61))).toBe(`"${"🙂".repeat(60)}…"`);
    expect(quote("x".repeat(60))).toBe(`"${"x".repeat(60)}"`);
  });
});
