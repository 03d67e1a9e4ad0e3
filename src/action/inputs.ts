// The inputs of the actions, read strictly and once. The error names the input and the rule.
import { isAbsolute, join } from "node:path";
import { parseArgsStringToArgv } from "string-argv";
import * as v from "valibot";
import { parseDuration } from "../protocol/duration.js";
import { branchRef, defaultPrefix, fullRef, leaseName, quote, refPrefix } from "../protocol/names.js";
import type { Workflow } from "./workflow.js";

/** An input that cannot be used. */
export class InputInvalid extends Error {
  override name = "InputInvalid";
}

/** Where the leases are, and how to reach them. */
export interface PlaceInputs {
  repository: string;
  token: string;
  store: "github" | "git";
  refPrefix: string;
}

export interface PushInputs {
  /** A full ref. */
  branch: string;
  /** Absolute. */
  directory: string;
  onMoved: "rebase" | "regenerate" | "fail";
  regenerate: string[];
  /** Full refs. */
  tags: string[];
  pushToken: string;
}

export interface LeaseInputs extends PlaceInputs {
  lease: string;
  ttl: number;
  heartbeat: boolean;
  onOverlap: "skip" | "wait" | "fail";
  waitTimeout: number;
  push: PushInputs | null;
  /** Replace the branch if it is where it was when the lease was acquired. */
  replace: boolean;
  onLost: "warn" | "cancel";
  release: "auto" | "manual";
  summary: boolean;
  skipAlarm: number;
  /** The leg of a matrix, or "". */
  leg: string;
}

/** A claim handed from job to job, or from the main step to a push in the middle. */
const claimSchema = v.object({
  lease: v.string(),
  token: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  id: v.pipe(v.string(), v.regex(/^[A-Za-z0-9-]{8,64}$/)),
  repository: v.string(),
  prefix: v.string(),
});
export type HandedClaim = v.InferOutput<typeof claimSchema>;

export const ttlRange = { least: 10_000, most: 7 * 86_400_000 };
export const waitRange = { least: 0, most: 6 * 3_600_000 };

export function leaseInputs(workflow: Workflow): LeaseInputs {
  const { env } = workflow;
  return {
    ...placeInputs(workflow),
    lease: leaseName(workflow.input("lease") || env.GITHUB_WORKFLOW || ""),
    ttl: parseDuration('Input "ttl"', workflow.input("ttl") || "15m", ttlRange),
    heartbeat: flag(workflow, "heartbeat", true),
    onOverlap: choice(workflow, "on-overlap", ["skip", "wait", "fail"]),
    waitTimeout: parseDuration('Input "wait-timeout"', workflow.input("wait-timeout") || "10m", waitRange),
    push: flag(workflow, "push", false) ? pushInputs(workflow) : null,
    replace: flag(workflow, "replace", false),
    onLost: choice(workflow, "on-lost", ["warn", "cancel"]),
    release: choice(workflow, "release", ["auto", "manual"]),
    summary: flag(workflow, "summary", true),
    skipAlarm: wholeNumber(workflow, "skip-alarm", 5, 1, 1000),
    leg: legOf(workflow.input("matrix")),
  };
}

export function placeInputs(workflow: Workflow): PlaceInputs {
  const repository = workflow.input("repository") || workflow.env.GITHUB_REPOSITORY || "";
  if (!/^[A-Za-z0-9-]+\/[A-Za-z0-9._-]+$/.test(repository))
    throw new InputInvalid(
      `Input "repository": ${quote(repository)} is not OWNER/NAME. A good one: octo/blog`,
    );
  const token = workflow.input("token");
  if (token === "")
    throw new InputInvalid(
      'Input "token" is empty. Leave it out to use GITHUB_TOKEN, or name a secret that exists.',
    );
  return {
    repository,
    token,
    store: choice(workflow, "store", ["github", "git"]),
    refPrefix: refPrefix(workflow.input("ref-prefix") || workflow.env.FENCEPOST_REF_PREFIX || defaultPrefix),
  };
}

export function pushInputs(workflow: Workflow): PushInputs {
  const { env } = workflow;
  const prefix = workflow.input("ref-prefix") || defaultPrefix;
  const onMoved = choice(workflow, "on-moved", ["rebase", "regenerate", "fail"]);
  const regenerate = parseArgsStringToArgv(workflow.input("regenerate"));
  if (onMoved === "regenerate" && regenerate.length === 0)
    throw new InputInvalid(
      'Input "on-moved" is regenerate, and input "regenerate" is empty. Give the command that makes the commits again, such as: node build.js',
    );
  const directory = workflow.input("directory") || ".";
  const workspace = env.GITHUB_WORKSPACE || process.cwd();
  return {
    branch: branchRef(workflow.input("branch") || currentBranch(env), prefix),
    directory: isAbsolute(directory) ? directory : join(workspace, directory),
    onMoved,
    regenerate,
    tags: words(workflow.input("tags")).map((tag) => fullRef(`refs/tags/${tag}`, prefix)),
    pushToken: workflow.input("push-token"),
  };
}

/** The claim of an earlier step or job: the input `claim`, or what this job's environment says. */
export function handedClaim(workflow: Workflow): HandedClaim {
  const { env } = workflow;
  const given = workflow.input("claim");
  if (given === "") {
    const { FENCEPOST_LEASE, FENCEPOST_TOKEN, FENCEPOST_CLAIM, FENCEPOST_REPOSITORY, FENCEPOST_REF_PREFIX } =
      env;
    if (!FENCEPOST_LEASE || !FENCEPOST_TOKEN || !FENCEPOST_CLAIM)
      throw new InputInvalid(
        'No lease is held here. Acquire one in an earlier step of this job, or hand its output "claim" to the input "claim".',
      );
    return {
      lease: FENCEPOST_LEASE,
      token: Number(FENCEPOST_TOKEN),
      id: FENCEPOST_CLAIM,
      repository: FENCEPOST_REPOSITORY || env.GITHUB_REPOSITORY || "",
      prefix: FENCEPOST_REF_PREFIX || defaultPrefix,
    };
  }
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), claimSchema), given);
  if (parsed.success) return parsed.output;
  throw new InputInvalid(
    'Input "claim" is not what the output "claim" of the step that acquired gave. Pass that output on unchanged.',
  );
}

function currentBranch(env: NodeJS.ProcessEnv): string {
  const ref = env.GITHUB_REF ?? "";
  if (ref.startsWith("refs/heads/")) return ref;
  throw new InputInvalid(
    `Input "branch" is missing, and this run is for ${quote(ref)}, which is no branch. Name the branch to push to, such as: main`,
  );
}

function choice<const T extends string>(workflow: Workflow, name: string, values: readonly [T, ...T[]]): T {
  const given = workflow.input(name) || values[0];
  const found = values.find((value) => value === given);
  if (found !== undefined) return found;
  throw new InputInvalid(`Input "${name}": ${quote(given)} is not one of ${values.join(", ")}.`);
}

function flag(workflow: Workflow, name: string, absent: boolean): boolean {
  const given = workflow.input(name).toLowerCase();
  if (given === "") return absent;
  if (given === "true" || given === "false") return given === "true";
  throw new InputInvalid(`Input "${name}": ${quote(given)} is neither true nor false.`);
}

function wholeNumber(workflow: Workflow, name: string, absent: number, least: number, most: number): number {
  const given = workflow.input(name);
  if (given === "") return absent;
  const value = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new InputInvalid(`Input "${name}": ${quote(given)} is not a whole number from ${least} to ${most}.`);
}

function words(given: string): string[] {
  return given.split(/[\s,]+/).filter((word) => word !== "");
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
