// The fenced push of an action: a clone in a folder, to the repository of the lease, with a token of its own.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { bundleFolder, endsWithJob } from "../gate/bundle-folder.js";
import { type FurtherRef, fencedPush, keepCommits, type PushRequest, type PushResult } from "../gate/push.js";
import { regenerating } from "../gate/regenerate.js";
import { describePush } from "../gate/report.js";
import type { Rescue } from "../gate/rescue.js";
import type { Clone } from "../git/clone.js";
import { git } from "../git/program.js";
import { limit } from "../limit.js";
import type { Reading } from "../protocol/doubt.js";
import type { Instant, Oid } from "../protocol/record.js";
import type { PushInputs } from "./inputs.js";
import { chance, clock, cloneIn, lendToken } from "./place.js";
import type { Workflow } from "./workflow.js";

export interface Publication {
  fences: PushRequest["fences"];
  repository: string;
  prefix: string;
  /** For the push, unless the inputs name another one. */
  token: string;
  push: PushInputs;
  replaces: Oid | null | undefined;
  /** The store's time, and when by our clocks it was that. */
  storeNow: Instant;
  storeNowAt: Reading;
  /** Milliseconds that the push may take (default: half an hour). */
  limit?: number;
}

export interface Published {
  result: PushResult;
  /** One or two sentences. */
  text: string;
}

/** @throws Error with a sentence for people when there is nothing to push from. */
export async function publish(workflow: Workflow, publication: Publication): Promise<Published> {
  const request = await requestOf(workflow, publication);
  workflow.info(`Pushing ${request.head.slice(0, 10)} to ${request.branch} behind the fence …`);
  const since = clock.read().monotonic;
  const tick = setInterval(
    () => workflow.info(`… still pushing, for ${Math.round((clock.read().monotonic - since) / 1000)} s`),
    10_000,
  );
  try {
    const sent = await fencedPush(request);
    const result =
      "rescue" in sent ? { ...sent, rescue: await onRef(workflow, publication, request, sent.rescue) } : sent;
    const now = request.now();
    const where = publication.repository;
    const loss = "rescue" in result ? lossWarning(workflow.env, publication.prefix, result.rescue) : "";
    return { result, text: `${describePush(result, { ...request, where, now })}${loss}` };
  } finally {
    clearInterval(tick);
  }
}

/** Keeps what a job committed that did not come to a push, with those of its tags that exist. */
export async function keep(workflow: Workflow, publication: Publication, base: Oid | null): Promise<Rescue> {
  const request = await requestOf(workflow, publication, true);
  return onRef(workflow, publication, request, await keepCommits(request, base));
}

/** A rescue that made no branch, tried with the lease's token: the one of the push may have less rights there. */
async function onRef(
  workflow: Workflow,
  { push, token, repository }: Publication,
  request: PushRequest,
  kept: Rescue,
): Promise<Rescue> {
  if (kept.kept === "ref" || push.pushToken === "" || push.pushToken === token) return kept;
  const remote = lendToken(workflow.env, repository, token, request.clone);
  // There is a bundle already, so that no second one is to be made.
  const noFolder = join(request.bundleFolder, "fencepost-no-such-folder");
  const again = await keepCommits({ ...request, remote, bundleFolder: noFolder }, null).catch(() => kept);
  if (again.kept !== "ref") return kept;
  if (kept.kept === "bundle") await rm(kept.file, { force: true });
  return again;
}

/** What to say of commits that are on the runner alone, where the runner ends with the job. A sentence behind others. */
export function lossWarning(env: NodeJS.ProcessEnv, prefix: string, rescue: Rescue): string {
  if (rescue.kept === "ref" || !endsWithJob(env)) return "";
  return ` They are gone with this runner when the job ends. If a rule refused them a branch, allow pushes to ${prefix}/rescue/**.`;
}

async function requestOf(
  workflow: Workflow,
  publication: Publication,
  lenient = false,
): Promise<PushRequest> {
  const { push, repository, fences, prefix, replaces, storeNow, storeNowAt } = publication;
  const { env } = workflow;
  const clone = await cloneIn(push.directory);
  if (clone === null)
    throw new Error(
      `${push.directory} is not in a git clone, so there is nothing to push from. Check the input "directory".`,
    );
  return {
    clone,
    remote: lendToken(env, repository, push.pushToken || publication.token, clone),
    prefix,
    fences,
    head: await commitOf(push.directory, "HEAD"),
    branch: push.branch,
    further: await tagsOf(push, clone, lenient),
    replaces,
    onMoved: regenerating(push.onMoved, push.regenerate, env, false),
    attempts: 5,
    clock,
    chance,
    now: () => storeNow + (clock.read().monotonic - storeNowAt.monotonic),
    bundleFolder: bundleFolder(env),
    signal: limit(publication.limit ?? 30 * 60_000),
    say: (text) => workflow.info(text),
  };
}

export async function commitOf(folder: string, revision: string): Promise<Oid> {
  const args = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`];
  const reply = await git({ cwd: folder, args });
  if (reply.code === 0) return reply.stdout.toString("utf8").trim();
  throw new Error(`${revision} is not a commit of the clone in ${folder}. Commit before the push.`);
}

async function tagsOf(push: PushInputs, clone: Clone, lenient: boolean): Promise<FurtherRef[]> {
  const found: FurtherRef[] = [];
  for (const ref of push.tags) {
    const reply = await git({
      cwd: push.directory,
      args: ["rev-parse", "--verify", "--quiet", "--end-of-options", ref],
    });
    if (reply.code !== 0 && lenient) continue;
    if (reply.code !== 0)
      throw new Error(`The tag ${ref} does not exist in the clone in ${clone.top}. Make it before the push.`);
    found.push({ ref, oid: reply.stdout.toString("utf8").trim() });
  }
  return found;
}
