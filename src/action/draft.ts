// One draft for a job, claimed at the tip of its branch as it is now.
import { type Claimed, type ClaimResult, claimOnStore } from "../draft/claim.js";
import { describeStanding, nextTry } from "../draft/describe.js";
import { findDrafts } from "../draft/find.js";
import { type PrivateRepository, privateRepository } from "../git/private.js";
import type { Ports } from "../lease/lease.js";
import type { Claim } from "../protocol/claim.js";
import { defaultSkew } from "../protocol/lease.js";
import { quote } from "../protocol/names.js";
import { cure } from "./draft-end.js";
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
