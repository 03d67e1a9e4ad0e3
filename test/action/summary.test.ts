// The job summary: what a person reads, that the numbers add up, and that nobody's text is obeyed.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longestText } from "../../src/action/markdown.js";
import { metrics, renderSummary, type SummaryView, skipAlarm } from "../../src/action/summary.js";
import type { Claim } from "../../src/protocol/claim.js";
import { charts } from "./mermaid.js";
import { commit, leaseOf, me, now, other, statsOf, view } from "./views.js";

function render(change: Partial<SummaryView> = {}): string {
  return renderSummary(view(change));
}

/** The second paragraph: the outcome and its sentence. */
function headline(change: Partial<SummaryView>): string {
  return render(change).split("\n\n")[1] ?? "";
}

const skipped = (row: number): Partial<SummaryView> => ({
  happening: { outcome: "skipped_overlap", row },
  seen: leaseOf(other),
  token: undefined,
  commit: undefined,
});

describe("a summary", () => {
  it("of a push", () => {
    expect(render()).toBe(`### Lease \`blog-main\`

✅ **pushed**: this run pushed [\`main\`](https://github.com/octo/blog/tree/main) to [\`c0ffee1234\`](https://github.com/octo/blog/commit/c0ffee1234000000000000000000000000000000) under token 42.

|  |  |
| --- | --- |
| Lease | [\`blog-main\`](https://github.com/octo/blog/commits/fencepost/lease/blog-main) |
| Token | 42 |
| Last holder | [octo/blog run 812345.1 (write)](https://github.com/octo/blog/actions/runs/812345/attempts/1) |
| Since | 2026-11-30 07:00:02 UTC (3m10s ago) |
| Released | 2026-11-30 07:03:11 UTC |
| This run | [octo/blog run 812345.1 (write)](https://github.com/octo/blog/actions/runs/812345/attempts/1) |
| Branch | [\`main\`](https://github.com/octo/blog/tree/main) |
| Commit | [\`c0ffee1234\`](https://github.com/octo/blog/commit/c0ffee1234000000000000000000000000000000) |

#### Last 7 days

| Day (UTC) | Acquired | Pushed | Skipped (overlap) | Takeovers | Late pushes refused |
| --- | --- | --- | --- | --- | --- |
| 2026-11-30 | 3 | 2 | 5 (63 %) | 1 expired | 0 |
| 2026-11-29 | 0 | 0 | 0 | 0 | 1 |
| 2026-11-28 | 4 | 3 | 0 | 2: 1 finished, 1 unlocked | 0 |
| 2026-11-27 | 0 | 0 | 0 | 0 | 0 |
| 2026-11-26 | 0 | 0 | 0 | 0 | 0 |
| 2026-11-25 | 0 | 0 | 0 | 0 | 0 |
| 2026-11-24 | 0 | 0 | 0 | 0 | 0 |
| **7 days** | **7** | **5** | **5 (42 %)** | **3: 1 expired, 1 finished, 1 unlocked** | **1** |

#### Last holders

\`\`\`mermaid
gantt
  title Last holders (UTC)
  dateFormat YYYY-MM-DDTHH:mm:ss
  axisFormat %H:%M
  40 octo/blog run 811900.1 (write) released :done, 2026-11-30T05:00:04, 2026-11-30T05:04:11
  41 octo/blog run 812100.1 (write) expired :crit, 2026-11-30T06:00:03, 2026-11-30T06:15:03
  42 octo/blog run 812345.1 (write) released :done, 2026-11-30T07:00:02, 2026-11-30T07:03:11
\`\`\`
`);
  });

  it("of the fifth skip in a row", () => {
    const [, line, advice, , facts] = render(skipped(5)).split(/\n\n(?!- )/);
    expect(line).toBe(
      "⏭️ **skipped\\_overlap**: this run did nothing, because [octo/blog run 812399.1 (write)](https://github.com/octo/blog/actions/runs/812399/attempts/1) holds the lease with token 42 (for 3m10s now). 5 runs in a row met this holder. Nothing failed and nothing is lost: the next run takes up the work.",
    );
    expect(advice).toBe(`**What to do**

- 5 runs in a row were skipped because the same holder has the lease. Look at [its run](https://github.com/octo/blog/actions/runs/812399/attempts/1): if it hangs, cancel it; the lease is then free within its TTL. If it is gone and something still renews the lease, \`fencepost unlock blog-main --token 42 --reason "its runner was lost"\` frees it, and whatever the old run pushes is refused.`);
    expect(facts).toBe("#### Last 7 days");
    expect(render(skipped(5))).toContain("| Expires | 2026-11-30 07:18:11 UTC (in 14m59s) |");
  });

  it("of a lease without a record", () => {
    expect(
      render({
        seen: null,
        stats: null,
        happening: { outcome: "failed" },
        branch: undefined,
        commit: undefined,
      }),
    ).toMatch(
      /^### Lease `blog-main`\n\n❌ \*\*failed\*\*: [^\n]+\n\n\| {2}\| {2}\|\n\| --- \| --- \|\n.*\n\| Token \| 42 \|/,
    );
  });

  const taken = { seen: leaseOf(other), token: 41 };
  const kept = { kept: "ref", ref: "refs/heads/fencepost/rescue/blog-main/41", commit } as const;
  const mine = leaseOf(me);
  it.each<[string, Partial<SummaryView>]>([
    [
      "✅ **acquired**: this run held the lease under token 42. It had nothing to push.",
      { happening: { outcome: "acquired" } },
    ],
    [
      "✅ **unchanged**: `main` already has everything that this run made, so nothing was pushed.",
      { happening: { outcome: "unchanged" } },
    ],
    [
      "⏭️ **skipped\\_overlap**: this run did nothing, because another run held the lease. Nothing failed and nothing is lost: the next run takes up the work.",
      { happening: { outcome: "skipped_overlap", row: 1 }, seen: null },
    ],
    [
      "⚠️ **moved**: `main` has moved on and this run's commits do not follow it (conflict in a.md). Nothing was pushed. Its commits are kept on `fencepost/rescue/blog-main/41` (`c0ffee1234`).",
      { happening: { outcome: "moved", why: "conflict in a.md.", rescue: kept } },
    ],
    [
      "🛑 **superseded**: another run took the lease over (octo/blog run 812399.1 (write) has token 42, this run had 41), so the late push was refused and `main` is untouched by this run. Its commits (`c0ffee1234`) are kept in a bundle on the runner, `/tmp/rescue.bundle`; `git fetch <bundle> refs/heads/rescued` gets them.",
      {
        ...taken,
        happening: { outcome: "superseded", rescue: { kept: "bundle", file: "/tmp/rescue.bundle", commit } },
      },
    ],
    [
      "🛑 **superseded**: another run took the lease over (a person unlocked token 41), so the late push was refused and the branch is untouched by this run.",
      {
        seen: leaseOf(me, { event: "unlocked", state: "released", unlock: { by: "mona", reason: "stuck" } }),
        token: 41,
        branch: undefined,
        happening: { outcome: "superseded" },
      },
    ],
    [
      "🛑 **refused**: the server did not take the push to `main` (GH006). Nothing was pushed, and trying again will not help until that is changed. Its commits could be kept nowhere else (disk full): they are only in the runner's clone, as `c0ffee1234`.",
      {
        happening: { outcome: "refused", why: "GH006", rescue: { kept: "clone", commit, why: "disk full" } },
      },
    ],
    [
      "🛑 **lost**: this run could not renew its lease in time and stopped calling itself the holder. Nothing was pushed.",
      { happening: { outcome: "lost" } },
    ],
    [
      "❌ **failed**: the job failed, so nothing was pushed. The lease is free again.",
      { happening: { outcome: "failed" } },
    ],
    [
      "⏹️ **cancelled**: the job was cancelled, so nothing was pushed. The lease frees itself in 14m59s.",
      { happening: { outcome: "cancelled" }, seen: mine },
    ],
    [
      "⏹️ **cancelled**: the job was cancelled, so nothing was pushed.",
      { ...taken, happening: { outcome: "cancelled" } },
    ],
    [
      "❌ **failed**: the job failed, so nothing was pushed.",
      { happening: { outcome: "failed" }, seen: leaseOf(other, { state: "released" }), token: 41 },
    ],
    [
      "🛑 **superseded**: another run took the lease over, so the late push was refused and `main` is untouched by this run.",
      { happening: { outcome: "superseded" } },
    ],
    [
      "✅ **pushed**: this run pushed `main` to `c0ffee1234`, `v1` at `c0ffee1234` under token 42.",
      { happening: { outcome: "pushed", published: { "refs/heads/main": commit, "refs/tags/v1": commit } } },
    ],
  ])("says in one line: %s", (sentence, change) => {
    const line = headline({ ...change, serverUrl: undefined });
    expect(line.replace(/\[([^\]]+)\]\(https:[^)]+\)/g, "$1")).toBe(sentence);
  });

  it("says when the lease expired, and who unlocked it", () => {
    expect(render({ seen: leaseOf(other, {}, now - 1_000_000) })).toContain(
      "| Expired | 2026-11-30 07:01:32 UTC (1m40s ago) |",
    );
    const unlock = { by: "mo|na", reason: "stuck" };
    const seen = leaseOf(other, { event: "unlocked", state: "released", unlock });
    expect(render({ seen })).toContain("| Unlocked | by mo&#124;na: stuck |");
  });

  it("says under which token this run held, when that is no longer the lease's", () => {
    expect(render(taken)).toContain("| Token | 42 (this run had 41) |");
  });

  it("links to a branch of any name, and not to a commit that is none", () => {
    expect(render({ branch: "refs/heads/feat/ü#1" })).toContain(
      "(https://github.com/octo/blog/tree/feat/%C3%BC%231)",
    );
    expect(render({ commit: "main" })).toContain("| Commit | `main` |");
  });

  it("has no links into a repository without both its server and its name, or with a name that is none", () => {
    for (const change of [
      { serverUrl: undefined },
      { repository: undefined },
      { repository: "octo/blog/../x" },
    ])
      expect(render(change)).not.toMatch(/\/(tree|commit|commits)\//);
  });
});

describe("advice", () => {
  it("for skips comes at the threshold, and not before", () => {
    expect([0, 1, 4].map((row) => skipAlarm(row, 5))).toEqual([null, null, null]);
    expect(skipAlarm(5, 5)).toBe("5 runs in a row were skipped because the same holder has the lease.");
    expect(skipAlarm(1, 1)).toBe("A run was skipped because the lease was held.");
    expect(skipAlarm(100, 0)).toBeNull();
    expect(render(skipped(4))).not.toContain("What to do");
    expect(render({ ...skipped(2), skipThreshold: 2 })).toContain("What to do");
    expect(render({ ...skipped(9), skipThreshold: 0 })).not.toContain("What to do");
  });

  it("quotes a lease's name for the shell", () => {
    const text = render({ ...skipped(5), lease: "it's $(me)" });
    expect(text).toContain("fencepost unlock 'it'&#92;''s &#36;(me)' --token 42");
  });

  it("to raise the TTL comes with the second expiry of the week", () => {
    const expired = (many: number) =>
      render({ seen: leaseOf(me, { days: { "2026-11-30": { expired: many } } }) });
    expect(expired(1)).not.toContain("What to do");
    expect(expired(2)).toContain(
      "- 2 holders of the last 7 days let the lease expire. Their runners died, or slept or hung longer than the TTL of 15m. If their runs were alive, raise `ttl`.",
    );
  });

  it("to run less often comes when half of eight runs were skipped", () => {
    const week = (acquired: number, skips: number) =>
      render({
        seen: leaseOf(me, { days: { "2026-11-30": { acquired } } }),
        stats: statsOf({ days: { "2026-11-30": { skipped_overlap: skips } } }),
      });
    expect(week(4, 4)).toContain("4 of 8 runs of the last 7 days were skipped.");
    expect(week(5, 4)).not.toContain("What to do");
    expect(week(3, 4)).not.toContain("What to do");
  });
});

describe("the numbers", () => {
  it("have flat names, and count the last seven days only", () => {
    expect(metrics(view())).toEqual({
      "scheduled.skipped_overlap": 5,
      "lease.acquired": 7,
      "lease.takeover.expired": 1,
      "lease.takeover.finished": 1,
      "lease.takeover.retried": 0,
      "lease.takeover.unlocked": 1,
      "push.pushed": 5,
      "push.superseded": 1,
    });
    expect(metrics({ now, seen: null, stats: null })).toMatchObject({
      "lease.acquired": 0,
      "push.superseded": 0,
    });
  });

  const count = fc.nat(50);
  const lease = fc.record({
    acquired: count,
    pushed: count,
    expired: count,
    finished: count,
    retried: count,
    unlocked: count,
  });
  const stats = fc.record({ skipped_overlap: count, superseded: count });
  const day = (i: number) => new Date(now - i * 86_400_000).toISOString().slice(0, 10);
  const byDay = <T>(all: T[]) => Object.fromEntries(all.map((counts, i) => [day(i), counts]));

  it("add up: every column to its total, and the totals to the metrics", () => {
    fc.assert(
      fc.property(fc.array(lease, { maxLength: 9 }), fc.array(stats, { maxLength: 9 }), (leases, skips) => {
        const shown = view({
          seen: leaseOf(me, { days: byDay(leases) }),
          stats: statsOf({ days: byDay(skips) }),
        });
        const rows = renderSummary(shown)
          .split("\n")
          .filter((line) => /^\| (\*\*7 days|\d{4}-)/.test(line))
          .map((line) => line.replaceAll("**", "").split("|").slice(2, -1));
        const sums = rows.map((cells) => cells.map((cell) => Number.parseInt(cell, 10)));
        expect(rows).toHaveLength(8);
        const total = sums.pop();
        expect(total).toEqual(
          [0, 1, 2, 3, 4].map((i) => sums.reduce((sum, cells) => sum + (cells[i] ?? 0), 0)),
        );
        for (const [, , , taken = ""] of rows) {
          const reasons = [...taken.matchAll(/(\d+) [a-z]/g)].reduce(
            (sum, [, many]) => sum + Number(many),
            0,
          );
          expect(Number.parseInt(taken, 10)).toBe(reasons);
        }
        const m = metrics(shown);
        const takeovers = Object.keys(m).filter((key) => key.startsWith("lease.takeover."));
        expect(total).toEqual([
          m["lease.acquired"],
          m["push.pushed"],
          m["scheduled.skipped_overlap"],
          takeovers.reduce((sum, key) => sum + (m[key] ?? 0), 0),
          m["push.superseded"],
        ]);
        const [acquired = 0, , skipped = 0] = total ?? [];
        const share = rows.at(-1)?.[2]?.match(/\((\d+) %\)/)?.[1];
        expect(share).toBe(
          skipped === 0 ? undefined : String(Math.round((100 * skipped) / (acquired + skipped))),
        );
      }),
    );
  });
});

describe("the chart of holders", () => {
  it("marks who ended otherwise than by a release, and who holds", () => {
    const [tasks = []] = charts(render({ seen: leaseOf(other) }));
    expect(tasks.map(({ tag }) => tag)).toEqual(["done", "crit", "active"]);
    const [late = []] = charts(render({ seen: leaseOf(other, {}, now - 1_000_000) }));
    expect(late.at(-1)).toMatchObject({ tag: "crit", to: "2026-11-30T07:01:32" });
  });

  it("has the unlocked holder once", () => {
    const [tasks = []] = charts(
      render({ seen: leaseOf(other, { event: "unlocked", state: "released", token: 43 }) }),
    );
    expect(tasks.map(({ label }) => label.slice(0, 2))).toEqual(["40", "41"]);
  });

  it("gives a second to whoever had none", () => {
    const at = "2026-11-30T07:00:02.000Z";
    const recent = [{ token: 1, who: "x", from: at, to: at, end: "released" as const }];
    const [tasks = []] = charts(render({ seen: leaseOf(me, { recent }) }));
    expect(tasks[0]).toMatchObject({ from: "2026-11-30T07:00:02", to: "2026-11-30T07:00:03" });
  });

  it("shows days where it spans more than one", () => {
    const recent = [
      {
        token: 1,
        who: "x",
        from: "2026-11-20T07:00:02Z",
        to: "2026-11-20T07:00:09Z",
        end: "released" as const,
      },
    ];
    expect(render({ seen: leaseOf(me, { recent }) })).toContain("axisFormat %d %b %H:%M\n");
    expect(render()).toContain("axisFormat %H:%M\n");
  });

  it("leaves out a bar with a date that makes no sense", () => {
    for (const writtenAt of [Number.NaN, 8.64e15, Date.UTC(10_000, 0)]) {
      const seen = { ...leaseOf(me, { state: "released", event: "released" }), writtenAt };
      expect(charts(render({ seen }))[0]).toHaveLength(2);
    }
    // An offset without minutes is ISO 8601, and no date to JavaScript.
    const since = "2026-11-30T07:00:02+00";
    expect(charts(render({ seen: leaseOf(me, { since }) }))[0]).toHaveLength(2);
  });

  it("is left out where there is nothing to draw", () => {
    expect(charts(render({ seen: null }))).toEqual([]);
    const unlocked = leaseOf(me, { event: "unlocked", state: "released", recent: [] });
    expect(charts(render({ seen: unlocked }))).toEqual([]);
  });

  it("cuts a long name", () => {
    const [tasks = []] = charts(render({ seen: leaseOf({ ...other, job: "j".repeat(300) }) }));
    expect(tasks.at(-1)?.label).toMatch(/^42 octo\/blog run 812399\.1 \(j+… holds it$/);
    expect(tasks.at(-1)?.label.length).toBeLessThan(80);
  });
});

describe("nobody's text is obeyed", () => {
  const pieces = [
    ..."|`<>&\\*_~[]()#@$!:;%{}\"'",
    ...[
      "\n",
      "\r\n",
      "\u2028",
      "\u202e",
      "\0",
      "```",
      "%%{init}%%",
      "<img src=x onerror=y>",
      "</code>",
      "<!--",
    ],
    ...[
      "[x](https://evil.example)",
      "https://evil.example",
      "www.evil.example",
      ":smile:",
      "section a",
      "a",
      "é",
      "😀",
      "\ud800",
      " ",
    ],
  ];
  const evil = fc
    .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 })
    .map((all) => `n${all.join("")}`);

  function filled(text: string, url: string): SummaryView {
    const by: Claim = { ...other, repository: text, job: text, leg: text, workflow: text, url };
    const recent = [
      {
        token: 7,
        who: text,
        url,
        from: "2026-11-30T07:00:02Z",
        to: "2026-11-30T07:00:02Z",
        end: "expired" as const,
      },
    ];
    const unlock = { by: text, reason: text };
    return view({
      happening: { outcome: "refused", why: text, rescue: { kept: "bundle", file: text, commit: text } },
      lease: text,
      run: by,
      seen: leaseOf(by, { recent, unlock, state: "released" }),
      branch: `refs/heads/${text}`,
      commit: text,
      prefix: text,
    });
  }

  /** What is left of a summary without its own links, code spans and chart. */
  function bare(text: string): string {
    return text
      .replace(/```mermaid[\s\S]*?\n```/g, "")
      .replace(/\]\(https:\/\/[\w./:?=&%#~+,;@-]+\)/g, "]")
      .replace(/`[^`\n]+`/g, "")
      .replace(/<code>([^<]*)<\/code>/g, "$1");
  }

  it("whatever it contains: no cell, line, markup, link or chart of its own", () => {
    const address = evil.map((text) => `https://example.com/${text}`);
    const shape = (text: string) => text.split("\n").map((line) => line.replace(/[^|]/g, "").length);
    const plainShape = shape(renderSummary(filled("name", "https://example.com/")));
    fc.assert(
      fc.property(evil, address, (text, url) => {
        const shown = renderSummary(filled(text, url));
        expect(shape(shown)).toEqual(plainShape);
        expect(() => charts(shown)).not.toThrow();
        const rest = bare(shown);
        expect(rest).not.toMatch(/[<>`\\~@$\u2028\u202e\0]|:\/\/|www\.|\]\(|:smile/);
        expect(rest.replace(/\*\*/g, "")).not.toMatch(/[*_]/);
        expect(shown.isWellFormed()).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("as an address that is none of the web, or that carries a password", () => {
    const run = (url: string) =>
      render({ run: { ...me, url } })
        .split("\n")
        .find((line) => line.startsWith("| This run"));
    for (const url of [
      "javascript:alert(1)",
      "https://",
      "https://u:p@example.com/",
      `https://x.y/${"z".repeat(2000)}`,
    ])
      expect(run(url)).toBe("| This run | octo/blog run 812345.1 (write) |");
    expect(run("https://x.y/a)(b|c`d\n")).toBe(
      "| This run | [octo/blog run 812345.1 (write)](https://x.y/a%29%28b%7Cc%60d) |",
    );
  });

  it("however long it is: it is cut, says so, and the summary stays far below 1 MiB", () => {
    const long = "x".repeat(3_000_000);
    const published = Object.fromEntries(
      Array.from({ length: 5000 }, (_, i) => [`refs/heads/${i}${"b".repeat(5000)}`, commit]),
    );
    for (const happening of [
      { outcome: "refused", why: long } as const,
      { outcome: "pushed", published } as const,
    ]) {
      const shown = render({
        happening,
        lease: long,
        branch: `refs/heads/${long}`,
        commit: long,
        prefix: "p".repeat(1_000_000),
      });
      expect(new TextEncoder().encode(shown).length).toBeLessThan(64 * 1024);
      expect(shown).toContain("… (cut)");
    }
    expect(headline({ happening: { outcome: "pushed", published } })).toContain(", 4990 more refs under");
    expect(headline({ happening: { outcome: "lost", why: "😀".repeat(longestText) } })).not.toContain("cut");
  });
});
