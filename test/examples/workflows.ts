// The workflow files of this repository, those to copy and its own, as their text and as plain values.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Step {
  id?: string;
  if?: string;
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
}

export interface Job {
  permissions?: unknown;
  "timeout-minutes"?: number;
  steps: Step[];
}

export interface WorkflowFile {
  /** From the root, with slashes. */
  path: string;
  text: string;
  permissions?: unknown;
  jobs: Record<string, Job>;
}

export function workflowsIn(folder: string): WorkflowFile[] {
  return readdirSync(join(root, folder))
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => {
      const text = readFileSync(join(root, folder, name), "utf8");
      return { ...parse(text), path: `${folder}/${name}`, text };
    });
}

export function stepsOf(file: WorkflowFile): Step[] {
  return Object.values(file.jobs).flatMap((job) => job.steps);
}

/** What `uses:` of this project's own actions names: the folder of its action.yml; null for other actions. */
export function ownAction(uses: string): string | null {
  const found = /^fencepost\/fencepost(?:\/([^@]+))?@v1$/.exec(uses);
  return found ? (found[1] ?? ".") : null;
}
