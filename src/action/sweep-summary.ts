// The sweep's job summary: one line, and every draft in a table under its heading, dead letters first.
import { describeStanding, nextTry } from "../draft/describe.js";
import type { Swept } from "../draft/sweep.js";
import { formatDuration } from "../protocol/duration.js";
import { type Instant, RecordInvalid } from "../protocol/record.js";
import type { Heading, SweepDraft, Swept as SweptDraft } from "../protocol/sweep.js";
import { code, link, plain, table } from "./markdown.js";
import { branchLink, fileLink, type Repository } from "./places.js";

export interface SweepView {
  swept: Swept;
  /** The drafts as they were found, by path. */
  drafts: ReadonlyMap<string, SweepDraft>;
  /** What is to be said of a draft instead of where it stands, by path. */
  instead: ReadonlyMap<string, string>;
  /** A full ref. */
  branch: string;
  /** Milliseconds. */
  staleAfter: number;
  at: Repository;
}

/** What a person looks for first comes first. */
const order: readonly [Heading, string][] = [
  ["dead", "attempts used up: edit the file, or use `fencepost redrive`"],
  ["unreadable", "the file or its record cannot be read"],
  ["started", "by this sweep"],
  ["over_cap", "could be started, and wait for a later sweep"],
  ["already_started", "by an earlier sweep, and not claimed yet"],
  ["held", "a run works on them"],
  ["backing_off", "failed, and wait for their next try"],
  ["too_young", "their own event may still be on the way"],
  ["not_due", "their time has not come"],
  ["published", "published with this content, though the file still says pending"],
  ["not_pending", "the file says that it is published"],
];

/** GitHub takes 1 MiB for a step. Room is left for the headings and the last line. Bytes. */
const mostBytes = 1_000_000;

/** `8 drafts: 3 started + 5 over_cap = 8`. */
export function additionOf({ plan }: Swept): string {
  const parts = order.flatMap(([heading]) =>
    plan.counts[heading] > 0 ? [`${plan.counts[heading]} ${heading}`] : [],
  );
  const sum = order.reduce((total, [heading]) => total + plan.counts[heading], 0);
  return `${plan.total} drafts${parts.length === 0 ? "" : `: ${parts.join(" + ")} = ${sum}`}`;
}

/** Markdown for `GITHUB_STEP_SUMMARY`; never longer than what GitHub takes. */
export function renderSweep(view: SweepView, most = mostBytes): string {
  const { swept, at, branch } = view;
  const parts = [
    `### Sweep of ${branchLink(at, branch)}`,
    `**${swept.started.length} started.** ${code(additionOf(swept))}`,
  ];
  let room = most - Buffer.byteLength(parts.join(""));
  let left = 0;
  for (const [heading, words] of order) {
    const found = swept.plan.report.filter((each) => each.heading === heading);
    if (found.length === 0) continue;
    const rows: string[][] = [];
    for (const each of found.sort(oldestFirst(view))) {
      const row = rowOf(each, view);
      // With what a table puts between cells.
      const bytes = Buffer.byteLength(row.join(" | ")) + 5;
      room = left > 0 || bytes > room ? 0 : room - bytes;
      if (room > 0) rows.push(row);
      else left++;
    }
    parts.push(`#### ${code(heading)} (${found.length}): ${words}`);
    if (rows.length > 0) parts.push(table(["Draft", "Age", "Attempts", "Next try", "Why", "Last run"], rows));
  }
  if (left > 0)
    parts.push(`**${left} more rows are left out**, since GitHub takes no more than 1 MiB of summary.`);
  return `${parts.join("\n\n")}\n`;
}

function rowOf(each: SweptDraft, view: SweepView): string[] {
  const { swept, drafts, instead, staleAfter, at, branch } = view;
  const { path, standing } = each;
  const draft = drafts.get(path);
  const record = recordOf(path, swept);
  const same = record !== null && record.record.fingerprint === draft?.blob;
  const age = draft?.age ?? null;
  const next = nextOf(each, view);
  const run = record?.record.run ?? record?.record.holder?.url;
  return [
    fileLink(at, path, branch),
    age !== null ? formatDuration(age) : staleAfter > 0 ? `over ${formatDuration(staleAfter)}` : "",
    same ? String(record.record.attempts) : "0",
    next === null ? "" : time(next),
    plain(instead.get(path) ?? describeStanding(standing, swept.now)),
    run === undefined ? "" : link("run", run),
  ];
}

function recordOf(path: string, { records }: Swept) {
  const seen = records.get(path);
  return seen === undefined || seen instanceof RecordInvalid ? null : seen;
}

function nextOf({ path, heading, standing }: SweptDraft, view: SweepView): Instant | null {
  const { swept, drafts, staleAfter } = view;
  if (heading === "too_young") return swept.now + staleAfter - (drafts.get(path)?.age ?? 0);
  if (heading === "already_started") return (recordOf(path, swept)?.writtenAt ?? swept.now) + staleAfter;
  return nextTry(standing);
}

/** As the sweep starts them: by due date, else by when it came; what came before anybody looked is the oldest. */
function oldestFirst({ swept, drafts }: SweepView): (a: SweptDraft, b: SweptDraft) => number {
  const born = (draft: SweepDraft | undefined) =>
    draft === undefined || draft.age === null ? Number.NEGATIVE_INFINITY : swept.now - draft.age;
  const key = (path: string) => {
    const draft = drafts.get(path);
    return (draft?.reading.state === "pending" ? draft.reading.due : null) ?? born(draft);
  };
  return (a, b) => {
    const [x, y] = [key(a.path), key(b.path)];
    return x < y ? -1 : x > y ? 1 : a.path < b.path ? -1 : 1;
  };
}

function time(at: Instant): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime())
    ? "unknown"
    : `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
