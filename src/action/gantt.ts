// The last holders of a lease as a Mermaid chart.
import { describeClaim } from "../protocol/claim.js";
import { expiresAt, type SeenLease } from "../protocol/lease.js";
import type { Instant } from "../protocol/record.js";
import { type Ended, holdersKept } from "../protocol/tally.js";

interface Bar {
  token: number;
  who: string;
  how: string;
  tag: "done" | "crit" | "active";
  from: Instant;
  to: Instant;
}

/** Dates from here on have another shape; a plain git server keeps whatever its writers say. */
const year10000 = Date.UTC(10_000, 0);

/** A `gantt` in UTC, or null when there is nothing to draw. Bars that ended otherwise than by a release are marked. */
export function holdersChart(seen: SeenLease | null, now: Instant): string | null {
  if (seen === null) return null;
  const bars = [...(seen.record.recent ?? []).map(ended), ...present(seen, now)]
    .filter((bar) => bar.from >= 0 && bar.to < year10000)
    .slice(-holdersKept - 1);
  const [first, last] = [Math.min(...bars.map((bar) => bar.from)), Math.max(...bars.map((bar) => bar.to))];
  if (bars.length === 0) return null;
  return [
    "```mermaid",
    "gantt",
    "  title Last holders (UTC)",
    "  dateFormat YYYY-MM-DDTHH:mm:ss",
    `  axisFormat ${last - first > 86_400_000 ? "%d %b %H:%M" : "%H:%M"}`,
    ...bars.map((bar) => `  ${label(bar)} :${bar.tag}, ${iso(bar.from)}, ${iso(end(bar))}`),
    "```",
  ].join("\n");
}

function ended(holder: Ended): Bar {
  const { token, who, end: how } = holder;
  const tag = how === "released" ? "done" : "crit";
  return { token, who, how, tag, from: Date.parse(holder.from), to: Date.parse(holder.to) };
}

/** The holder in the record itself; after an unlock it is among the ended ones already. */
function present(seen: SeenLease, now: Instant): Bar[] {
  const { record, writtenAt } = seen;
  if (record.event === "unlocked") return [];
  const bar = { token: record.token, who: describeClaim(record.holder), from: Date.parse(record.since) };
  if (record.state === "released") return [{ ...bar, how: "released", tag: "done", to: writtenAt }];
  const expired = expiresAt(seen) <= now;
  return [
    expired
      ? { ...bar, how: "expired", tag: "crit", to: expiresAt(seen) }
      : { ...bar, how: "holds it", tag: "active", to: now },
  ];
}

/** Mermaid draws nothing, or complains, where a bar has no width. */
function end(bar: Bar): Instant {
  return Math.max(bar.to, bar.from + 1000);
}

/**
 * Only what has no meaning to Mermaid or to Markdown's fence is kept; quoting does not help in a chart's labels. It
 * begins with the token, so it is no keyword.
 */
function label({ token, who, how }: Bar): string {
  const name = who.replace(/[^\p{L}\p{N} ._/()-]+/gu, " ");
  const points = [...name.replace(/ +/g, " ").trim()];
  const short = points.length > 60 ? `${points.slice(0, 60).join("")}…` : points.join("");
  return `${token} ${short} ${how}`.replace(/ +/g, " ");
}

function iso(at: Instant): string {
  return new Date(at).toISOString().slice(0, 19);
}
