// The course of a run: the lease, the draft, the command once or slot by slot, and the end of each in reverse.
import { constants } from "node:os";
import { sealAll } from "../gate/foreign.js";
import { readOne, succeedLease } from "../lease/lease.js";
import { limit } from "../limit.js";
import type { Claim } from "../protocol/claim.js";
import type { Holding } from "../protocol/lease.js";
import { abandonLease, undone } from "./abandon.js";
import { attemptOf, claimDraftAt, refusalOf, settleDraftOf } from "./draft.js";
import type { Finder, Rules } from "./draft-rules.js";
import { exit, explain } from "./exit.js";
import type { Interrupt } from "./interrupt.js";
import { type Held, type Keeping, keep } from "./keeping.js";
import type { PushOptions } from "./options.js";
import { count } from "./overlap.js";
import type { Place } from "./place.js";
import { pushJson } from "./publish.js";
import { doneSlot, planSlots, type Slots } from "./slots.js";
import type { Voice } from "./speak.js";
import { release, skipped, take, tipOf } from "./take.js";
import { type Ran, type Work, work } from "./work.js";

/** What a run ends with: its exit code and the object for `--json`. */
export interface Ending {
  code: number;
  body: { outcome: string; [field: string]: unknown };
}

/** Everything that a run needs, read and checked before anything is written. */
export interface Job {
  words: string[];
  options: PushOptions & {
    ttl: number;
    wait: number;
    skew?: number;
    replace: boolean;
    heartbeat: boolean;
    json: boolean;
    store?: string;
    remote?: string;
  };
  place: Place;
  claim: Claim;
  lease: string | undefined;
  /** A full ref, where a push is asked for. */
  push: string | undefined;
  draft: { path: string; branch: string; rules: Rules; finder: Finder } | undefined;
  slots: Slots | undefined;
  interrupt: Interrupt;
  say: Voice;
}

/** The whole of it. What was taken is given back, whatever happens. */
export async function underLease(job: Job): Promise<Ending> {
  const { lease, slots, place, say, options } = job;
  if (lease === undefined) return underDraft(job, {});
  if (slots) {
    const seen = await readOne(place.ports.store, lease);
    const now = place.ports.clock.read().wall;
    if (planSlots(slots, seen?.record, now).nothingDue) return nothingDue(slots, say);
  }
  const giveBack = () => abandonLease(place, lease, job.claim);
  const acquired = await undone(job.interrupt, take(job, lease), giveBack);
  if (acquired.outcome !== "acquired") {
    const { seen, now, also } = acquired;
    const ending = skipped(acquired, say);
    await count(place, { name: lease, token: seen.record.token, now, seen: also[0] }, say);
    return ending;
  }
  let keeping: Keeping | undefined;
  const last = { lease: (): Holding => keeping?.lease() ?? acquired.holding, superseded: false };
  try {
    const start = (held: Held) => {
      keeping = keep(place, held, options.heartbeat, say);
      return keeping;
    };
    const ending = await underDraft(job, { lease: acquired }, start);
    // With a draft it may be the draft that was taken over, and the lease still be ours.
    last.superseded =
      ending.body.outcome === "superseded" && job.draft === undefined && place.destination === null;
    return ending;
  } finally {
    await keeping?.stop();
    if (!last.superseded) await release(place, last.lease(), say);
  }
}

async function underDraft(job: Job, held: Held, start?: (held: Held) => Keeping): Promise<Ending> {
  const { draft, place, say, options, interrupt } = job;
  const begin = start ?? ((all: Held) => keep(place, all, options.heartbeat, say));
  if (draft === undefined) return underWork(job, begin(held));
  const { path, branch, rules } = draft;
  const task = { ...draft, draft: path, claim: job.claim, ttl: options.ttl, skew: options.skew, interrupt };
  const claimed = await claimDraftAt(place, task, say);
  if (claimed.outcome !== "acquired") {
    const { code, ...body } = refusalOf(path, claimed, branch);
    say.warn(`${body.outcome}: the draft ${JSON.stringify(path)}: ${body.why}. The command was not run.`);
    return { code, body };
  }
  const keeping = begin({ ...held, draft: claimed });
  let ran: Ran | { how: "broken"; why: string } = { how: "broken", why: "the run itself failed" };
  const ending = await underWork(job, keeping, (how) => {
    ran = how;
  }).catch((error) => {
    ran = { how: "broken", why: explain(error).message };
    return error as Error;
  });
  await keeping.stop();
  const state = await settleDraftOf(place, keeping.draft() ?? claimed.holding, attemptOf(ran), rules, say);
  if (ending instanceof Error) throw ending;
  const code = ending.body.outcome === "unchanged" && state !== "published" ? exit.failed : ending.code;
  return { code, body: { ...ending.body, attempt: claimed.attempt, state } };
}

async function underWork(job: Job, keeping: Keeping, tell?: (ran: Ran) => void): Promise<Ending> {
  const { options, place, push, slots, say } = job;
  const base = { token: keeping.token, holder: job.claim };
  const stopped = await sealed(job, keeping);
  if (stopped) {
    tell?.(stopped);
    return endingOf(stopped, base);
  }
  const replaces = push !== undefined && options.replace ? await tipOf(place, push) : undefined;
  const task: Work = {
    command: job.words,
    place,
    branch: push,
    replaces,
    push: options,
    env: environmentOf(job, keeping),
    json: options.json,
    keeping,
    interrupt: job.interrupt,
    say,
  };
  if (slots) return eachSlot(job, slots, keeping, task, base);
  const ran = await work(task);
  tell?.(ran);
  return endingOf(ran, base);
}

/** Seals the fences of another repository, before anything there is read. Null, or why the command is not run. */
async function sealed({ place, say, interrupt }: Job, { tokens }: Keeping): Promise<Ran | null> {
  if (place.destination === null) return null;
  const { remote, ports } = place.destination;
  const found = await say.during(
    `still sealing ${remote.label}`,
    sealAll(ports, tokens, { signal: limit(60_000, interrupt.signal) }),
  );
  if (found === null) return null;
  if (found.outcome === "superseded") {
    say.bad(`superseded: ${found.why}. The command was not run.`);
    return { how: "late", why: found.why };
  }
  say.warn(
    `not_pending: ${remote.label} has this content of the draft already, from token ${found.seen.record.accepted?.token}. The command was not run.`,
  );
  return { how: "known", published: found.published };
}

/** The slots one after the other; the first that does not succeed ends it, and those after it stay due. */
async function eachSlot(
  job: Job,
  slots: Slots,
  keeping: Keeping,
  task: Work,
  base: Record<string, unknown>,
): Promise<Ending> {
  const { place, say } = job;
  // Somebody may have done them between the first look and the lease.
  const plan = planSlots(slots, keeping.lease()?.record, place.ports.clock.read().wall);
  if (plan.nothingDue) return nothingDue(slots, say);
  const { due, dropped } = plan;
  if (dropped > 0)
    say.warn(`${due} slots were due; the newest ${plan.run.length} run, and ${dropped} are dropped`);
  const done: string[] = [];
  let ending: Ending = nothingDue(slots, say, true);
  for (const { key, at } of plan.run) {
    say.say(`slot ${key}`);
    const success = doneSlot(slots, at);
    const ran = await work({ ...task, env: { ...task.env, FENCEPOST_SLOT: key }, slots: success });
    ending = endingOf(ran, base);
    if (ending.code !== exit.ok || ran.how === "lost") break;
    const written = ran.how === "published" && ran.result.outcome === "pushed" && place.destination === null;
    const holding = keeping.lease();
    if (!written && holding) {
      const noted = await succeedLease(place.ports, holding, "renewed", { slots: success });
      if (noted.outcome === "not-mine") {
        say.bad(
          `superseded: slot ${key} ran, and could not be noted as done, since the lease is no longer ours`,
        );
        ending = { code: exit.superseded, body: { ...ending.body, outcome: "superseded" } };
        break;
      }
    }
    done.push(key);
  }
  const left = plan.run.slice(done.length).map(({ key }) => key);
  return { code: ending.code, body: { ...ending.body, slots: done, left, due, dropped } };
}

function nothingDue({ schedule }: Slots, say: Voice, quiet = false): Ending {
  if (!quiet)
    say.say(
      `nothing_due: every slot of ${schedule.expression} (${schedule.timezone}) so far is done. The command was not run.`,
    );
  return { code: exit.ok, body: { outcome: "nothing_due", slots: [], left: [], due: 0, dropped: 0 } };
}

function endingOf(ran: Ran, base: Record<string, unknown>): Ending {
  switch (ran.how) {
    case "lost": {
      const kept = ran.rescue ? { rescue: ran.rescue } : {};
      const body = { outcome: ran.outcome, why: ran.beat.detail, token: base.token, ...kept };
      return { code: exit[ran.outcome], body };
    }
    case "interrupted": {
      const ended = ran.code === undefined ? {} : { commandExit: ran.code };
      const body = { outcome: "acquired", ...base, ...ended, signal: ran.name };
      return { code: 128 + constants.signals[ran.name], body };
    }
    case "late":
      return { code: exit.superseded, body: { outcome: "superseded", why: ran.why, token: base.token } };
    case "known": {
      const why = "the destination has this content of the draft already";
      return { code: exit.ok, body: { outcome: "not_pending", why, published: ran.published } };
    }
    case "failed":
      return { code: ran.code, body: { outcome: "acquired", ...base, commandExit: ran.code } };
    case "done":
      return { code: exit.ok, body: { outcome: "acquired", ...base, commandExit: 0 } };
    case "published":
      return { code: ran.code, body: { ...base, commandExit: 0, ...pushJson(ran.result) } };
  }
}

function environmentOf({ lease, place, claim, options }: Job, keeping: Keeping): Record<string, string> {
  const draft = keeping.draft();
  return {
    // Empty rather than inherited from a run around this one.
    FENCEPOST_LEASE: lease ?? "",
    FENCEPOST_TOKEN: String(keeping.token),
    FENCEPOST_CLAIM: claim.id,
    FENCEPOST_REF_PREFIX: place.prefix,
    FENCEPOST_DRAFT: draft?.draft ?? "",
    FENCEPOST_DRAFT_TOKEN: draft ? String(draft.token) : "",
    FENCEPOST_REMOTE: place.destination === null ? "" : (options.remote ?? ""),
    ...(options.store === undefined ? {} : { FENCEPOST_STORE: options.store }),
  };
}
