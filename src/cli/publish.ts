// The fenced push for commands: what to push, and what came of it in words.
import { constants, tmpdir } from "node:os";
import spawn from "cross-spawn";
import type { OnMoved } from "../gate/moved.js";
import { type FurtherRef, fencedPush, type PushRequest, type PushResult } from "../gate/push.js";
import { describeRescue } from "../gate/rescue.js";
import type { Clone } from "../git/clone.js";
import { git } from "../git/program.js";
import type { Ownership } from "../protocol/lease.js";
import { fullRef } from "../protocol/names.js";
import { describeHolding } from "./describe.js";
import { ConfigurationError, exit, UsageError } from "./exit.js";
import type { PushOptions } from "./options.js";
import type { Place } from "./place.js";
import type { Voice } from "./speak.js";

export interface Publication {
  lease: string;
  owner: Ownership;
  branch: string;
  head: string;
  further: readonly FurtherRef[];
  replaces?: string | null | undefined;
  attempts: number;
  onMoved: OnMoved;
}

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

/** Runs the user's command in a checkout of the new tip, for `--on-moved regenerate`. */
export function regenerating(
  how: PushOptions["onMoved"],
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  aside: boolean,
): OnMoved {
  if (how !== "regenerate") return { how };
  const [program = "", ...args] = command;
  return {
    how,
    command: (folder, config) =>
      new Promise((resolve) => {
        const start = Number(env.GIT_CONFIG_COUNT ?? 0);
        const identity = Object.fromEntries(
          config.flatMap(([key, value], i) => [
            [`GIT_CONFIG_KEY_${start + i}`, key],
            [`GIT_CONFIG_VALUE_${start + i}`, value],
          ]),
        );
        const count = config.length > 0 ? { GIT_CONFIG_COUNT: String(start + config.length) } : {};
        const child = spawn(program, args, {
          cwd: folder,
          env: { ...env, ...identity, ...count, FENCEPOST_REGENERATE: "1" },
          stdio: ["ignore", aside ? 2 : "inherit", "inherit"],
        });
        child.on("error", () => resolve(127));
        child.on("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
      }),
  };
}

export function requestOf(place: Place, publication: Publication, voice: Voice): PushRequest {
  const { clock, chance } = place.ports;
  return {
    ...publication,
    clone: requireClone(place),
    remote: place.remote,
    prefix: place.prefix,
    clock,
    chance,
    now: () => clock.read().wall,
    bundleFolder: process.env.RUNNER_TEMP || tmpdir(),
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
  const branch = publication.branch.replace(/^refs\/heads\//, "");
  const where = `${branch} of ${place.remote.label}`;
  switch (result.outcome) {
    case "pushed": {
      const how = result.replayed ? " (made on the tip that the branch had moved to)" : "";
      return {
        code: exit.ok,
        text: `pushed ${result.commit} to ${where}${how}, under token ${publication.owner.token}.`,
      };
    }
    case "unchanged":
      return {
        code: exit.ok,
        text: `unchanged: ${where} is at ${result.commit.slice(0, 10)} already, so nothing was pushed.`,
      };
    case "moved":
      return {
        code: exit.moved,
        text: `moved: ${where} was not changed, because ${result.why}. ${describeRescue(result.rescue)} Merge them by hand, or run again on the new tip.`,
      };
    case "superseded": {
      const by = result.by
        ? `The lease is now: ${describeHolding(result.by, place.ports.clock.read().wall)}.`
        : "Its record is gone.";
      return {
        code: exit.superseded,
        text: `superseded: the push was refused and ${branch} is untouched, because token ${publication.owner.token} of ${JSON.stringify(publication.lease)} no longer holds the lease. ${by} ${describeRescue(result.rescue)}`,
      };
    }
    case "refused":
      return {
        code: result.refusal.kind === "missing" ? exit.configuration : exit.refused,
        text: `refused: ${where} did not take the push: ${result.refusal.words}. ${result.refusal.advice} ${describeRescue(result.rescue)}`,
      };
    case "broken":
      return { code: exit.configuration, text: `not pushed: ${result.why} ${describeRescue(result.rescue)}` };
    case "unavailable":
      return {
        code: exit.unavailable,
        text: `unavailable: whether the push to ${where} arrived could not be settled: ${result.why}. ${describeRescue(result.rescue)} Look at the branch before you push again.`,
      };
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
