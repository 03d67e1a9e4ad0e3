// The job summary: what happened, who holds the lease, the last week, and the last holders.
import { describeRescue } from "../gate/rescue.js";
import { leaseState } from "../lease/describe.js";
import { describeClaim } from "../protocol/claim.js";
import { formatDuration } from "../protocol/duration.js";
import { expiresAt, type LeaseRecord } from "../protocol/lease.js";
import { type Recent, sumDays } from "../protocol/tally.js";
import type { SummaryOutcome, SummaryView } from "./view.js";

/** GitHub drops a summary of a step that is larger (actions/runner, FileCommandManager.cs). In bytes. */
const largest = 1024 * 1024;

const signs: Record<SummaryOutcome, string> = {
  acquired: "✅",
  pushed: "✅",
  unchanged: "✅",
  skipped_overlap: "⏭️",
  moved: "❌",
  superseded: "❌",
  refused: "❌",
  unavailable: "❌",
  lost: "❌",
  failed: "⚠️",
  cancelled: "⚠️",
};

export function renderSummary(view: SummaryView): string {
  const parts = [
    `### ${signs[view.outcome]} Fencepost: ${view.outcome}`,
    plain(view.text.slice(0, 4000)),
    table(view),
    week(view),
    advice(view),
    timeline(view),
  ];
  const text = parts.filter((part) => part !== "").join("\n\n");
  // Every part is bounded, so this is for what nobody foresaw.
  return Buffer.byteLength(text) < largest - 1024
    ? text
    : `${parts.slice(0, 2).join("\n\n").slice(0, 8000)}\n`;
}

function table(view: SummaryView): string {
  const { record } = view.lease;
  const state = leaseState(view.lease, view.now);
  const url = record.holder.url;
  const holder = link(describeClaim(record.holder), url);
  const expires =
    state === "held"
      ? `${time(expiresAt(view.lease))} (in ${formatDuration(expiresAt(view.lease) - view.now)})`
      : state;
  const rows: [string, string][] = [
    ["Lease", code(record.name)],
    ["Token", String(record.token)],
    [state === "held" ? "Holder" : "Last holder", holder],
    ["Since", time(Date.parse(record.since))],
    ["Expires", expires],
  ];
  if (view.branch && view.commit)
    rows.push([
      "Published",
      `${link(view.commit.slice(0, 10), commitUrl(view))} on ${code(view.branch.replace(/^refs\/heads\//, ""))}`,
    ]);
  if (view.rescue) rows.push(["Commits kept", rescueCell(view)]);
  if (view.runUrl) rows.push(["This run", link("open", view.runUrl)]);
  return ["| | |", "|---|---|", ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join("\n");
}

function rescueCell(view: SummaryView): string {
  const { rescue, repositoryUrl } = view;
  if (!rescue) return "";
  if (rescue.kept !== "ref") return plain(describeRescue(rescue));
  const name = rescue.ref.replace("refs/heads/", "");
  return link(
    name,
    repositoryUrl ? `${repositoryUrl}/tree/${name.split("/").map(encodeURIComponent).join("/")}` : undefined,
  );
}

function commitUrl({ repositoryUrl, commit }: SummaryView): string | undefined {
  return repositoryUrl && commit && /^[0-9a-f]{40,64}$/.test(commit)
    ? `${repositoryUrl}/commit/${commit}`
    : undefined;
}

/** The counters of the last seven days, by the names that metrics have. */
export function metrics(view: Pick<SummaryView, "lease" | "stats" | "now">): Record<string, number> {
  const { acquired, pushed, expired, finished, retried, unlocked } = sumDays(
    view.lease.record.days,
    view.now,
    7,
    ["acquired", "pushed", "expired", "finished", "retried", "unlocked"],
  );
  const { skipped_overlap, superseded } = sumDays(view.stats?.days, view.now, 7, [
    "skipped_overlap",
    "superseded",
  ]);
  return {
    "scheduled.skipped_overlap": skipped_overlap,
    "lease.acquired": acquired,
    "lease.takeover.expired": expired,
    "lease.takeover.finished": finished,
    "lease.takeover.retried": retried,
    "lease.unlocked": unlocked,
    "push.pushed": pushed,
    "push.superseded": superseded,
  };
}

function week(view: SummaryView): string {
  const m = metrics(view);
  const n = (name: string) => m[name] ?? 0;
  const skipped = n("scheduled.skipped_overlap");
  const due = n("lease.acquired") + skipped;
  const share = due === 0 ? "" : ` (${Math.round((skipped / due) * 100)} %)`;
  const takeovers = [
    [n("lease.takeover.expired"), "expired"],
    [n("lease.takeover.finished"), "holder had finished"],
    [n("lease.takeover.retried"), "earlier attempt"],
    [n("lease.unlocked"), "unlocked by hand"],
  ] as const;
  const reasons = takeovers.filter(([count]) => count > 0).map(([count, reason]) => `${count} ${reason}`);
  // Without the counters' record nothing is known of skips; zero would be a guess.
  const counted = view.stats !== null;
  return [
    "| Last 7 days | |",
    "|---|---|",
    `| Runs under the lease | ${n("lease.acquired")} |`,
    `| Pushes | ${n("push.pushed")} |`,
    ...(counted ? [`| skipped_overlap | ${skipped}${share} |`] : []),
    `| Takeovers | ${reasons.length === 0 ? "0" : reasons.join(", ")} |`,
    ...(counted ? [`| Late pushes refused | ${n("push.superseded")} |`] : []),
  ].join("\n");
}

function advice(view: SummaryView): string {
  const m = metrics(view);
  const notes: string[] = [];
  if ((m["lease.takeover.expired"] ?? 0) >= 3)
    notes.push(
      "Leases expired while their runs still worked, or their machines were lost. Raise the `ttl`, or look at the runs in the timeline.",
    );
  if (view.outcome === "superseded" || view.outcome === "lost")
    notes.push(
      "The branch was not touched. The commits above can be merged by hand, or the next run makes them again.",
    );
  return notes.map((note) => `> ${note}`).join("\n>\n");
}

/** A sentence when many runs in a row were skipped, else null. */
export function skipAlarm(lease: string, row: number, threshold: number): string | null {
  if (row < threshold) return null;
  return `${row} runs in a row were skipped, because one run holds ${JSON.stringify(lease)}. If it hangs, cancel it; if its work takes so long, run less often or split it; \`fencepost unlock\` frees the lease by hand.`;
}

function timeline(view: SummaryView): string {
  const { record } = view.lease;
  const holders: Recent = [...(record.recent ?? [])];
  const seen = leaseState(view.lease, view.now);
  if (!holders.some((holder) => holder.token === record.token))
    holders.push(current(record, view, seen === "released"));
  const bars = holders.slice(-8).map((holder) => {
    const from = Date.parse(holder.from);
    // A bar of no width is not drawn.
    const to = Math.max(Date.parse(holder.to), from + 1000);
    const mark =
      holder.end === "expired" || holder.end === "unlocked"
        ? "crit, "
        : holder.end === "released"
          ? "done, "
          : "active, ";
    return `    ${task(`#${holder.token} ${holder.who}`)} :${mark}${stamp(from)}, ${stamp(to)}`;
  });
  return [
    "```mermaid",
    "gantt",
    "    title The last holders (UTC)",
    "    dateFormat YYYY-MM-DDTHH:mm:ss",
    "    axisFormat %d %b %H:%M",
    ...bars,
    "```",
  ].join("\n");
}

function current(record: LeaseRecord, view: SummaryView, released: boolean): Recent[number] {
  const to = new Date(released ? view.lease.writtenAt : view.now).toISOString();
  // Still working: any end but "released" draws it as active.
  return {
    token: record.token,
    who: describeClaim(record.holder),
    from: record.since,
    to,
    end: released ? "released" : "retried",
  };
}

/** Mermaid reads `:`, `;`, `#` and `,` in a task's name, so they are replaced. */
function task(name: string): string {
  return (
    name
      .replace(/[^\p{L}\p{N} ()./_-]/gu, " ")
      .replace(/\s+/g, " ")
      .trim()
      .slice(0, 80) || "holder"
  );
}

function stamp(at: number): string {
  return new Date(at).toISOString().slice(0, 19);
}

function time(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

function code(text: string): string {
  return `<code>${plain(text)}</code>`;
}

function link(text: string, url: string | undefined): string {
  return url && /^https?:\/\/[^\s()<>|]+$/.test(url) ? `[${plain(text)}](${url})` : plain(text);
}

/** Text from users is neither Markdown, nor HTML, nor the end of a table's cell. */
function plain(text: string): string {
  return text
    .replace(/[\u0000-\u001f\u007f]+/g, " ")
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/[\\`*_[\]|~#!@]/g, (c) => `&#${c.charCodeAt(0)};`);
}
