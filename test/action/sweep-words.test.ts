// The sweep's summary and its issues, on plans made by hand: escaping, order, bounds, and issues that came twice.
import { describe, expect, test } from "vitest";
import { alertByIssues } from "../../src/action/sweep-alerts.js";
import { additionOf, renderSweep, type SweepView } from "../../src/action/sweep-summary.js";
import type { Issue, Issues } from "../../src/github/issues.js";
import type { DraftRecord, SeenDraft } from "../../src/protocol/draft.js";
import { planSweep, type SweepDraft } from "../../src/protocol/sweep.js";

const now = Date.parse("2026-11-30T12:00:00Z");
const blob = "a".repeat(40);
const at = { serverUrl: "https://github.com", repository: "octo/blog" };

function draft(path: string, more: Partial<SweepDraft> = {}): SweepDraft {
  return { path, blob, reading: { state: "pending", due: null }, age: null, ...more };
}

function dead(path: string, more: Partial<DraftRecord> = {}): [string, SeenDraft] {
  const record: DraftRecord = {
    fencepost: 1,
    kind: "draft",
    name: path,
    event: "dead",
    state: "dead",
    token: 3,
    fingerprint: blob,
    attempts: 3,
    lost: 0,
    reason: "no words",
    previous: null,
    depth: 1,
    nonce: "nonce-of-mine",
    ...more,
  };
  return [path, { record, oid: "b".repeat(40), writtenAt: now }];
}

function view(drafts: SweepDraft[], records: [string, SeenDraft][] = [], maxStart = 1): SweepView {
  const request = {
    drafts,
    records: new Map(records),
    now,
    skew: 0,
    trigger: "event",
    maxStart,
    maxAttempts: 3,
  } as const;
  const plan = planSweep(request);
  const effects = { repaired: 0, pruned: 0, conflicts: 0, problems: [], tip: blob, now };
  const swept = { plan, started: plan.start, records: request.records, ...effects };
  const found = new Map(drafts.map((each) => [each.path, each]));
  return { swept, drafts: found, instead: new Map(), branch: "refs/heads/main", staleAfter: 1_200_000, at };
}

describe("the summary", () => {
  const due = (iso: string): SweepDraft["reading"] => ({ state: "pending", due: Date.parse(iso) });

  test("puts the oldest first below each heading", () => {
    const drafts = [
      draft("d.md", { age: 60_000 }),
      draft("c.md", { reading: due("2026-11-30T11:00:00Z") }),
      draft("b.md", { reading: due("2026-11-01T00:00:00Z"), age: 1000 }),
      draft("a.md"),
    ];
    const text = renderSweep(view(drafts, [], 0));
    expect([...text.matchAll(/^\| \[`(.)\.md`/gm)].map((match) => match[1]).join("")).toBe("abcd");
    expect(text).toMatch(/`d\.md`.*\| 1m \| 0 \|/);
    expect(text).toMatch(/`a\.md`.*\| over 20m \| 0 \|/);
  });

  test("obeys nothing that paths and reasons say", () => {
    const path = "posts/<img src=x>|`a`.md";
    const text = renderSweep(
      view([draft(path)], [dead(path, { reason: "x | y\n<b>@octo</b> [a](http://b)" })]),
    );
    expect(text).not.toMatch(/<img|<b>|@octo|\]\(http:\/\/b/);
    const cells = text.split("\n").filter((line) => line.startsWith("|"));
    for (const line of cells) expect(line.match(/\|/g)).toHaveLength(7);
  });

  test("with 10,000 drafts stays below 1 MiB, says how many rows were left out, and keeps the dead letters", () => {
    const drafts = Array.from({ length: 10_000 }, (_, i) => draft(`posts/${"x".repeat(60)}-${i}.md`));
    const last = drafts.at(-1)?.path ?? "";
    const big = view(drafts, [dead(last)]);
    const text = renderSweep(big);
    expect(Buffer.byteLength(text)).toBeLessThan(1_048_576);
    expect(text.indexOf(last)).toBeLessThan(2000);
    const rows = text.split("\n").filter((line) => line.startsWith("| [")).length;
    expect(Number(/\*\*(\d+) more rows are left out/.exec(text)?.[1])).toBe(10_000 - rows);
    expect(additionOf(big.swept)).toBe("10000 drafts: 1 dead + 1 started + 9998 over_cap = 10000");
    expect(renderSweep(view(drafts.slice(0, 100)))).not.toMatch(/left out/);
  });

  test("of nothing says so", () => {
    expect(renderSweep(view([]))).toContain("`0 drafts`");
  });
});

function fakeIssues(all: (Issue & { comments: string[] })[] = []) {
  let writes = 0;
  const find = (number: number) => all[number - 1] as Issue & { comments: string[] };
  const issues: Issues = {
    list: async (state) => all.filter(({ open }) => state === "all" || open).map((issue) => ({ ...issue })),
    async open(title, body) {
      writes++;
      return all.push({ number: all.length + 1, title, body, open: true, comments: [] });
    },
    async change(number, { body, state }) {
      writes++;
      Object.assign(
        find(number),
        body === undefined ? {} : { body },
        state ? { open: state === "open" } : {},
      );
    },
    async comment(number, body) {
      writes++;
      find(number).comments.push(body);
    },
  };
  return { issues, all, writes: () => writes };
}

describe("issues", () => {
  const alert = (issues: Issues, of: SweepView) => alertByIssues(issues, { ...of, matches: () => true });

  test("that two sweeps at once have opened: the older one stays", async () => {
    const { issues, all } = fakeIssues();
    const mine = view([draft("a.md")], [dead("a.md")]);
    await alert(issues, mine);
    const [first] = all;
    if (first) all.push({ ...first, number: 2, comments: [] });
    expect(await alert(issues, mine)).toEqual({ opened: [], closed: [2], left: 0 });
    expect(all.map(({ open }) => open)).toEqual([true, false]);
    expect(all[1]?.comments).toEqual(["The same as #1."]);
  });

  test("are written only when there is something new", async () => {
    const { issues, all, writes } = fakeIssues();
    await alert(issues, view([draft("a.md")], [dead("a.md")]));
    await alert(issues, view([draft("a.md")], [dead("a.md")]));
    expect(writes()).toBe(1);
    await alert(issues, view([draft("a.md")], [dead("a.md", { reason: "other words" })]));
    expect(writes()).toBe(2);
    expect(all[0]?.body).toContain("other words");
  });

  test("stay open for a draft that was edited into something nobody can read", async () => {
    const { issues, all } = fakeIssues();
    await alert(issues, view([draft("a.md")], [dead("a.md")]));
    const broken = draft("a.md", { blob: "c".repeat(40), reading: { state: "unreadable", reason: "no" } });
    await alert(issues, view([broken], [dead("a.md")]));
    expect(all[0]?.open).toBe(true);
    await alert(issues, view([draft("a.md", { blob: "d".repeat(40) })], [dead("a.md")]));
    expect(all[0]?.open).toBe(false);
  });

  test("are opened twenty at a time", async () => {
    const { issues, all } = fakeIssues();
    const paths = Array.from({ length: 25 }, (_, i) => `${i}.md`);
    const many = view(
      paths.map((path) => draft(path)),
      paths.map((path) => dead(path)),
    );
    expect((await alert(issues, many)).left).toBe(5);
    expect((await alert(issues, many)).left).toBe(0);
    expect(all).toHaveLength(25);
  });

  test("name a path of any length and any characters, and find it again", async () => {
    const { issues, all } = fakeIssues();
    const path = `${"記事/".repeat(150)}--> a\nb.md`;
    const mine = view([draft(path)], [dead(path)]);
    await alert(issues, mine);
    await alert(issues, mine);
    expect(all).toHaveLength(1);
    expect(all[0]?.title.length).toBeLessThanOrEqual(256);
    expect(all[0]?.body).not.toContain("--> a");
  });
});
