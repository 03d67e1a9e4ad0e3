// How an input is read: a flag, a choice, a whole number, words. The error names the input and the rule.
import { quote } from "../protocol/names.js";
import type { Workflow } from "./workflow.js";

/** An input that cannot be used. */
export class InputInvalid extends Error {
  override name = "InputInvalid";
}

export function currentBranch(env: NodeJS.ProcessEnv): string {
  const ref = env.GITHUB_REF ?? "";
  if (ref.startsWith("refs/heads/")) return ref;
  throw new InputInvalid(
    `Input "branch" is missing, and this run is for ${quote(ref)}, which is no branch. Name the branch to push to, such as: main`,
  );
}

export function choice<const T extends string>(
  workflow: Workflow,
  name: string,
  values: readonly [T, ...T[]],
): T {
  const given = workflow.input(name) || values[0];
  const found = values.find((value) => value === given);
  if (found !== undefined) return found;
  throw new InputInvalid(`Input "${name}": ${quote(given)} is not one of ${values.join(", ")}.`);
}

export function flag(workflow: Workflow, name: string, absent: boolean): boolean {
  const given = workflow.input(name).toLowerCase();
  if (given === "") return absent;
  if (given === "true" || given === "false") return given === "true";
  throw new InputInvalid(`Input "${name}": ${quote(given)} is neither true nor false.`);
}

export function wholeNumber(
  workflow: Workflow,
  name: string,
  absent: number,
  least: number,
  most: number,
): number {
  const given = workflow.input(name);
  if (given === "") return absent;
  const value = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new InputInvalid(`Input "${name}": ${quote(given)} is not a whole number from ${least} to ${most}.`);
}

export function words(given: string): string[] {
  return given.split(/[\s,]+/).filter((word) => word !== "");
}
