// Reads an action.yml, by GitHub's own parser and schema.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { convertActionTemplate } from "@actions/workflow-parser/actions/action-template";
import type { Token } from "./expression.js";
import { parseTemplate, throwErrors } from "./template.js";
import { child, type StepPlan, stepPlans } from "./workflow.js";

export interface NodeRuns {
  using: "node";
  main: string;
  pre: string | undefined;
  preIf: string;
  post: string | undefined;
  postIf: string;
}

export interface CompositeRuns {
  using: "composite";
  steps: StepPlan[];
}

export interface InputPlan {
  id: string;
  default: Token | undefined;
  deprecation: string | undefined;
}

export interface Manifest {
  folder: string;
  inputs: InputPlan[];
  /** What a composite action gives out. */
  outputs: { id: string; value: Token | undefined }[];
  runs: NodeRuns | CompositeRuns;
}

/** Null where the folder has no action.yml or action.yaml. */
export async function readManifest(folder: string): Promise<Manifest | null> {
  for (const name of ["action.yml", "action.yaml"]) {
    const content = await readFile(join(folder, name), "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
      throw error;
    });
    if (content !== null) return parseManifest(folder, join(folder, name), content);
  }
  return null;
}

export function parseManifest(folder: string, path: string, content: string): Manifest {
  const { context, root } = parseTemplate("action", path, content);
  const template = convertActionTemplate(context, root);
  throwErrors(context, path);
  return {
    folder,
    inputs: (template.inputs ?? []).map((input) => ({
      id: input.id,
      default: input.default,
      deprecation: input.deprecationMessage,
    })),
    outputs: (template.outputs ?? []).map(({ id, value }) => ({ id, value })),
    runs: runsOf(template.runs, root, path),
  };
}

function runsOf(
  runs: ReturnType<typeof convertActionTemplate>["runs"],
  root: Token,
  path: string,
): Manifest["runs"] {
  switch (runs.using) {
    case "composite":
      return { using: "composite", steps: stepPlans(runs.steps, child(root, "runs", "steps")) };
    case "docker":
      throw new Error(`${path} runs in docker, which this runner does not reproduce`);
    default:
      return {
        using: "node",
        main: runs.main,
        pre: runs.pre,
        preIf: bare(runs.preIf),
        post: runs.post,
        postIf: bare(runs.postIf),
      };
  }
}

function bare(condition: string | undefined): string {
  return condition === undefined ? "always()" : condition.replace(/^\s*\$\{\{(.*)\}\}\s*$/s, "$1");
}
