import { describe, expect, test } from "vitest";
import {
  FrontMatterInvalid,
  fieldAt,
  longestFrontMatter,
  readFrontMatter,
} from "../../src/protocol/front-matter.js";

describe("readFrontMatter", () => {
  test.each<[string, string, object]>([
    ["an empty file", "", {}],
    ["a file without any", "# Title\n\n---\nnot: fields\n---\n", {}],
    ["empty YAML", "---\n---\n", {}],
    ["only a comment", "---\n# nothing yet\n---\ntext", {}],
    ["YAML", '---\ntitle: "a: b" # said\ndraft: true\n---\nbody', { title: "a: b", draft: true }],
    ["CRLF", "---\r\ntitle: x\r\ndraft: true\r\n---\r\nbody\r\n", { title: "x", draft: true }],
    ["a BOM", "\uFEFF---\ndraft: true\n---\n", { draft: true }],
    ["a BOM with CRLF", "\uFEFF---\r\ndraft: true\r\n---", { draft: true }],
    ["no body and no last newline", "---\ndraft: true\n---", { draft: true }],
    ["spaces after the marks", "---  \ndraft: true\n---\t\n", { draft: true }],
    ["the other end of YAML", "---\ndraft: true\n...\nbody\n---\n", { draft: true }],
    ["Japanese", "---\ntitle: 締切の話\n公開: いいえ\n---\n本文", { title: "締切の話", 公開: "いいえ" }],
    ["dates stay text", "---\ndate: 2026-11-30 09:00\n---\n", { date: "2026-11-30 09:00" }],
    ["nested keys", "---\nextra:\n  status: ready\n---\n", { extra: { status: "ready" } }],
    [
      "TOML",
      '+++\ntitle = "x" # said\ndraft = true\n[extra]\nn = 1\n+++\nbody',
      { title: "x", draft: true, extra: { n: 1 } },
    ],
    ["TOML with CRLF", "+++\r\ndraft = true\r\n+++\r\n", { draft: true }],
    [
      "JSON as Hugo writes it",
      '{\n  "title": "a } \\" b",\n  "draft": true\n}\n\nbody {',
      { title: 'a } " b', draft: true },
    ],
    ["JSON between semicolons", ';;;\n"title": "x"\n;;;\nbody', { title: "x" }],
    [
      "JSON as Hexo writes it",
      '"title": "Hello",\n"date": "2013/7/13 20:46:25"\n;;;\nbody',
      { title: "Hello", date: "2013/7/13 20:46:25" },
    ],
    ["a shortcode at the start", "{{< figure >}}\n", {}],
    ["a quotation at the start", '"Never," she said.\n', {}],
  ])("%s", (_, text, fields) => {
    expect(readFrontMatter(text)).toEqual(fields);
  });

  test.each<[string, string, RegExp]>([
    ["YAML that is none", "---\na: b: c\n---\n", /^its front matter is not YAML: .+$/],
    ["a key twice", "---\na: 1\na: 2\n---\n", /not YAML: Map keys must be unique/],
    ["a list", "---\n- a\n---\n", /not a list of fields/],
    ["a text", "---\nhello\n---\n", /not a list of fields/],
    ["no end", "---\ndraft: true\n\nbody\n", /no closing line ---/],
    ["TOML that is none", "+++\ndraft = maybe\n+++\n", /^its front matter is not TOML: .+$/],
    ["JSON that is none", ";;;\nx\n;;;\n", /^its front matter is not JSON: .+$/],
    ["JSON without an end", '{"a": 1\n', /no closing brace/],
    ["an alias bomb", bomb(), /not YAML: Excessive alias count/],
  ])("%s is refused on one line", (_, text, why) => {
    expect(() => readFrontMatter(text)).toThrow(FrontMatterInvalid);
    expect(() => readFrontMatter(text)).toThrow(why);
    try {
      readFrontMatter(text);
    } catch (error) {
      expect((error as Error).message).not.toContain("\n");
    }
  });

  test("the body is never read: not its fields, not its faults, not its size", () => {
    const body = "---\ndraft: false\n---\n\u0000{{{".repeat(100_000);
    expect(readFrontMatter(`---\ndraft: true\n---\n${body}`)).toEqual({ draft: true });
    expect(() => readFrontMatter(`---\na: ${"x".repeat(longestFrontMatter)}\n---\n`)).toThrow(
      /no closing line/,
    );
  });

  test("fields cannot reach the prototype", () => {
    const fields = readFrontMatter("---\n__proto__:\n  draft: true\nconstructor: x\n---\n");
    expect(({} as { draft?: boolean }).draft).toBeUndefined();
    expect(fieldAt(fields, "draft")).toBeUndefined();
    expect(fieldAt({}, "constructor")).toBeUndefined();
    expect(fieldAt({}, "toString.name")).toBeUndefined();
  });
});

function bomb(): string {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let i = 1; i < 9; i++)
    lines.push(
      `a${i}: &a${i} [${Array(10)
        .fill(`*a${i - 1}`)
        .join(", ")}]`,
    );
  return `---\n${lines.join("\n")}\n---\n`;
}

test("fieldAt finds nested keys and keys with dots", () => {
  expect(fieldAt({ a: { b: 1 } }, "a.b")).toBe(1);
  expect(fieldAt({ "a.b": 2, a: { b: 1 } }, "a.b")).toBe(2);
  expect(fieldAt({ a: "text" }, "a.length")).toBeUndefined();
});
