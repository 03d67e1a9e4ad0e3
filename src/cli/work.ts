// One run of the user's command under what is held, and its commits pushed behind the fences.

import type { Clock } from "../clock.js";
import { publishedEarlier } from "../draft/claim.js";
import { keepCommits, type PushResult } from "../gate/push.js";
import { regenerating } from "../gate/regenerate.js";
import { describeRescue, type Rescue } from "../gate/rescue.js";
import type { LostBeat } from "../lease/heartbeat.js";
import { type Command, startCommand } from "./command.js";
import type { Interrupt } from "./interrupt.js";
import type { Keeping } from "./keeping.js";
import type { PushOptions } from "./options.js";
import type { Place } from "./place.js";
import {
  commitOf,
  namedRefs,
  newRefs,
  type Publication,
  publish,
  report,
  requestOf,
  resolveRefs,
  tell,
} from "./publish.js";
import type { Voice } from "./speak.js";

export interface Work {
  command: readonly string[];
  place: Place;
  /** A full ref, where a push is asked for. */
  branch: string | undefined;
  /** What the branch must still be, to be replaced. */
  replaces?: string | null | undefined;
  push: PushOptions;
  /** Added to the environment. */
  env: Record<string, string>;
  /** Standard output carries one JSON object: the command's goes to standard error. */
  json: boolean;
  /** The slots that the push completes. */
  slots?: Record<string, string>;
  keeping: Keeping;
  interrupt: Interrupt;
  say: Voice;
}

/** How it ended. */
export type Ran =
  | { how: "lost"; outcome: "lost" | "superseded"; beat: LostBeat; rescue?: Rescue }
  /** `code`: the command's, where it had begun. */
  | { how: "interrupted"; name: NodeJS.Signals; code?: number }
  | { how: "failed"; code: number }
  /** Another repository is pushed to, and its fence has a later token. The command was not run. */
  | { how: "late"; why: string }
  /** Another repository is pushed to, and it has this content of the draft already. The command was not run. */
  | { how: "known"; published: Record<string, string> }
  /** The command succeeded, and no push was asked for. */
  | { how: "done" }
  | { how: "published"; result: PushResult; code: number; text: string };

export async function work(task: Work): Promise<Ran> {
  const { place, branch, keeping, interrupt, say } = task;
  const { clock } = place.ports;
  const start =
    branch === undefined ? undefined : await commitOf(place.folder, "HEAD").catch(() => undefined);
  const env = { ...process.env, ...task.env };
  // Until here a signal had nobody to go to.
  if (interrupt.name !== undefined) {
    say.warn(`${interrupt.name} was received: the command is not run`);
    return { how: "interrupted", name: interrupt.name };
  }
  const command = startCommand({
    command: task.command,
    cwd: place.folder,
    env,
    outputAside: task.json,
    clock,
    complain: (text) => say.bad(text),
  });
  interrupt.forward = (name) => command.signal(name);
  const code = await outlive(command, keeping.lost, clock);
  interrupt.forward = undefined;
  if (typeof code !== "number") {
    say.bad(`lost: ${code.detail}; ending the command`);
    await command.end();
    return loss(code, task, start);
  }
  if (interrupt.name !== undefined) {
    say.warn(`${interrupt.name} was received: the command ended with exit code ${code}, nothing is pushed`);
    return { how: "interrupted", name: interrupt.name, code };
  }
  if (code !== 0) {
    say.bad(`the command failed with exit code ${code}${branch === undefined ? "" : "; nothing is pushed"}`);
    return { how: "failed", code };
  }
  if (branch === undefined) return { how: "done" };
  const draft = keeping.draft();
  const earlier = draft ? await publishedEarlier(place.ports.store, draft) : null;
  const [first, ...more] = earlier ? keeping.rest() : keeping.fences(task.slots);
  if (first === undefined) {
    say.warn(
      "the draft was published by a push from inside the command; what was committed after it is not pushed",
    );
    return { how: "done" };
  }
  const publication: Publication = {
    fences: [first, ...more],
    branch,
    head: await commitOf(place.folder, "HEAD"),
    further: await resolveRefs(place.folder, namedRefs(task.push, place.prefix)),
    replaces: task.replaces,
    attempts: task.push.attempts,
    onMoved: regenerating(task.push.onMoved, task.command, env, task.json),
    interrupt: interrupt.signal,
  };
  const result = await publish(place, publication, say);
  if (result.outcome === "pushed") keeping.wrote(result.written);
  const told = report(result, publication, place);
  tell(result, told.text, say);
  return { how: "published", result, ...told };
}

/** The command's exit code, or the beat by which the lease was lost before the command ended. */
async function outlive(command: Command, lost: Promise<LostBeat>, clock: Clock): Promise<number | LostBeat> {
  const first = await Promise.race([command.done, lost]);
  if (typeof first === "number") return first;
  // After a pause both are true at once. Then the fence decides about the finished work, not our doubt.
  const late = await Promise.race([command.done, clock.sleep(50).then(() => undefined)]);
  return late ?? first;
}

/** What was held is lost. The command has ended; what it committed is kept for people. */
async function loss(beat: LostBeat, task: Work, start: string | undefined): Promise<Ran> {
  const { place, branch, keeping, say } = task;
  const outcome = beat.why === "doubt" ? "lost" : "superseded";
  let rescue: Rescue | undefined;
  const head = branch === undefined ? undefined : await commitOf(place.folder, "HEAD").catch(() => undefined);
  const named = namedRefs(task.push, place.prefix);
  const further = head === undefined ? [] : await newRefs(place.folder, named, start).catch(() => []);
  if (branch !== undefined && head !== undefined && (head !== start || further.length > 0)) {
    const publication: Publication = {
      fences: keeping.fences(),
      branch,
      head,
      further,
      attempts: 1,
      onMoved: { how: "fail" },
      interrupt: task.interrupt.signal,
    };
    rescue = await keepCommits(requestOf(place, publication, say), start ?? null);
  }
  const nothing = branch === undefined ? "" : " Nothing was pushed.";
  say.bad(
    `${outcome}: ${beat.detail}. The command was ended.${nothing}${rescue ? ` ${describeRescue(rescue)}` : ""}`,
  );
  return { how: "lost", outcome, beat, ...(rescue ? { rescue } : {}) };
}
