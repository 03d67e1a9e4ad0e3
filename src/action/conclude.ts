// How a job ended for what it held: pushed, kept, or nothing; and what that makes of its draft's attempt.

import { publishedEarlier } from "../draft/claim.js";
import { draftFence, type Fence, leaseFence, pushedDraft, pushedHolding } from "../gate/fence.js";
import { acceptedIn, destinationFences, tokensFor } from "../gate/foreign.js";
import type { PushResult } from "../gate/push.js";
import { describeRescue, type Rescue } from "../gate/rescue.js";
import { redact } from "../git/program.js";
import type { Ports } from "../lease/lease.js";
import type { DraftRecord } from "../protocol/draft.js";
import { quote } from "../protocol/names.js";
import type { Instant, Oid, Versioned } from "../protocol/record.js";
import type { AttemptResult } from "../protocol/settle.js";
import type { Happening } from "./happening.js";
import { type HeldState, readBeats, type Seen } from "./held.js";
import { chance, clock } from "./place.js";
import { commitOf, keep, lossWarning, type Publication, type Published, publish } from "./publish.js";
import type { Workflow } from "./workflow.js";

/** How a job ended for what it held. */
export interface Ending {
  happening: Happening;
  /** The same in a sentence, for the log. */
  text: string;
  published: Published | null;
  /** How the attempt at the draft ended. Null: a push has published it. */
  attempt: AttemptResult | null;
}

/** What becomes of the work: pushed, kept, or nothing. Whatever is in the way of a push, its commits are kept. */
export async function conclude(
  workflow: Workflow,
  held: HeldState,
  ports: Ports,
  token: string,
): Promise<Ending> {
  try {
    return await decide(workflow, held, ports, token);
  } catch (error) {
    const why = redact(error instanceof Error ? error.message : String(error));
    const { rescue, kept } = await keepWork(workflow, held, token);
    const happening: Happening = { outcome: "refused", why, sent: false, ...(rescue ? { rescue } : {}) };
    const text = `refused: ${why}${/[.!?]$/.test(why) ? "" : "."}${kept}`;
    return { happening, text, published: null, attempt: { result: "failed", reason: `refused: ${why}` } };
  }
}

async function decide(workflow: Workflow, held: HeldState, ports: Ports, token: string): Promise<Ending> {
  const status = workflow.input("job-status") || "success";
  const { lost } = await readBeats(held);
  if (lost) return lose(workflow, held, token, lost);
  const { push } = held.inputs;
  if (status !== "success") {
    const outcome = status === "cancelled" ? "cancelled" : "failed";
    const words = outcome === "failed" ? "the job failed" : "the job was cancelled";
    const text = `${words.replace("the", "The")}.${push ? " Nothing is pushed." : ""}`;
    return { happening: { outcome }, text, published: null, attempt: { result: outcome, reason: words } };
  }
  if (push === null) {
    const text = `The job ran under its ${held.holding ? "lease" : "draft"}.`;
    const attempt: AttemptResult = { result: "published", published: {} };
    return { happening: { outcome: "acquired" }, text, published: null, attempt };
  }
  const early = held.draft && (await publishedEarlier(ports.store, held.draft.holding));
  const fences = fencesOf(held, early === null);
  const [first, ...more] = fences;
  if (first === undefined) return pushedBefore(early as DraftRecord);
  const publication = publicationOf(workflow, held, token, push, [first, ...more]);
  const published = await publish(workflow, publication);
  const ending = endingOf(published, push.branch, held);
  return early ? { ...ending, attempt: null } : ending;
}

/** The fences of what is held. A draft that is published already is none any more. */
function fencesOf({ holding, draft, slots, inputs }: HeldState, withDraft = true): Fence[] {
  if (inputs.destination !== undefined)
    return destinationFences(tokensFor(holding, withDraft ? draft?.holding : null), chance);
  return [
    ...(holding ? [leaseFence(holding.lease, holding, chance, slots?.done)] : []),
    ...(draft && withDraft ? [draftFence(draft.holding.draft, draft.holding, chance)] : []),
  ];
}

/** A push in the middle of the job has published the draft, and there is no other fence for a second one. */
function pushedBefore(record: DraftRecord): Ending {
  return {
    happening: { outcome: "pushed", published: record.published ?? {} },
    text: `The draft ${quote(record.name)} was published by a push earlier in this job. What was committed after it is not pushed.`,
    published: null,
    attempt: null,
  };
}

function publicationOf(
  workflow: Workflow,
  held: HeldState,
  token: string,
  push: NonNullable<HeldState["inputs"]["push"]>,
  fences: Publication["fences"],
): Publication {
  const { inputs, replaces, storeNow, storeNowAt } = held;
  return {
    fences,
    repository: inputs.destination ?? inputs.repository,
    prefix: inputs.refPrefix,
    token,
    push: { ...push, pushToken: workflow.input("push-token") },
    replaces,
    storeNow,
    storeNowAt,
    // Post steps have less than five minutes together, and a rescue and the release come after it.
    limit: 180_000,
  };
}

async function lose(
  workflow: Workflow,
  held: HeldState,
  token: string,
  lost: NonNullable<Seen["lost"]>,
): Promise<Ending> {
  const outcome = lost.why === "doubt" ? "lost" : "superseded";
  const { rescue, kept } = await keepWork(workflow, held, token);
  const nothing = held.inputs.push ? " Nothing was pushed." : "";
  return {
    happening: { outcome, why: lost.detail, of: lost.of, ...(rescue ? { rescue } : {}) },
    text: `${outcome}: ${lost.detail}.${nothing}${kept}`,
    published: null,
    attempt: { result: "lost", reason: lost.detail },
  };
}

/** What the job committed, kept as well as can be, and where that is as a sentence behind others. */
async function keepWork(
  workflow: Workflow,
  held: HeldState,
  token: string,
): Promise<{ rescue: Rescue | null; kept: string }> {
  const { push, refPrefix } = held.inputs;
  const head = push && (await commitOf(push.directory, "HEAD").catch(() => null));
  if (push === null || head === null || head === held.start) return { rescue: null, kept: "" };
  const fences = fencesOf(held) as [Fence, ...Fence[]];
  const publication = publicationOf(workflow, held, token, push, fences);
  const rescue = await keep(workflow, publication, held.start).catch((error): Rescue => {
    const why = redact(error instanceof Error ? error.message : String(error));
    return { kept: "clone", commit: head, why };
  });
  const loss = lossWarning(workflow.env, refPrefix, rescue);
  return { rescue, kept: ` ${describeRescue(rescue)}${loss}` };
}

function endingOf(published: Published, branch: string, held: HeldState): Ending {
  const { result, text } = published;
  const happening = happeningOf(result, branch, held);
  return { happening, text, published, attempt: attemptOf(result) };
}

function happeningOf(result: PushResult, branch: string, held: HeldState): Happening {
  switch (result.outcome) {
    case "pushed": {
      return { outcome: "pushed", published: publishedIn(result.written) ?? { [branch]: result.commit } };
    }
    case "unchanged":
      return { outcome: "unchanged" };
    case "moved":
      return { outcome: "moved", why: result.why, rescue: result.rescue };
    case "superseded": {
      const { fence, rescue, seen } = result;
      const { of } = fence;
      if (of === "lease" && held.inputs.destination === undefined)
        return { outcome: "superseded", of, rescue };
      return { outcome: "superseded", of, why: fence.lost(seen, storeTime(held)), rescue };
    }
    case "refused":
      return { outcome: "refused", why: result.refusal.words, rescue: result.rescue };
    case "broken":
    case "unavailable":
      return { outcome: "refused", why: result.why, rescue: result.rescue };
  }
}

/** Ref by ref, what a push put there, by the records that moved with it. */
function publishedIn(written: readonly Versioned[]): Record<string, Oid> | undefined {
  const record = pushedHolding(written)?.record ?? pushedDraft(written);
  if (record) return record.published;
  const accepted = acceptedIn(written);
  return Object.keys(accepted).length > 0 ? accepted : undefined;
}

function attemptOf(result: PushResult): AttemptResult | null {
  switch (result.outcome) {
    case "pushed":
      // Where its own record moved with the push there is nothing left to write.
      return pushedDraft(result.written)
        ? null
        : { result: "published", published: acceptedIn(result.written) };
    case "unchanged":
      return { result: "unchanged" };
    case "superseded":
      return { result: "lost", reason: "it was superseded" };
    case "refused":
      return { result: "failed", reason: `refused: ${result.refusal.words}` };
    default:
      return { result: "failed", reason: `${result.outcome}: ${result.why}` };
  }
}

/** The store's time as it is now, by the time of the main step. */
export function storeTime(held: HeldState): Instant {
  return held.storeNow + (clock.read().monotonic - held.storeNowAt.monotonic);
}
