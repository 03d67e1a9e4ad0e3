// One draft for a job: claimed at the tip of its branch, and settled by how the job ended.
import {
  type Claimed,
  type ClaimResult,
  claimOnStore,
  publishedByMe,
  readDraftOn,
  settleOnStore,
} from "../draft/claim.js";
import { describeDraft, describeStanding, nextTry } from "../draft/describe.js";
import { findDrafts } from "../draft/find.js";
import { type PrivateRepository, privateRepository } from "../git/private.js";
import type { Ports } from "../lease/lease.js";
import type { Claim } from "../protocol/claim.js";
import type { DraftHolding, DraftRecord } from "../protocol/draft.js";
import { formatDuration } from "../protocol/duration.js";
import { defaultSkew } from "../protocol/lease.js";
import { quote } from "../protocol/names.js";
import type { Instant } from "../protocol/record.js";
import type { AttemptResult } from "../protocol/settle.js";
import type { Finished } from "./finished.js";
import type { Idle } from "./idle.js";
import type { LeaseInputs } from "./lease-inputs.js";
import { clock, lendToken } from "./place.js";
import { conventionOf, type DraftInputs } from "./rules.js";
import type { Workflow } from "./workflow.js";

/** Claims the draft, if it is pending at the tip as it is now; the checkout does not count. */
export async function claimDraft(
  workflow: Workflow,
  inputs: LeaseInputs,
  draft: DraftInputs,
  ports: Ports,
  who: { claim: Claim; finished: Finished },
): Promise<ClaimResult> {
  const { repository, token, ttl } = inputs;
  const { path, branch, timezone, requireDue, maxAttempts } = draft;
  const remote = lendToken(workflow.env, repository, token, null);
  let opened: PrivateRepository | undefined;
  try {
    return await claimOnStore(ports, {
      ...who,
      draft: path,
      ttl,
      skew: defaultSkew(ttl),
      maxAttempts,
      requireDue,
      look: async () => {
        opened ??= await privateRepository(remote, null);
        const { drafts, tip } = await findDrafts(opened, {
          where: repository,
          branch,
          paths: path,
          convention: conventionOf(draft),
          timezone: timezone || undefined,
          youngerThan: null,
          now: clock.read().wall,
        });
        return { draft: drafts[0] ?? null, tip };
      },
    });
  } finally {
    await opened?.remove();
  }
}

/** What a claim that was refused means for the run. @throws Error for a draft that cannot be read. */
export function idleDraft(draft: DraftInputs, refused: Exclude<ClaimResult, Claimed>): Idle {
  const branch = draft.branch.replace(/^refs\/heads\//, "");
  const name = `the draft ${quote(draft.path)}`;
  if (refused.outcome === "absent") {
    const what = refused.tip === null ? `there is no branch ${branch}` : `it is not at the tip of ${branch}`;
    return { outcome: "not_pending", why: `${name}: ${what}` };
  }
  const { standing, now } = refused;
  const words = describeStanding(standing, now);
  const why = `${name}: ${words}`;
  const at = nextTry(standing);
  const next = at === null ? {} : { next: at };
  switch (standing.is) {
    case "unreadable":
      throw new Error(
        `The draft ${quote(draft.path)} cannot be read: ${words}. Correct its front matter on ${branch}.`,
      );
    case "held":
      return {
        outcome: "skipped_overlap",
        why,
        holder: standing.seen.record.holder,
        held: standing.seen.record.token,
        ...next,
      };
    case "not_due":
      return { outcome: "nothing_due", why, ...next };
    case "published":
    case "not_pending":
      return { outcome: "not_pending", why };
    case "backing_off":
      return { outcome: "backing_off", why, ...next };
    case "dead":
      return { outcome: "dead", why: `${why}. ${cure(draft.path)}` };
  }
}

/** What a draft has become, and in words. */
export interface DraftEnd {
  state: "published" | "pending" | "dead" | "lost";
  reason?: string | undefined;
  /** ISO 8601. */
  next?: string | undefined;
}

/** The record of a draft that this job has published already, with a push in its middle. */
export async function publishedEarlier(ports: Ports, holding: DraftHolding): Promise<DraftRecord | null> {
  const options = { signal: AbortSignal.timeout(30_000) };
  // Who cannot read it pushes, and the fence decides.
  const seen = await readDraftOn(ports.store, holding.draft, options).catch(() => null);
  return seen && publishedByMe(seen.record, holding) ? seen.record : null;
}

/** Ends the attempt on record, if it is still mine, and says so. A store that fails then leaves it to expiry. */
export async function settleDraft(
  workflow: Workflow,
  ports: Ports,
  holding: DraftHolding,
  attempt: AttemptResult,
  { maxAttempts, now }: { maxAttempts: number; now: Instant },
): Promise<DraftEnd> {
  const name = quote(holding.draft);
  try {
    const signal = AbortSignal.timeout(60_000);
    const settled = await settleOnStore(ports, holding, attempt, { maxAttempts, now, signal });
    const { record } = settled;
    if (settled.outcome === "not-mine") {
      if (publishedByMe(record, holding)) return { state: "published" };
      const is = record ? `: it is ${describeDraft({ ...holding, record, writtenAt: now }, now)}` : "";
      workflow.warning(
        `Token ${holding.token} no longer holds the draft ${name}${is}. Nothing was written to it.`,
      );
      return { state: "lost" };
    }
    return said(workflow, name, settled.record);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    workflow.warning(
      `The end of the attempt at the draft ${name} could not be written (${why}). It is free when this run has finished, or at the latest ${formatDuration(holding.record.ttl ?? 0)} after the last renewal.`,
    );
    return { state: "lost" };
  }
}

function said(workflow: Workflow, name: string, record: DraftRecord): DraftEnd {
  const { reason, notBefore, attempts } = record;
  if (record.state === "published") {
    workflow.info(`published: the draft ${name}.`);
    return { state: "published" };
  }
  if (record.state === "dead") {
    workflow.warning(
      `dead: the draft ${name} is set aside after ${attempts} attempts (${reason}). ${cure(record.name)}`,
    );
    return { state: "dead", reason };
  }
  workflow.info(
    `pending: the draft ${name} is to be tried again${notBefore ? ` after ${notBefore}` : ""} (attempt ${attempts}: ${reason}).`,
  );
  return { state: "pending", reason, next: notBefore };
}

function cure(path: string): string {
  const word = /^[\w./][\w./-]*$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
  return `Edit it, or bring it back: fencepost redrive ${word} --reason "what was repaired"`;
}
