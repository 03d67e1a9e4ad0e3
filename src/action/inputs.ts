// The inputs of the actions, read strictly and once. The error names the input and the rule.
import { isAbsolute, join } from "node:path";
import { parseArgsStringToArgv } from "string-argv";
import * as v from "valibot";
import { branchRef, defaultPrefix, fullRef, quote, refPrefix } from "../protocol/names.js";
import { choice, currentBranch, InputInvalid, words } from "./read.js";
import type { Workflow } from "./workflow.js";

export { InputInvalid } from "./read.js";

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

const token = v.pipe(v.number(), v.safeInteger(), v.minValue(1));

/** A claim handed from job to job, or from the main step to a push in the middle. */
const claimSchema = v.object({
  /** "" where a draft is all that is held. */
  lease: v.string(),
  token,
  id: v.pipe(v.string(), v.regex(/^[A-Za-z0-9-]{8,64}$/)),
  repository: v.string(),
  prefix: v.string(),
  /** What is pushed to, where it is another repository. */
  destination: v.optional(v.string()),
  draft: v.optional(v.object({ path: v.string(), token })),
});
export type HandedClaim = v.InferOutput<typeof claimSchema>;

/** A repository by its name. @throws InputInvalid */
function repositoryName(input: string, given: string): string {
  if (/^[A-Za-z0-9-]+\/[A-Za-z0-9._-]+$/.test(given)) return given;
  throw new InputInvalid(`Input "${input}": ${quote(given)} is not OWNER/NAME. A good one: octo/blog`);
}

/** What is pushed to, where it is another repository than `own`. @throws InputInvalid */
export function destinationInput(workflow: Workflow, input: string, own: string): string | undefined {
  const given = workflow.input(input);
  if (given === "" || repositoryName(input, given).toLowerCase() === own.toLowerCase()) return undefined;
  return given;
}

export function placeInputs(workflow: Workflow): PlaceInputs {
  const repository = repositoryName(
    "repository",
    workflow.input("repository") || workflow.env.GITHUB_REPOSITORY || "",
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
    const { FENCEPOST_DRAFT, FENCEPOST_DRAFT_TOKEN, FENCEPOST_PUSH_REPOSITORY } = env;
    const draft = FENCEPOST_DRAFT && FENCEPOST_DRAFT_TOKEN;
    if (!(FENCEPOST_LEASE || draft) || !FENCEPOST_TOKEN || !FENCEPOST_CLAIM)
      throw new InputInvalid(
        'Nothing is held here. Acquire a lease or a draft in an earlier step of this job, or hand its output "claim" to the input "claim".',
      );
    return {
      lease: FENCEPOST_LEASE ?? "",
      token: Number(FENCEPOST_TOKEN),
      id: FENCEPOST_CLAIM,
      repository: FENCEPOST_REPOSITORY || env.GITHUB_REPOSITORY || "",
      prefix: FENCEPOST_REF_PREFIX || defaultPrefix,
      ...(FENCEPOST_PUSH_REPOSITORY ? { destination: FENCEPOST_PUSH_REPOSITORY } : {}),
      ...(draft ? { draft: { path: FENCEPOST_DRAFT, token: Number(FENCEPOST_DRAFT_TOKEN) } } : {}),
    };
  }
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), claimSchema), given);
  if (parsed.success) return parsed.output;
  throw new InputInvalid(
    'Input "claim" is not what the output "claim" of the step that acquired gave. Pass that output on unchanged.',
  );
}
