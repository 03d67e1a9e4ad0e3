// The job summary: what happened, who holds the lease, how the week went, and what to do when something is wrong.
import { describeClaim } from "../protocol/claim.js";
import { formatDuration } from "../protocol/duration.js";
import { expiresAt } from "../protocol/lease.js";
import type { Instant, Oid } from "../protocol/record.js";
import { draftFacts, type SlotsView, slotFacts } from "./draft-facts.js";
import { holdersChart } from "./gantt.js";
import { headline, type Story } from "./happening.js";
import { code, link, plain, table } from "./markdown.js";
import { branchLink, commitLink, leaseLink } from "./places.js";
import { type Counted, lastWeek, skipAlarm, weekAdvice, weekTable } from "./week.js";

export { metrics, skipAlarm } from "./week.js";

export interface SummaryView extends Story, Counted {
  /** The commit that this run made. */
  commit?: Oid | undefined;
  slots?: SlotsView | undefined;
  /** Skips in a row that are worth a warning; 5 if absent, 0 for never. */
  skipThreshold?: number | undefined;
}

export const defaultSkipThreshold = 5;

/** Markdown for `GITHUB_STEP_SUMMARY`; the same view gives the same text. Every part is bounded, far below 1 MiB. */
export function renderSummary(view: SummaryView): string {
  const parts = [
    view.lease === "" && view.draft ? `### Draft ${code(view.draft.path)}` : `### Lease ${code(view.lease)}`,
    headline(view),
    ...adviceList(view),
    facts(view),
    ...(view.lease === "" ? [] : history(view)),
  ];
  return `${parts.join("\n\n")}\n`;
}

function history(view: SummaryView): string[] {
  const chart = holdersChart(view.seen, view.now);
  return [
    "#### Last 7 days",
    weekTable(lastWeek(view)),
    ...(chart === null ? [] : ["#### Last holders", chart]),
  ];
}

function adviceList(view: SummaryView): string[] {
  const advice = [...skipAdvice(view), ...weekAdvice(lastWeek(view), view.seen?.record.ttl)];
  if (advice.length === 0) return [];
  return [["**What to do**", "", ...advice.map((sentence) => `- ${sentence}`)].join("\n")];
}

function skipAdvice({ happening, lease, seen, skipThreshold }: SummaryView): string[] {
  if (happening.outcome !== "skipped_overlap" || happening.why !== undefined) return [];
  const alarm = skipAlarm(happening.row ?? 0, skipThreshold ?? defaultSkipThreshold);
  if (alarm === null) return [];
  const holder = link("its run", seen?.record.holder.url);
  const unlock = `fencepost unlock ${shellWord(lease)} --token ${seen?.record.token ?? "TOKEN"} --reason "its runner was lost"`;
  return [
    `${alarm} Look at ${holder}: if it hangs, cancel it; the lease is then free within its TTL. If it is gone and something still renews the lease, ${code(unlock)} frees it, and whatever the old run pushes is refused.`,
  ];
}

/** A name as a POSIX shell takes it: what people copy must run as it reads. */
export function shellWord(text: string): string {
  return /^[\w./][\w./-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function facts(view: SummaryView): string {
  const { seen, run, branch, commit } = view;
  const rows: [string, string][] = [];
  if (view.lease !== "") rows.push(["Lease", leaseLink(view, view.lease)], ...holderFacts(view));
  rows.push(...draftFacts(view.draft, view, commit ?? branch), ...slotFacts(view.slots));
  if (seen === null && view.token !== undefined) rows.push(["Token", String(view.token)]);
  rows.push(["This run", link(plain(describeClaim(run)), run.url)]);
  if (branch !== undefined) rows.push(["Branch", branchLink(view, branch)]);
  if (commit !== undefined) rows.push(["Commit", commitLink(view, commit)]);
  return table(["", ""], rows);
}

function holderFacts({ seen, token, now }: SummaryView): [string, string][] {
  if (seen === null) return [];
  const { record } = seen;
  const own = token === undefined || token === record.token ? "" : ` (this run had ${token})`;
  const holder = link(plain(describeClaim(record.holder)), record.holder.url);
  const since = Date.parse(record.since);
  const end = expiresAt(seen);
  const rows: [string, string][] = [
    ["Token", `${record.token}${own}`],
    [record.state === "held" ? "Holder" : "Last holder", holder],
    ["Since", `${time(since)} (${formatDuration(now - since)} ago)`],
  ];
  if (record.unlock !== undefined)
    rows.push(["Unlocked", `by ${plain(record.unlock.by)}: ${plain(record.unlock.reason)}`]);
  else if (record.state === "released") rows.push(["Released", time(seen.writtenAt)]);
  else if (end > now) rows.push(["Expires", `${time(end)} (in ${formatDuration(end - now)})`]);
  else rows.push(["Expired", `${time(end)} (${formatDuration(now - end)} ago)`]);
  return rows;
}

function time(at: Instant): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime())
    ? "unknown"
    : `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
