// Works the drafts that a sweep started, one after the other, each in a checkout and under a claim of its own.

import type { Claimed } from "../draft/claim.js";
import type { Swept } from "../draft/sweep.js";
import { type Checkout, checkOut } from "../git/worktree.js";
import { claimOf } from "../lease/identity.js";
import { quote } from "../protocol/names.js";
import { attemptOf, claimDraftAt, type DraftEnd, refusalOf, settleDraftOf } from "./draft.js";
import type { Finder, Rules } from "./draft-rules.js";
import { explain } from "./exit.js";
import type { Interrupt } from "./interrupt.js";
import { keep } from "./keeping.js";
import type { PushOptions } from "./options.js";
import type { Place } from "./place.js";
import type { Voice } from "./speak.js";
import { type Ran, work } from "./work.js";

export interface SweepTask {
  words: string[];
  options: PushOptions & { ttl: number; skew?: number; heartbeat: boolean; json: boolean; store?: string };
  place: Place;
  rules: Rules;
  /** Full refs: where commits go, and whose tip says what is pending. */
  push: string;
  branch: string;
  finder: Finder;
  interrupt: Interrupt;
  say: Voice;
}

export interface Worked {
  draft: string;
  /** `skipped`: somebody else has it, or has done it. `failed`: it could not even be tried. */
  state: DraftEnd | "skipped" | "failed";
  why?: string;
}

/** One broken draft never stops the others; only a signal does. */
export async function workDrafts(task: SweepTask, { started }: Pick<Swept, "started">): Promise<Worked[]> {
  const worked: Worked[] = [];
  for (const { path } of started) {
    if (task.interrupt.name !== undefined) break;
    worked.push(
      await workDraft(task, path).catch((error): Worked => {
        const why = explain(error).message;
        task.say.bad(`${quote(path)} could not be worked on: ${why}`);
        return { draft: path, state: "failed", why };
      }),
    );
  }
  return worked;
}

async function workDraft(task: SweepTask, path: string): Promise<Worked> {
  const { place, options, rules, say } = task;
  const claim = claimOf(process.env, place.ports.chance);
  const { ttl, skew } = options;
  const claimed = await claimDraftAt(place, { ...task, draft: path, claim, ttl, skew }, say);
  if (claimed.outcome !== "acquired") {
    const { outcome, why } = refusalOf(path, claimed, task.branch);
    say.warn(`${outcome}: the draft ${quote(path)}: ${why}`);
    return { draft: path, state: "skipped", why: `${outcome}: ${why}` };
  }
  const keeping = keep(place, { draft: claimed }, options.heartbeat, say);
  let ran: Ran | { how: "broken"; why: string };
  try {
    ran = await inCheckout(task, claimed, keeping);
  } catch (error) {
    const why = explain(error).message;
    say.bad(why);
    ran = { how: "broken", why };
  } finally {
    await keeping.stop();
  }
  const result = attemptOf(ran);
  const state = await settleDraftOf(place, keeping.draft() ?? claimed.holding, result, rules, say);
  const why = result && "reason" in result ? result.reason : result?.result;
  return { draft: path, state, ...(state === "published" || why === undefined ? {} : { why }) };
}

async function inCheckout(task: SweepTask, claimed: Claimed, keeping: ReturnType<typeof keep>): Promise<Ran> {
  const { place, options, finder, push, branch, interrupt, say } = task;
  const { holding, tip } = claimed;
  let checkout: Checkout | undefined;
  try {
    checkout = await checkOut(await finder.repository(), branch, tip, place.clone?.config ?? []);
    return await work({
      command: task.words,
      place: { ...place, folder: checkout.folder, clone: checkout.clone },
      branch: push,
      push: options,
      env: {
        ...checkout.env,
        FENCEPOST_LEASE: "",
        FENCEPOST_TOKEN: String(holding.token),
        FENCEPOST_CLAIM: holding.claim.id,
        FENCEPOST_REF_PREFIX: place.prefix,
        FENCEPOST_DRAFT: holding.draft,
        FENCEPOST_DRAFT_TOKEN: String(holding.token),
        FENCEPOST_CLONE: place.folder,
        ...(options.store === undefined ? {} : { FENCEPOST_STORE: options.store }),
      },
      json: options.json,
      keeping,
      interrupt,
      say,
    });
  } finally {
    await checkout?.remove();
  }
}
