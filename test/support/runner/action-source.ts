// Finds what `uses:` names: a local folder, a folder given by the caller, or a stand-in.
import { join } from "node:path";
import type { JobState } from "./job-state.js";
import { type Manifest, parseManifest, readManifest } from "./manifest.js";
import type { StandIn } from "./stand-in.js";
import { standIns } from "./stand-ins.js";

export interface Action {
  /** As in `uses:`. */
  label: string;
  local: boolean;
  /** `owner/name` and what follows `@`; empty for a local action. */
  repository: string;
  ref: string;
  manifest: Manifest;
  standIn: StandIn | undefined;
}

/** @throws where there is no such action. */
export async function findAction(job: JobState, uses: string): Promise<Action> {
  if (uses.startsWith("docker://")) throw new Error(`${uses}: this runner does not run docker`);
  return /^\.\.?\//.test(uses) || uses === "." || uses === "./" ? local(job, uses) : remote(job, uses);
}

export function isLocal(uses: string): boolean {
  return uses.startsWith(".");
}

async function local(job: JobState, uses: string): Promise<Action> {
  const folder = join(job.machine.workspace, uses);
  const manifest = await readManifest(folder);
  if (!manifest)
    throw new Error(
      `Can't find 'action.yml', 'action.yaml' or 'Dockerfile' under '${folder}'. Did you forget to run actions/checkout before running your local action?`,
    );
  return { label: uses, local: true, repository: "", ref: "", manifest, standIn: undefined };
}

async function remote(job: JobState, uses: string): Promise<Action> {
  const [name = "", ref = ""] = uses.split("@");
  const [owner, repo, ...path] = name.split("/");
  const repository = `${owner}/${repo}`;
  const common = { label: uses, local: false, repository, ref };
  const folder = folderOf(job.options.actions ?? {}, uses, repository, path.join("/"));
  if (folder !== null) {
    const manifest = await readManifest(folder);
    if (!manifest)
      throw new Error(
        `Can't find 'action.yml', 'action.yaml' or 'Dockerfile' for action '${uses}' in ${folder}`,
      );
    return { ...common, manifest, standIn: undefined };
  }
  const standIn = byName({ ...standIns, ...job.options.standIns }, name);
  if (!standIn)
    throw new Error(`Unable to resolve action ${uses}: it is neither among the given actions nor a stand-in`);
  return {
    ...common,
    manifest: parseManifest(job.machine.temp, `${name}/action.yml`, standIn.manifest),
    standIn,
  };
}

function folderOf(
  actions: Record<string, string>,
  uses: string,
  repository: string,
  path: string,
): string | null {
  const [name = "", ref = ""] = uses.split("@");
  const whole = byName(actions, uses) ?? byName(actions, name);
  if (whole !== undefined) return whole;
  const root = byName(actions, `${repository}@${ref}`) ?? byName(actions, repository);
  return root === undefined ? null : join(root, path);
}

function byName<T>(map: Record<string, T>, name: string): T | undefined {
  return Object.entries(map).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1];
}
