// The inputs of action.yml, read strictly and once: the lease, the draft, the slots, and what the job ends with.
import { parseDuration } from "../protocol/duration.js";
import { leaseName } from "../protocol/names.js";
import { destinationInput, type PlaceInputs, type PushInputs, placeInputs, pushInputs } from "./inputs.js";
import { choice, flag, InputInvalid, wholeNumber } from "./read.js";
import { type DraftInputs, draftInputs, type SlotInputs, slotInputs } from "./rules.js";
import type { Workflow } from "./workflow.js";

export interface LeaseInputs extends PlaceInputs {
  /** Null where a draft is all that is held. */
  lease: string | null;
  draft: DraftInputs | null;
  slots: SlotInputs | null;
  ttl: number;
  heartbeat: boolean;
  onOverlap: "skip" | "wait" | "fail";
  waitTimeout: number;
  push: PushInputs | null;
  /** What is pushed to, where it is another repository than the lease's. */
  destination: string | undefined;
  /** Replace the branch if it is where it was when the lease was acquired. */
  replace: boolean;
  onLost: "warn" | "cancel";
  release: "auto" | "manual";
  summary: boolean;
  skipAlarm: number;
  /** The leg of a matrix, or "". */
  leg: string;
}

export const ttlRange = { least: 10_000, most: 7 * 86_400_000 };
export const waitRange = { least: 0, most: 6 * 3_600_000 };

export function leaseInputs(workflow: Workflow): LeaseInputs {
  const place = placeInputs(workflow);
  const draft = draftInputs(workflow, place.refPrefix);
  const slots = slotInputs(workflow);
  if (draft && slots)
    throw new InputInvalid(
      'Inputs "draft" and "schedule" do not go together: a draft says itself when it is due. Leave one out.',
    );
  const named = workflow.input("lease");
  const inputs: LeaseInputs = {
    ...place,
    // A draft's own record is a lease; without one, and without a name, it is the workflow's.
    lease: named === "" && draft ? null : leaseName(named || workflow.env.GITHUB_WORKFLOW || ""),
    draft,
    slots,
    ttl: parseDuration('Input "ttl"', workflow.input("ttl") || "15m", ttlRange),
    heartbeat: flag(workflow, "heartbeat", true),
    onOverlap: choice(workflow, "on-overlap", ["skip", "wait", "fail"]),
    waitTimeout: parseDuration('Input "wait-timeout"', workflow.input("wait-timeout") || "10m", waitRange),
    push: flag(workflow, "push", false) ? pushInputs(workflow) : null,
    destination: destinationInput(workflow, "push-repository", place.repository),
    replace: flag(workflow, "replace", false),
    onLost: choice(workflow, "on-lost", ["warn", "cancel"]),
    release: choice(workflow, "release", ["auto", "manual"]),
    summary: flag(workflow, "summary", true),
    skipAlarm: wholeNumber(workflow, "skip-alarm", 5, 1, 1000),
    leg: legOf(workflow.input("matrix")),
  };
  if (inputs.release === "manual" && (draft || slots))
    throw new InputInvalid(
      `Input "release" is manual, and ${draft ? "a draft is" : "slots are"} settled when this job ends. Leave "release" out.`,
    );
  if (inputs.onOverlap === "wait" && inputs.lease === null)
    throw new InputInvalid(
      'Input "on-overlap" is wait, and a draft that another run works on is not waited for. Leave it out, or name a lease to wait for.',
    );
  return inputs;
}

/** The values of a matrix leg, in the order of the workflow file. */
function legOf(matrix: string): string {
  try {
    const values: unknown = JSON.parse(matrix || "null");
    if (typeof values !== "object" || values === null) return "";
    return Object.values(values)
      .map((value) => (typeof value === "object" ? JSON.stringify(value) : String(value)))
      .join(", ")
      .slice(0, 200);
  } catch {
    return "";
  }
}
