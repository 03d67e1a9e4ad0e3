// Drafts as a table: each under its heading, dead letters first, the rest by heading.
import { describeStanding, nextTry } from "../draft/describe.js";
import type { Instant } from "../protocol/record.js";
import { type Heading, headings, type SweepPlan } from "../protocol/sweep.js";
import { onOut } from "./speak.js";

export interface DraftRow {
  draft: string;
  heading: Heading | "pending";
  why: string;
  attempts: number;
  /** When it will be tried next, ISO 8601, if that is known. */
  next: string | null;
}

export function draftRows(plan: Pick<SweepPlan, "report">, now: Instant): DraftRow[] {
  return plan.report.map(({ path, heading, standing }) => {
    const at = nextTry(standing);
    return {
      draft: path,
      heading,
      why: describeStanding(standing, now),
      attempts: "seen" in standing ? standing.seen.record.attempts : 0,
      next: at === null ? null : new Date(at).toISOString(),
    };
  });
}

/** What a person looks for first comes first. */
const order: readonly DraftRow["heading"][] = ["dead", "unreadable", "pending", ...headings];

export function draftTable(rows: readonly DraftRow[], counts: Partial<Record<string, number>>): string {
  if (rows.length === 0) return "No file matches.\n";
  const sorted = [...rows].sort((a, b) => order.indexOf(a.heading) - order.indexOf(b.heading));
  // A published file is of no interest to anybody who asks what is pending.
  const shown = sorted.filter(({ heading }) => heading !== "not_pending");
  const width = Math.max(0, ...shown.map(({ heading }) => heading.length));
  const lines = shown.map(({ draft, heading, why, attempts }) => {
    const tried = attempts > 0 ? ` (attempts: ${attempts})` : "";
    return `${onOut.bold(heading.padEnd(width))}  ${printable(draft)}  ${onOut.dim(`${why}${tried}`)}\n`;
  });
  const total = Object.values(counts).reduce<number>((sum, n) => sum + (n ?? 0), 0);
  const parts = Object.entries(counts).filter(([, n]) => n);
  return `${lines.join("")}${total} drafts: ${parts.map(([heading, n]) => `${n} ${heading}`).join(", ")}\n`;
}

/** A path as it is, unless it has something in it that would spoil the line. */
function printable(path: string): string {
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(path) ? JSON.stringify(path) : path;
}
