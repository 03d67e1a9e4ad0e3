// A destination that is not the lease's own repository: sealed before the job reads it, with a fence of its own.
import type { Fence } from "../gate/fence.js";
import { type HeldToken, heldHere, type Sealed, sealAll, tokensFor } from "../gate/foreign.js";
import type { Ports } from "../lease/lease.js";
import { type DraftHolding, defaultMaxAttempts } from "../protocol/draft.js";
import { quote } from "../protocol/names.js";
import type { Instant } from "../protocol/record.js";
import { gitStore } from "../store/git.js";
import { StoreMisconfigured, StoreRefused } from "../store/store.js";
import type { Taken } from "./announce.js";
import { settleDraft } from "./draft-end.js";
import type { Idle } from "./idle.js";
import type { LeaseInputs } from "./lease-inputs.js";
import { chance, clock, lendToken } from "./place.js";
import type { Workflow } from "./workflow.js";

export interface Destination {
  /** `owner/name` */
  repository: string;
  prefix: string;
  /** May write there. */
  token: string;
}

/**
 * Seals the destination's fences, by git, so that it costs no request of the API.
 * @returns null, or the first fence that could not be sealed.
 * @throws Error with a sentence for people.
 */
export async function sealThere(
  workflow: Workflow,
  { repository, prefix, token }: Destination,
  held: readonly HeldToken[],
): Promise<Exclude<Sealed, { outcome: "sealed" }> | null> {
  const remote = lendToken(workflow.env, repository, token, null);
  const store = gitStore({ remote, prefix, clock, chance });
  try {
    workflow.info(`Sealing the fence of ${repository} …`);
    return await sealAll({ store, clock, chance }, held, { signal: AbortSignal.timeout(60_000) });
  } catch (error) {
    if (!(error instanceof StoreRefused || error instanceof StoreMisconfigured)) throw error;
    const advice = `A job's GITHUB_TOKEN reaches the repository of its workflow only: give the input "push-token" a token that may write contents in ${repository}.`;
    throw new Error(`${error.message} ${advice}`);
  } finally {
    await store.close();
  }
}

/**
 * Seals the destination for what the main step has taken. A draft that cannot be published there has failed.
 * @returns null, or why there is nothing to do.
 */
export async function sealTaken(
  workflow: Workflow,
  inputs: LeaseInputs,
  ports: Ports,
  { lease, draft, now }: Taken,
): Promise<{ idle: Idle; now: Instant } | null> {
  const { destination: repository, refPrefix: prefix } = inputs;
  if (repository === undefined) return null;
  const token = workflow.input("push-token") || inputs.token;
  const holding = draft?.holding;
  let late = false;
  try {
    const held = tokensFor(lease?.holding, holding);
    const stopped = await sealThere(workflow, { repository, prefix, token }, held);
    if (stopped === null) return null;
    late = stopped.outcome === "superseded";
    if (stopped.outcome === "superseded") throw new Error(`superseded: ${stopped.why}.`);
    if (holding) await notePublished(workflow, ports, holding, stopped.published);
    const why = `the draft ${quote(holding?.draft ?? "")}: ${knownWords(repository, stopped)}`;
    return { idle: { outcome: "not_pending", why }, now };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const maxAttempts = inputs.draft?.maxAttempts ?? defaultMaxAttempts;
    if (holding)
      await settleDraft(
        workflow,
        ports,
        holding,
        { result: late ? "lost" : "failed", reason },
        { maxAttempts, now },
      );
    throw error;
  }
}

/** Seals for a push in the middle of a job. What is held, or why nothing is pushed. */
export async function reachThere(
  workflow: Workflow,
  ports: Ports,
  own: readonly Fence[],
  there: Destination,
) {
  const here = await heldHere(ports.store, own, { signal: AbortSignal.timeout(60_000) });
  if ("why" in here) return { outcome: "superseded", why: here.why } as const;
  const stopped = await sealThere(workflow, there, here.held);
  if (stopped === null) return { outcome: "sealed", ...here } as const;
  if (stopped.outcome === "superseded") return { outcome: "superseded", why: `${stopped.why}.` } as const;
  if (here.draft) await notePublished(workflow, ports, here.draft, stopped.published);
  return { outcome: "unchanged", why: `${knownWords(there.repository, stopped)}.` } as const;
}

/** The draft's record is in another repository than the push, so that it takes a write of its own. */
export async function notePublished(
  workflow: Workflow,
  ports: Ports,
  draft: DraftHolding,
  published: Record<string, string>,
) {
  // The last attempt cannot count here: what was published is not tried again.
  const limits = { maxAttempts: 1, now: clock.read().wall };
  return settleDraft(workflow, ports, draft, { result: "published", published }, limits);
}

export function knownWords(repository: string, { seen }: Extract<Sealed, { outcome: "published" }>): string {
  return `${repository} has this content of the draft already, from token ${seen.record.accepted?.token}`;
}
