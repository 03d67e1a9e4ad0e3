// Records: what is written is read back, and what cannot be read is an error that says so, never a free lease.
import fc from "fast-check";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { type RecordName, recordName } from "../../src/protocol/names.js";
import {
  decodeRecord,
  encodeRecord,
  envelope,
  format,
  RecordInvalid,
  type Versioned,
} from "../../src/protocol/record.js";

const schema = v.looseObject({ ...envelope, kind: v.literal("lease") });

const parent = "a".repeat(40);
const body = {
  fencepost: format,
  kind: "lease",
  name: "blog-main",
  event: "acquired",
  previous: parent,
  depth: 17,
  nonce: "5f0c1a9e",
};

/** The record as a store has it, at the ref of the name that it carries. */
function stored(record: object = body, kept: Partial<Versioned> = {}): Versioned {
  const { name = "", depth = 1, previous } = record as Partial<typeof body>;
  return {
    name: recordName("lease", String(name)),
    oid: "b".repeat(40),
    writtenAt: 0,
    parents: depth === 1 || !previous ? [] : [previous],
    message: encodeRecord("lease blog-main #1", record),
    ...kept,
  };
}

function decode(seen: Versioned) {
  return decodeRecord("lease", schema, seen);
}

function problem(seen: Versioned): RecordInvalid {
  try {
    decode(seen);
  } catch (error) {
    expect(error).toBeInstanceOf(RecordInvalid);
    return error as RecordInvalid;
  }
  throw new Error("the record was accepted");
}

describe("a record", () => {
  it("is a sentence, an empty line and one document", () => {
    expect(encodeRecord("lease a #1 acquired", { fencepost: 1 })).toBe(
      'lease a #1 acquired\n\n{\n  "fencepost": 1\n}\n',
    );
  });

  it("is read back as it was written", () => {
    expect(decode(stored())).toEqual(body);
    expect(decode(stored({ ...body, previous: "c".repeat(64) }))).toEqual({
      ...body,
      previous: "c".repeat(64),
    });
  });

  it("is read back whatever its name and its further fields contain", () => {
    const name = fc.string({ unit: "binary", minLength: 1 });
    const extra = fc
      .jsonValue()
      // JSON has no negative zero.
      .map((value) => JSON.parse(JSON.stringify(value)));
    fc.assert(
      fc.property(name, extra, fc.string({ unit: "binary", minLength: 8 }), (name, later, nonce) => {
        const record = { ...body, name, nonce, later };
        expect(decode(stored(record))).toEqual(record);
      }),
    );
  });

  it("keeps fields that this version does not know", () => {
    expect(decode(stored({ ...body, region: { zone: ["eu"] } }))).toMatchObject({ region: { zone: ["eu"] } });
  });

  it("may have the sentence changed or line ends added, as servers and people do", () => {
    const document = JSON.stringify(body);
    expect(decode(stored(body, { message: `\n\n${document}` }))).toEqual(body);
    expect(decode(stored(body, { message: `another sentence\n\n${document}\n\n\n` }))).toEqual(body);
  });
});

describe("a record of a newer format", () => {
  it("is an error that asks for an upgrade, however strange the rest of it is", () => {
    for (const record of [
      { ...body, fencepost: 2 },
      { fencepost: 2, name: "blog-main", shape: "new" },
    ]) {
      const found = problem(stored(record));
      expect(found.problem).toBe("newer");
      expect(found.message).toMatch(
        /has format 2, which is newer than the 1 that .* reads\. Upgrade Fencepost here\.$/,
      );
    }
  });

  it("is told apart from a record without a proper format", () => {
    for (const fencepost of [0, "2", null, undefined, true]) {
      expect(problem(stored({ ...body, fencepost })).problem).toBe("broken");
    }
  });
});

describe("a record that cannot be read", () => {
  it.each([
    ["no message", ""],
    ["a commit of somebody's own", "Fix a typo\n\nIt said teh.\n"],
    ["a sentence alone", "lease blog-main #1 acquired"],
    ["a document without a sentence", JSON.stringify(body)],
    ["half a document", encodeRecord("lease", body).slice(0, -20)],
    ["two documents", `lease\n\n${JSON.stringify(body)}\n${JSON.stringify(body)}`],
    ["trailing words", `${encodeRecord("lease", body)}\nSigned-off-by: someone\n`],
    ["null", "lease\n\nnull\n"],
    ["a number", "lease\n\n2\n"],
    ["a list", `lease\n\n[${JSON.stringify(body)}]\n`],
  ])("with %s is broken", (_, message) => {
    const found = problem(stored(body, { message }));
    expect(found.problem).toBe("broken");
    expect(found.record).toBe("lease/blog-main");
    expect(found.message).toMatch(
      /^The record lease\/blog-main \(commit bbbbbbbbbb\) is not a Fencepost record: .+\. Put its branch back to its last good commit; deleting it would restart the token\.$/,
    );
  });

  it.each([
    ["kind", "draft"],
    ["name", ""],
    ["name", 7],
    ["event", undefined],
    ["previous", "main"],
    ["previous", undefined],
    ["previous", "A".repeat(40)],
    ["depth", 0],
    ["depth", 1.5],
    ["depth", "17"],
    ["nonce", undefined],
    ["nonce", "short"],
  ])("since its %s is %j is broken, and the error names the field", (field, value) => {
    const found = problem(stored({ ...body, [field]: value }, { name: recordName("lease", "blog-main") }));
    expect(found.problem).toBe("broken");
    expect(found.message).toContain(`: ${field}: `);
  });

  it("is a RecordInvalid and nothing else, whatever the message is", () => {
    const rubbish = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.json().map((json) => `lease\n\n${json}`),
      fc.nat(400).map((cut) => encodeRecord("lease", body).slice(0, cut)),
    );
    fc.assert(
      fc.property(rubbish, (message) => {
        fc.pre(message.trimEnd() !== encodeRecord("lease", body).trimEnd());
        return ["broken", "newer"].includes(problem(stored(body, { message })).problem);
      }),
    );
  });
});

describe("a record at another record's ref", () => {
  it.each(["lease/blog", "draft/blog-main", "lease/Blog-main"])("such as %s is misplaced", (name) => {
    const found = problem(stored(body, { name: name as RecordName }));
    expect(found.problem).toBe("misplaced");
    expect(found.message).toContain('belongs to "blog-main", not to this branch');
  });

  it("is misplaced even if only the end of a long name differs", () => {
    const long = `${"x".repeat(150)}a`;
    expect(decode(stored({ ...body, name: long }))).toMatchObject({ name: long });
    const elsewhere = recordName("lease", `${"x".repeat(150)}b`);
    expect(problem(stored({ ...body, name: long }, { name: elsewhere })).problem).toBe("misplaced");
  });
});

describe("a record's chain", () => {
  it("begins at a root, which may name the tip that it replaced", () => {
    expect(decode(stored({ ...body, depth: 1, previous: null }))).toMatchObject({ depth: 1 });
    expect(decode(stored({ ...body, depth: 1, previous: parent }))).toMatchObject({ previous: parent });
  });

  it.each<[string, object, string[]]>([
    ["the parent is another commit", body, ["c".repeat(40)]],
    ["the parent is missing", body, []],
    ["it was merged", body, [parent, "c".repeat(40)]],
    ["it names no parent but has one", { ...body, previous: null }, [parent]],
    ["it names no parent and is no root", { ...body, previous: null }, []],
    ["it says that it is a root and has a parent", { ...body, depth: 1 }, [parent]],
  ])("is broken where %s", (_, record, parents) => {
    const found = problem(stored(record, { parents }));
    expect(found.problem).toBe("chain");
    expect(found.message).toMatch(/its history was rewritten\. Put its branch back/);
  });
});
