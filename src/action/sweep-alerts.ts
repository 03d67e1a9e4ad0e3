// Dead letters as issues: one for each draft, kept up to date, closed when the draft lives again.
import type { Swept } from "../draft/sweep.js";
import type { Issue, Issues } from "../github/issues.js";
import { draftRecordName } from "../protocol/draft.js";
import { type DeadLetter, repairDraft, type Swept as SweptDraft } from "../protocol/sweep.js";
import { code, link, plain } from "./markdown.js";
import { fileLink, type Repository } from "./places.js";
import { shellWord } from "./summary.js";

export interface AlertView {
  swept: Swept;
  /** Whether a path is one of this sweep's; issues about others are not touched. */
  matches: (path: string) => boolean;
  at: Repository;
  /** A full ref. */
  branch: string;
}

export interface Alerted {
  opened: number[];
  closed: number[];
  /** Dead letters that wait for the next sweep, since this one opened enough. */
  left: number;
}

/** GitHub slows down who opens more in a minute. */
const mostOpened = 20;

/** @throws IssuesUnavailable */
export async function alertByIssues(issues: Issues, view: AlertView): Promise<Alerted> {
  const { swept, matches } = view;
  const { deadLetters } = swept.plan;
  const known = new Map<string, Issue[]>();
  for (const issue of await issues.list(deadLetters.length > 0 ? "all" : "open")) {
    const name = nameIn(issue.body);
    if (name !== null) known.set(name, [...(known.get(name) ?? []), issue]);
  }
  const alerted: Alerted = { opened: [], closed: [], left: 0 };
  for (const dead of deadLetters) {
    const name = nameOf(dead.path);
    const [first, ...more] = known.get(name) ?? [];
    known.delete(name);
    if (first === undefined) {
      if (alerted.opened.length < mostOpened)
        alerted.opened.push(await issues.open(titleOf(dead.path), bodyOf(dead, view)));
      else alerted.left++;
      continue;
    }
    await refresh(issues, first, dead, view);
    // Two sweeps at once may both have opened one.
    for (const twin of more)
      if (twin.open) await close(issues, twin, `The same as #${first.number}.`, alerted);
  }
  const report = new Map(swept.plan.report.map((each) => [nameOf(each.path), each]));
  for (const [name, found] of known)
    for (const issue of found) {
      const why = issue.open ? whyAlive(report.get(name), issue, name, matches) : null;
      if (why !== null) await close(issues, issue, why, alerted);
    }
  return alerted;
}

/** One that a person closed stays closed, until the draft has died again. */
async function refresh(issues: Issues, issue: Issue, dead: DeadLetter, view: AlertView): Promise<void> {
  const body = bodyOf(dead, view);
  const again = tokenIn(issue.body) !== dead.seen.record.token;
  const same = issue.body.replaceAll("\r\n", "\n").trim() === body.trim();
  if (issue.open ? same : !again) return;
  await issues.change(issue.number, issue.open ? { body } : { body, state: "open" });
  if (again) await issues.comment(issue.number, "The draft was tried again, and is a dead letter again.");
}

async function close(issues: Issues, issue: Issue, why: string, alerted: Alerted): Promise<void> {
  await issues.comment(issue.number, why);
  await issues.change(issue.number, { state: "closed" });
  alerted.closed.push(issue.number);
}

/** Why an open issue's draft is no dead letter any more, or null where that is not known. */
function whyAlive(
  each: SweptDraft | undefined,
  { title }: Issue,
  name: string,
  matches: (path: string) => boolean,
): string | null {
  if (each === undefined) {
    const path = title.slice(titleStart.length, -titleEnd.length);
    const gone = title === titleOf(path) && nameOf(path) === name && matches(path);
    return gone ? "The file is gone from the branch, and the dead letter with it." : null;
  }
  // Edited into something that nobody can read, it needs a person still.
  if (each.heading === "unreadable" || each.heading === "dead") return null;
  return `The draft lives again: ${code(each.path)} is under ${code(each.heading)} now.`;
}

const titleStart = "Fencepost: ";
const titleEnd = " is a dead letter";

/** GitHub takes 256 characters. */
function titleOf(path: string): string {
  return `${titleStart}${[...path.replace(/\p{Cc}+/gu, " ")].slice(0, 200).join("")}${titleEnd}`;
}

/** The draft's name as its record has it: every character in it is harmless in a comment. */
function nameOf(path: string): string {
  return draftRecordName(path).slice("draft/".length);
}

function nameIn(body: string): string | null {
  return /<!-- fencepost:draft:(\S+) -->/.exec(body)?.[1] ?? null;
}

function tokenIn(body: string): number {
  return Number(/<!-- fencepost:token:(\d+) -->/.exec(body)?.[1] ?? Number.NaN);
}

/** The same dead letter has the same text, so that nothing is written while nothing changes. */
function bodyOf({ path, seen, fresh }: DeadLetter, { at, branch }: AlertView): string {
  const record = fresh ? repairDraft({ path, seen, to: "dead" }, seen.record.nonce).record : seen.record;
  const redrive = `fencepost redrive ${shellWord(path)} --reason "what was wrong is put right"`;
  const lines = [
    `${fileLink(at, path, branch)} was tried ${record.attempts} times without success, and is set aside.`,
    `**Why:** ${plain(record.reason ?? "no reason given")}`,
    ...(record.run === undefined ? [] : [`**Last run:** ${link(plain(record.run), record.run)}`]),
    `**What to do:** edit the file, and it is new work with all its attempts. Where the cause was elsewhere, put that right, and then ${code(redrive)}.`,
    "This issue is closed when the draft lives again.",
    `<!-- fencepost:draft:${nameOf(path)} -->\n<!-- fencepost:token:${record.token} -->`,
  ];
  return lines.join("\n\n");
}
