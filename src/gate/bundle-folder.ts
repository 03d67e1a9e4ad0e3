// Where the bundle of a rescue goes: a place that outlives the job, if the machine has one.
import { accessSync, constants } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";

/** A runner empties RUNNER_TEMP when the job ends, and the checkout of the next job empties the workspace. */
export function bundleFolder(env: NodeJS.ProcessEnv): string {
  const { GITHUB_WORKSPACE, RUNNER_TEMP } = env;
  const beside = GITHUB_WORKSPACE ? dirname(GITHUB_WORKSPACE) : "";
  return isWritable(beside) ? beside : RUNNER_TEMP || tmpdir();
}

function isWritable(folder: string): boolean {
  if (folder === "") return false;
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A runner of GitHub's is a machine for one job, and everything on it goes with it. */
export function endsWithJob(env: NodeJS.ProcessEnv): boolean {
  return env.RUNNER_ENVIRONMENT === "github-hosted";
}
