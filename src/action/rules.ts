// The inputs that say what a draft is and which slots are due, read strictly; a convention is made from them when needed.
import { type Convention, conventions, custom } from "../protocol/conventions/index.js";
import { branchRef, quote } from "../protocol/names.js";
import { parseSchedule } from "../protocol/schedule.js";
import { checkTimezone } from "../protocol/zone.js";
import { currentBranch, flag, InputInvalid, wholeNumber } from "./read.js";
import type { Workflow } from "./workflow.js";

/** Kept as JSON for the post step. */
export interface DraftInputs {
  path: string;
  /** A full ref. */
  branch: string;
  convention: string;
  predicate: string;
  dueField: string;
  timezone: string;
  requireDue: boolean;
  maxAttempts: number;
}

export interface SlotInputs {
  schedule: string;
  timezone: string;
  maxBackfill: number;
}

const known = [...conventions.keys(), "custom"].join(", ");

/** Null where no draft is named. @throws InputInvalid, PredicateInvalid, TimezoneInvalid, NameInvalid */
export function draftInputs(workflow: Workflow, prefix: string): DraftInputs | null {
  const path = workflow.input("draft").replace(/^(?:\.\/)+/, "");
  const [convention, predicate, dueField] = ["convention", "predicate", "due-field"].map((name) =>
    workflow.input(name),
  ) as [string, string, string];
  if (path === "") {
    if (convention === "" && predicate === "" && dueField === "") return null;
    throw new InputInvalid(
      'Inputs "convention", "predicate" and "due-field" go with input "draft", which is empty. Give the draft\'s path, such as: posts/hello.md',
    );
  }
  if (/^\/|(?:^|\/)\.\.?(?:\/|$)|\/$/.test(path))
    throw new InputInvalid(
      `Input "draft": ${quote(path)} is not a path from the top of the repository. A good one: posts/hello.md`,
    );
  const timezone = workflow.input("timezone");
  if (timezone !== "") checkTimezone(timezone);
  const draft: DraftInputs = {
    path,
    branch: branchRef(workflow.input("branch") || currentBranch(workflow.env), prefix),
    convention: convention || (predicate === "" ? "" : "custom"),
    predicate,
    dueField,
    timezone,
    requireDue: flag(workflow, "require-due", false),
    maxAttempts: wholeNumber(workflow, "max-attempts", 3, 1, 100),
  };
  conventionOf(draft);
  return draft;
}

export function conventionOf({ convention, predicate, dueField }: DraftInputs): Convention {
  if (convention === "")
    throw new InputInvalid(
      `Input "convention" is empty: how does a file say that it is not published yet? One of: ${known}.`,
    );
  if (convention === "custom") {
    if (predicate !== "") return custom(predicate, dueField || undefined);
    throw new InputInvalid(
      'Input "convention" is custom, and input "predicate" is empty. A good one: status == "ready"',
    );
  }
  if (predicate !== "" || dueField !== "")
    throw new InputInvalid(
      'Inputs "predicate" and "due-field" go with convention custom. Leave them out, or name it.',
    );
  const found = conventions.get(convention);
  if (found) return found;
  throw new InputInvalid(`Input "convention": ${quote(convention)} is not known. One of: ${known}.`);
}

/** Null where no schedule is given. @throws InputInvalid, ScheduleInvalid, TimezoneInvalid */
export function slotInputs(workflow: Workflow): SlotInputs | null {
  const schedule = workflow.input("schedule");
  if (schedule === "") return null;
  const timezone = workflow.input("timezone") || "UTC";
  parseSchedule(schedule, timezone);
  return { schedule, timezone, maxBackfill: wholeNumber(workflow, "max-backfill", 1, 1, 1000) };
}
