// One draft for a command: claimed at the tip of its branch, and settled by how the work ended.
import {
  type Claimed,
  type ClaimResult,
  claimOnStore,
  publishedByMe,
  settleOnStore,
} from "../draft/claim.js";
import { describeDraft, describeStanding, nextTry } from "../draft/describe.js";
import { pushedDraft } from "../gate/fence.js";
import { acceptedIn } from "../gate/foreign.js";
import type { Claim } from "../protocol/claim.js";
import type { DraftHolding } from "../protocol/draft.js";
import { formatDuration } from "../protocol/duration.js";
import { defaultSkew } from "../protocol/lease.js";
import { quote } from "../protocol/names.js";
import type { AttemptResult } from "../protocol/settle.js";
import { abandonDraft, undone } from "./abandon.js";
import type { Finder, Rules } from "./draft-rules.js";
import { ConfigurationError, exit, explain } from "./exit.js";
import type { Interrupt } from "./interrupt.js";
import { count } from "./overlap.js";
import type { Place } from "./place.js";
import type { Voice } from "./speak.js";
import type { Ran } from "./work.js";

export interface DraftTask {
  draft: string;
  claim: Claim;
  ttl: number;
  skew?: number | undefined;
  rules: Rules;
  finder: Finder;
  interrupt: Interrupt;
}

export async function claimDraftAt(place: Place, task: DraftTask, say: Voice): Promise<ClaimResult> {
  const { draft, claim, ttl, rules, interrupt } = task;
  const giveBack = () => {
    const reason = `${interrupt.name} was received`;
    return abandonDraft(place, draft, claim, { maxAttempts: rules.maxAttempts, reason });
  };
  const claiming = claimOnStore(place.ports, {
    draft,
    claim,
    ttl,
    skew: task.skew ?? defaultSkew(ttl),
    maxAttempts: rules.maxAttempts,
    requireDue: rules.requireDue,
    look: async () => {
      const { drafts, tip } = await task.finder.find(draft);
      return { draft: drafts[0] ?? null, tip };
    },
    signal: interrupt.signal,
  });
  const result = await undone(interrupt, claiming, giveBack);
  if (result.outcome === "acquired") {
    const { holding, attempt, reason } = result;
    const why = describeStanding({ is: "ready", reason }, result.now);
    say.good(
      `claimed the draft ${quote(draft)} with token ${holding.token}, attempt ${attempt} of ${rules.maxAttempts}, for ${formatDuration(ttl)} (${why})`,
    );
  }
  if (result.outcome === "refused" && result.standing.is === "held") {
    const { token } = result.standing.seen.record;
    await count(place, { name: draft, token, now: result.now }, say);
  }
  return result;
}

/** A refusal in the words of outcomes, for logs and JSON. A draft that cannot be read is an error of its own. */
export interface DraftRefusal {
  code: number;
  outcome: "skipped_overlap" | "nothing_due" | "not_pending" | "backing_off" | "dead";
  why: string;
  /** When it may be tried again, ISO 8601. */
  next?: string;
}

/** @throws ConfigurationError for a draft that cannot be read. */
export function refusalOf(
  draft: string,
  refused: Exclude<ClaimResult, Claimed>,
  branch: string,
): DraftRefusal {
  const short = branch.replace(/^refs\/heads\//, "");
  if (refused.outcome === "absent") {
    const why =
      refused.tip === null ? `the branch ${short} does not exist` : `it is not at the tip of ${short}`;
    return { code: exit.ok, outcome: "not_pending", why };
  }
  const { standing, now } = refused;
  const why = describeStanding(standing, now);
  const at = nextTry(standing);
  const next = at === null ? {} : { next: new Date(at).toISOString() };
  switch (standing.is) {
    case "unreadable":
      throw new ConfigurationError(
        `The draft ${quote(draft)} cannot be read: ${why}. Correct its front matter on ${short}.`,
      );
    case "held":
      return { code: exit.skipped_overlap, outcome: "skipped_overlap", why, ...next };
    case "not_due":
      return { code: exit.ok, outcome: "nothing_due", why, ...next };
    case "published":
    case "not_pending":
      return { code: exit.ok, outcome: "not_pending", why };
    case "backing_off":
    case "dead":
      return { code: exit.ok, outcome: standing.is, why, ...next };
  }
}

/** How the work ended for the draft. Null: the push itself has written it. */
export function attemptOf(ran: Ran | { how: "broken"; why: string }): AttemptResult | null {
  switch (ran.how) {
    case "done":
      return { result: "published", published: {} };
    case "failed":
      return { result: "failed", reason: `the command failed with exit code ${ran.code}` };
    case "broken":
      return { result: "failed", reason: ran.why };
    case "interrupted":
      return { result: "cancelled", reason: `${ran.name} was received` };
    case "lost":
      return { result: "lost", reason: ran.beat.detail };
    case "late":
      return { result: "lost", reason: ran.why };
    case "known":
      return { result: "published", published: ran.published };
    case "published": {
      const { result } = ran;
      if (result.outcome === "pushed")
        return pushedDraft(result.written)
          ? null
          : { result: "published", published: acceptedIn(result.written) };
      if (result.outcome === "unchanged") return { result: "unchanged" };
      if (result.outcome === "superseded") return { result: "lost", reason: "it was superseded" };
      const why = result.outcome === "refused" ? result.refusal.words : result.why;
      return { result: "failed", reason: `${result.outcome}: ${why}` };
    }
  }
}

/** What a draft has become. */
export type DraftEnd = "published" | "pending" | "dead" | "lost";

/** Ends the attempt on record, if it is still mine, and says so. A store that fails then leaves it to expiry. */
export async function settleDraftOf(
  place: Place,
  holding: DraftHolding,
  result: AttemptResult | null,
  rules: Pick<Rules, "maxAttempts" | "backoff">,
  say: Voice,
): Promise<DraftEnd> {
  const name = quote(holding.draft);
  if (result === null) return "published";
  try {
    const { maxAttempts, backoff } = rules;
    const signal = AbortSignal.timeout(60_000);
    const settled = await settleOnStore(place.ports, holding, result, { maxAttempts, backoff, signal });
    const { record } = settled;
    if (settled.outcome === "not-mine") {
      if (publishedByMe(record, holding)) return "published";
      const seen = record && { ...holding, record };
      const now = place.ports.clock.read().wall;
      say.warn(
        `token ${holding.token} no longer holds the draft ${name}${seen ? `: it is ${describeDraft(seen, now)}` : ""}. Nothing was written.`,
      );
      return "lost";
    }
    if (record?.state === "published") {
      say.good(`the draft ${name} is published`);
      return "published";
    }
    if (record?.state === "dead") {
      say.bad(
        `dead: the draft ${name} is set aside after ${record.attempts} attempts (${record.reason}). Edit it, or: fencepost redrive ${JSON.stringify(holding.draft)} --reason TEXT`,
      );
      return "dead";
    }
    const next = record?.notBefore ? `, again after ${record.notBefore}` : "";
    say.warn(`the draft ${name} is pending again (${record?.reason})${next}`);
    return "pending";
  } catch (error) {
    say.warn(
      `the end of the attempt at ${name} could not be written (${explain(error).message}); its claim ends by itself after ${formatDuration(holding.record.ttl ?? 0)}`,
    );
    return "lost";
  }
}
