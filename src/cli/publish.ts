// The fenced push for commands: what to push, and what came of it in words.
import { bundleFolder } from "../gate/bundle-folder.js";
import type { OnMoved } from "../gate/moved.js";
import { type FurtherRef, fencedPush, type PushRequest, type PushResult } from "../gate/push.js";
import { describePush } from "../gate/report.js";
import type { Clone } from "../git/clone.js";
import { git } from "../git/program.js";
import { limit } from "../limit.js";
import { fullRef } from "../protocol/names.js";
import { ConfigurationError, exit, UsageError } from "./exit.js";
import type { PushOptions } from "./options.js";
import type { Place } from "./place.js";
import type { Voice } from "./speak.js";

export interface Publication {
  fences: PushRequest["fences"];
  branch: string;
  head: string;
  further: readonly FurtherRef[];
  replaces?: string | null | undefined;
  attempts: number;
  onMoved: OnMoved;
  /** When somebody asks us to end, the push has a little time left. */
  interrupt?: AbortSignal;
}

/** Milliseconds that a push may take, and what is left of them after an interrupt. */
const longest = 30 * 60_000;
const afterInterrupt = 20_000;

/** @throws ConfigurationError when the folder is in no clone. */
export function requireClone(place: Place): Clone {
  if (place.clone) return place.clone;
  throw new ConfigurationError(
    `${place.folder} is not in a git clone, so there is nothing to push from. Run this in a clone.`,
  );
}

/** The commit that a revision of the clone names. */
export async function commitOf(folder: string, revision: string): Promise<string> {
  const reply = await git({
    cwd: folder,
    args: ["rev-parse", "--verify", "--quiet", "--end-of-options", `${revision}^{commit}`],
  });
  if (reply.code === 0) return reply.stdout.toString("utf8").trim();
  throw new UsageError(
    `${JSON.stringify(revision)} is not a commit of the clone in ${folder}. Commit first, or name another one with --head.`,
  );
}

/** A further ref by name: what it is in the clone, and what it shall be at the destination. */
export interface NamedRef {
  source: string;
  ref: string;
}

/** The tags and further refs of the options. @throws UsageError, NameInvalid */
export function namedRefs(options: PushOptions, prefix: string): NamedRef[] {
  const tags = options.tag.map((tag) => ({
    source: `refs/tags/${tag}`,
    ref: fullRef(`refs/tags/${tag}`, prefix),
  }));
  const refs = options.ref.map((pair) => {
    const [source = "", target = "", more] = pair.split(":");
    if (source && target && more === undefined) return { source, ref: fullRef(target, prefix) };
    throw new UsageError(
      `--ref: ${JSON.stringify(pair)} is not SOURCE:refs/… A good one: HEAD:refs/heads/latest`,
    );
  });
  return [...tags, ...refs];
}

/** The refs as they are in the clone now. An annotated tag stays the tag that it is. */
export async function resolveRefs(folder: string, named: readonly NamedRef[]): Promise<FurtherRef[]> {
  const found: FurtherRef[] = [];
  for (const { source, ref } of named) {
    const reply = await git({
      cwd: folder,
      args: ["rev-parse", "--verify", "--quiet", "--end-of-options", source],
    });
    if (reply.code !== 0)
      throw new UsageError(
        `${JSON.stringify(source)} does not exist in the clone in ${folder}. Make it before the push.`,
      );
    found.push({ ref, oid: reply.stdout.toString("utf8").trim() });
  }
  return found;
}

/** Of the named refs, those that are there and have commits that `start` has not. */
export async function newRefs(
  folder: string,
  named: readonly NamedRef[],
  start: string | undefined,
): Promise<FurtherRef[]> {
  const there: FurtherRef[] = [];
  for (const each of named) {
    const [found] = await resolveRefs(folder, [each]).catch(() => []);
    if (found === undefined) continue;
    const args = ["merge-base", "--is-ancestor", `${found.oid}^{commit}`, start ?? ""];
    if (start === undefined || (await git({ cwd: folder, args })).code === 1) there.push(found);
  }
  return there;
}

/** What is pushed to. */
function target(place: Place) {
  return (place.destination ?? place).remote;
}

export function requestOf(place: Place, publication: Publication, voice: Voice): PushRequest {
  const { clock, chance } = place.ports;
  return {
    ...publication,
    clone: requireClone(place),
    remote: target(place),
    prefix: place.prefix,
    clock,
    chance,
    now: () => clock.read().wall,
    bundleFolder: bundleFolder(process.env),
    signal: limit(longest, publication.interrupt, afterInterrupt),
    say: (text) => voice.say(text),
  };
}

export async function publish(place: Place, publication: Publication, voice: Voice): Promise<PushResult> {
  const work = fencedPush(requestOf(place, publication, voice));
  return voice.during(`still pushing to ${publication.branch}`, work);
}

/** The exit code of a push, and its story in one or two sentences. */
export function report(
  result: PushResult,
  publication: Publication,
  place: Place,
): { code: number; text: string } {
  const now = place.ports.clock.read().wall;
  const text = describePush(result, { ...publication, where: target(place).label, now });
  return { code: codeOf(result), text };
}

function codeOf(result: PushResult): number {
  switch (result.outcome) {
    case "pushed":
    case "unchanged":
      return exit.ok;
    case "moved":
      return exit.moved;
    case "superseded":
      return exit.superseded;
    case "refused":
      return result.refusal.kind === "missing" ? exit.configuration : exit.refused;
    case "broken":
      return exit.configuration;
    case "unavailable":
      return exit.unavailable;
  }
}

/** The push as one object, for `--json`. */
export function pushJson(result: PushResult) {
  const { outcome } = result;
  if (outcome === "pushed") return { outcome, commit: result.commit, replayed: result.replayed };
  if (outcome === "unchanged") return { outcome, commit: result.commit };
  const why =
    outcome === "refused" ? result.refusal.words : outcome === "superseded" ? undefined : result.why;
  return { outcome, ...(why ? { why } : {}), rescue: result.rescue };
}

export function tell(result: PushResult, text: string, say: Voice): void {
  if (result.outcome === "pushed") say.good(text);
  else if (result.outcome === "unchanged") say.say(text);
  else say.bad(text);
}
