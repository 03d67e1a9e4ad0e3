import { describe, expect, test } from "vitest";
import { conventions, custom, readDraft } from "../../../src/protocol/conventions/index.js";
import { TimezoneInvalid } from "../../../src/protocol/zone.js";

type Row = [why: string, path: string, text: string, expected: "no" | "now" | RegExp | string];

/** `no`: not pending. `now`: pending without a date. A time: pending and due then. A pattern: unreadable, and why. */
const table: Record<string, Row[]> = {
  folder: [
    ["any file", "drafts/a.txt", "just text", "now"],
    ["an empty file", "drafts/空.md", "", "now"],
    ["a date", "drafts/a.md", "---\ndate: 2026-12-01\n---\n", "2026-11-30T15:00:00Z"],
    ["a broken date", "drafts/a.md", "---\ndate: soon\n---\n", /the date "soon" cannot be read/],
    ["broken front matter", "drafts/a.md", "---\ndate: a: b\n---\n", /its front matter is not YAML/],
  ],
  jekyll: [
    ["a draft", "_drafts/a-post.md", "---\nlayout: post\ntitle: A\n---\n", "now"],
    ["a draft below a category", "blog/_drafts/a.md", "", "now"],
    ["a post", "_posts/2026-11-30-hello.md", "---\nlayout: post\n---\n", "no"],
    ["a folder of a similar name", "my_drafts/a.md", "", "no"],
    ["unpublished", "_posts/2026-12-01-hello.md", "---\npublished: false\n---\n", "2026-11-30T15:00:00Z"],
    ["unpublished in YAML 1.1", "_posts/x.md", "---\npublished: no\n---\n", "now"],
    ["published", "_posts/x.md", "---\npublished: true\n---\n", "no"],
    [
      "the date in front matter comes first",
      "_posts/2026-12-01-hello.md",
      "---\r\npublished: false\r\ndate:   2015-11-17 16:16:01 -0600\r\n---\r\n",
      "2015-11-17T22:16:01Z",
    ],
    [
      "neither yes nor no",
      "_posts/x.md",
      "---\npublished: later\n---\n",
      /published: .*later.* is neither true nor false/,
    ],
  ],
  hugo: [
    [
      "TOML",
      "content/posts/a.md",
      "+++\ntitle = 'Post 1'\ndraft = true\ndate = 2026-12-01T09:00:00+09:00\n+++\n",
      "2026-12-01T00:00:00Z",
    ],
    ["YAML", "content/a.md", "---\ndraft: true\n---\n", "now"],
    [
      "JSON",
      "content/a.md",
      '{\n "draft": true,\n "publishDate": "2026-12-01T09:00:00Z"\n}\nbody',
      "2026-12-01T09:00:00Z",
    ],
    [
      "publishDate before date",
      "content/a.md",
      "---\ndraft: true\ndate: 2020-01-01\npublishDate: 2026-12-01T09:00:00Z\n---\n",
      "2026-12-01T09:00:00Z",
    ],
    [
      "keys in any case",
      "content/a.md",
      "---\nDraft: true\npublishdate: 2026-12-01T09:00:00Z\n---\n",
      "2026-12-01T09:00:00Z",
    ],
    [
      "a local TOML date",
      "content/a.md",
      "+++\ndraft = true\ndate = 2026-12-01\n+++\n",
      "2026-11-30T15:00:00Z",
    ],
    [
      "a local TOML time",
      "content/a.md",
      "+++\ndraft = true\ndate = 2026-12-01T09:00:00\n+++\n",
      "2026-12-01T00:00:00Z",
    ],
    ["published", "content/a.md", "+++\ndraft = false\n+++\n", "no"],
    ["no word on it", "content/a.md", "+++\ntitle = 'x'\n+++\n", "no"],
    ["no front matter", "content/a.md", "# x", "no"],
    ["a number", "content/a.md", "---\ndraft: 1\n---\n", /draft: "1" is neither/],
  ],
  zola: [
    [
      "a draft",
      "content/a.md",
      '+++\ntitle = "締切"\ndate = 2026-12-01\ndraft = true\n[extra]\ndraft = false\n+++\n',
      "2026-11-30T15:00:00Z",
    ],
    ["a nested draft only", "content/a.md", "+++\n[extra]\ndraft = true\n+++\n", "no"],
    ["YAML", "content/a.md", "---\ndraft: true\n---\n", "now"],
  ],
  astro: [
    [
      "a draft",
      "src/content/blog/a.mdx",
      "---\ntitle: A\npubDate: 'Jul 08 2026'\ndraft: true\n---\n",
      "2026-07-07T15:00:00Z",
    ],
    [
      "a date in words that is none",
      "src/content/blog/a.md",
      "---\npubDate: Foo 08 2026\ndraft: true\n---\n",
      /the date "Foo 08 2026" cannot be read/,
    ],
    [
      "with a date",
      "src/content/blog/a.md",
      "---\npubDate: 2026-12-01\ndraft: true\n---\n",
      "2026-11-30T15:00:00Z",
    ],
    ["published, whatever its date", "src/content/blog/a.md", "---\npubDate: 'Jul 08 2026'\n---\n", "no"],
  ],
  docusaurus: [
    ["a draft", "blog/2026-12-01-a.mdx", "---\ndraft: true\n---\n", "2026-11-30T15:00:00Z"],
    ["in a folder", "blog/2026-12-01-a/index.mdx", "---\ndraft: true\n---\n", "2026-11-30T15:00:00Z"],
    ["in folders", "blog/2026/12/01/a.md", "---\ndraft: true\n---\n", "2026-11-30T15:00:00Z"],
    [
      "date in front matter first",
      "blog/2026-12-01-a.md",
      "---\ndraft: true\ndate: 2026-12-02T00:00:00Z\n---\n",
      "2026-12-02T00:00:00Z",
    ],
    ["a doc", "docs/intro.md", "---\ndraft: true\nsidebar_position: 1\n---\n", "now"],
    ["unlisted", "docs/intro.md", "---\nunlisted: true\n---\n", "no"],
  ],
  hexo: [
    ["a draft", "source/_drafts/hello.md", "title: Hello\n---\n", "now"],
    [
      "unpublished",
      "source/_posts/a.md",
      "---\npublished: false\ndate: 2013/7/13 20:46:25\n---\n",
      "2013-07-13T11:46:25Z",
    ],
    [
      "JSON",
      "source/_drafts/a.md",
      '"title": "Hello",\n"date": "2026/12/1 09:00:00"\n;;;\n',
      "2026-12-01T00:00:00Z",
    ],
    ["a post", "source/_posts/a.md", "---\ntitle: Hello\n---\n", "no"],
  ],
  zenn: [
    [
      "a draft",
      "articles/lease-to-fencing.md",
      '---\ntitle: "Zennの公開日時をミスった話" #ここに題\nemoji: "😇"\ntype: "tech"\ntopics: ["zenn", "zenncli"]\npublished: false #公開非公開の設定。\npublished_at: 2024-12-09 07:00 #公開日時の設定。\n---\n本文\n',
      "2024-12-08T22:00:00Z",
    ],
    ["published", "articles/a.md", "---\npublished: true\n---\n", "no"],
    ["waiting at Zenn", "articles/a.md", "---\npublished: true\npublished_at: 2050-06-12 09:03\n---\n", "no"],
    [
      "a date alone",
      "articles/a.md",
      "---\npublished: false\npublished_at: 2050-06-12\n---\n",
      "2050-06-11T15:00:00Z",
    ],
    ["no word on it", "articles/a.md", "---\ntitle: x\n---\n", /published: is missing/],
  ],
  qiita: [
    [
      "a draft",
      "public/newArticle001.md",
      "---\ntitle: newArticle001\ntags:\n  - ''\nprivate: false\nupdated_at: ''\nid: null\norganization_url_name: null\nslide: false\nignorePublish: true\n---\n# new article body\n",
      "now",
    ],
    ["posted, and its next edit held back", "public/a.md", "---\nid: 5a1b\nignorePublish: true\n---\n", "no"],
    ["for Qiita to post at the next push", "public/a.md", "---\nid: null\nignorePublish: false\n---\n", "no"],
    [
      "with a date",
      "public/a.md",
      "---\nid: ''\nignorePublish: true\npublish_at: 2026-12-01 09:00\n---\n",
      "2026-12-01T00:00:00Z",
    ],
  ],
  devto: [
    ["a draft", "posts/a.md", "---\ntitle: A\npublished: false\ntags: go, rust\n---\n", "now"],
    ["no word on it", "posts/a.md", "---\ntitle: A\n---\n", "now"],
    ["published", "posts/a.md", "---\ntitle: A\npublished: true\n---\n", "no"],
    ["no article", "posts/README.md", "# Posts\n", "no"],
    [
      "with a date",
      "posts/a.md",
      "---\npublished: false\npublished_at: 2026-12-01 09:00 +0000\n---\n",
      "2026-12-01T09:00:00Z",
    ],
  ],
};

test("every convention by name is tried here", () => {
  expect(Object.keys(table).sort()).toEqual([...conventions.keys()].sort());
});

describe.each(Object.entries(table))("%s", (name, rows) => {
  const convention = conventions.get(name);
  if (!convention) throw new Error(name);
  test.each(rows)("%s", (_, path, text, expected) => {
    const reading = readDraft(convention, { path, text }, "Asia/Tokyo");
    if (expected === "no") expect(reading).toEqual({ state: "not_pending" });
    else if (expected === "now") expect(reading).toEqual({ state: "pending", due: null });
    else if (typeof expected === "string")
      expect(reading).toEqual({ state: "pending", due: Date.parse(expected) });
    else expect(reading).toEqual({ state: "unreadable", reason: expect.stringMatching(expected) });
  });
});

describe("custom", () => {
  const ready = custom('status == "ready"', "plan.at");

  test("a predicate and the field of the due date", () => {
    const text = "---\nstatus: ready\nplan: { at: 2026-12-01T09:00:00Z }\n---\n";
    expect(readDraft(ready, { path: "a.md", text })).toEqual({
      state: "pending",
      due: Date.parse("2026-12-01T09:00:00Z"),
    });
    expect(readDraft(ready, { path: "a.md", text: "---\nstatus: idea\n---\n" })).toEqual({
      state: "not_pending",
    });
  });

  test("without a field of its own everything is due now", () => {
    const text = "---\nstatus: ready\ndate: broken\n---\n";
    expect(readDraft(custom("status"), { path: "a.md", text })).toEqual({ state: "pending", due: null });
  });
});

test("a zone that a tool fixes comes before the user's; others need the user's", () => {
  const text = "---\npublished: false\npublished_at: 2026-12-01 09:00\ndate: 2026-12-01 09:00\n---\n";
  const read = (name: string, timezone?: string) =>
    readDraft(
      conventions.get(name) as NonNullable<ReturnType<typeof conventions.get>>,
      { path: "a.md", text },
      timezone,
    );
  expect(read("zenn", "America/New_York")).toEqual({
    state: "pending",
    due: Date.parse("2026-12-01T00:00:00Z"),
  });
  expect(read("jekyll", "America/New_York")).toEqual({
    state: "pending",
    due: Date.parse("2026-12-01T14:00:00Z"),
  });
  expect(read("jekyll")).toEqual({
    state: "unreadable",
    reason: expect.stringContaining("names no time zone"),
  });
  expect(() => read("jekyll", "Mars/Base")).toThrow(TimezoneInvalid);
});
