// The inputs of `sweep/action.yml`, read strictly and once.
import { readFileSync } from "node:fs";
import { GlobsInvalid, globMatcher } from "../draft/glob.js";
import { type Convention, conventions, custom } from "../protocol/conventions/index.js";
import { parseDuration } from "../protocol/duration.js";
import { branchRef, quote } from "../protocol/names.js";
import { checkTimezone } from "../protocol/zone.js";
import { type PlaceInputs, placeInputs } from "./inputs.js";
import { choice, flag, InputInvalid, wholeNumber } from "./read.js";
import type { Workflow } from "./workflow.js";

export interface SweepInputs extends PlaceInputs {
  /** Whether a path is a draft's. */
  matches: (path: string) => boolean;
  convention: Convention;
  timezone: string | undefined;
  requireDue: boolean;
  /** A full ref; null: the repository's default branch, whose name this run was not told. */
  branch: string | null;
  staleAfter: number;
  maxStart: number;
  maxAttempts: number;
  trigger: "event" | "clock";
  /** The name of a workflow file, or null. */
  dispatch: string | null;
  alert: "none" | "issue";
  summary: boolean;
}

/** A matrix takes no more jobs. */
const mostStarts = 256;

export function sweepInputs(workflow: Workflow): SweepInputs {
  const { env } = workflow;
  const place = placeInputs(workflow);
  const timezone = workflow.input("timezone") || undefined;
  if (timezone !== undefined) checkTimezone(timezone);
  const trigger = choice(workflow, "trigger", ["auto", "event", "clock"]);
  return {
    ...place,
    matches: matcher(workflow.input("drafts")),
    convention: conventionOf(workflow),
    timezone,
    requireDue: flag(workflow, "require-due", false),
    branch: branchOf(workflow, place),
    staleAfter: parseDuration('Input "stale-after"', workflow.input("stale-after") || "20m", {
      least: 0,
      most: 30 * 86_400_000,
    }),
    maxStart: wholeNumber(workflow, "max-start", 1, 0, mostStarts),
    maxAttempts: wholeNumber(workflow, "max-attempts", 3, 1, 100),
    trigger: trigger !== "auto" ? trigger : env.GITHUB_EVENT_NAME === "schedule" ? "clock" : "event",
    dispatch: workflowFile(workflow.input("dispatch")),
    alert: choice(workflow, "alert", ["none", "issue"]),
    summary: flag(workflow, "summary", true),
  };
}

function matcher(given: string): (path: string) => boolean {
  if (given === "")
    throw new InputInvalid('Input "drafts" is missing: which files are drafts? A good one: posts/**/*.md');
  try {
    return globMatcher(given.split(/\s+/));
  } catch (error) {
    if (error instanceof GlobsInvalid) throw new InputInvalid(`Input "drafts": ${error.message}`);
    throw error;
  }
}

function conventionOf(workflow: Workflow): Convention {
  const names = [...conventions.keys(), "custom"].join(", ");
  const predicate = workflow.input("predicate");
  const dueField = workflow.input("due-field");
  const asked = workflow.input("convention") || (predicate === "" ? "" : "custom");
  if (asked === "")
    throw new InputInvalid(
      `Input "convention" is missing: how does a file say that it is not published yet? One of: ${names}.`,
    );
  if (asked === "custom") {
    if (predicate === "")
      throw new InputInvalid(
        'Input "convention" is custom, and input "predicate" is empty. A good one: status == "ready"',
      );
    return custom(predicate, dueField || undefined);
  }
  if (predicate !== "" || dueField !== "")
    throw new InputInvalid(
      'Inputs "predicate" and "due-field" go with the convention custom. Leave them out, or name it.',
    );
  const found = conventions.get(asked);
  if (found !== undefined) return found;
  throw new InputInvalid(`Input "convention": ${quote(asked)} is not one of ${names}.`);
}

/** The branch of this run says nothing about another repository. */
function branchOf({ env, input }: Workflow, { repository, refPrefix }: PlaceInputs): string | null {
  const given = input("branch");
  if (given !== "") return branchRef(given, refPrefix);
  if (repository.toLowerCase() !== (env.GITHUB_REPOSITORY ?? "").toLowerCase()) return null;
  const ref = env.GITHUB_REF ?? "";
  if (ref.startsWith("refs/heads/")) return branchRef(ref, refPrefix);
  const told = defaultBranchOf(env.GITHUB_EVENT_PATH);
  return told === null ? null : branchRef(told, refPrefix);
}

/** Most events say which branch is the repository's default; asking would cost a request. */
function defaultBranchOf(eventPath: string | undefined): string | null {
  if (!eventPath) return null;
  try {
    const name: unknown = JSON.parse(readFileSync(eventPath, "utf8")).repository?.default_branch;
    return typeof name === "string" && name !== "" ? name : null;
  } catch {
    return null;
  }
}

function workflowFile(given: string): string | null {
  if (given === "") return null;
  const name = given.replace(/^(\.\/)?\.github\/workflows\//, "");
  if (/^[^/\s]+\.ya?ml$/.test(name)) return name;
  throw new InputInvalid(
    `Input "dispatch": ${quote(given)} is no file in .github/workflows. A good one: publish.yml`,
  );
}
