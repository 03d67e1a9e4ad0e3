// Drafts in words: where one stands, by whom, until when, why.
import { describeClaim } from "../protocol/claim.js";
import type { SeenDraft } from "../protocol/draft.js";
import { formatDuration } from "../protocol/duration.js";
import type { Instant } from "../protocol/record.js";
import { draftExpiresAt, type Standing } from "../protocol/standing.js";

/** `held by octo/blog run 12.1 (write), token 3, attempt 2, expires in 12m`. */
export function describeDraft(seen: SeenDraft, now: Instant): string {
  const { record } = seen;
  const attempts = `token ${record.token}, attempt ${record.attempts}`;
  const who = record.holder ? describeClaim(record.holder) : "nobody";
  switch (record.state) {
    case "held": {
      const left = draftExpiresAt(seen) - now;
      const end = left > 0 ? `expires in ${formatDuration(left)}` : `expired ${formatDuration(-left)} ago`;
      return `held by ${who}, ${attempts}, ${end}${record.holder?.url ? `, ${record.holder.url}` : ""}`;
    }
    case "published":
      return `published by ${who}, ${attempts}`;
    case "dead":
      return `dead after ${record.attempts} attempts: ${record.reason ?? "no reason given"}`;
    case "pending":
      return record.event === "started" ? "started by a sweep and not claimed yet" : `pending, ${attempts}`;
  }
}

/** Why a draft stands where it does, in a few words. */
export function describeStanding(standing: Standing, now: Instant): string {
  switch (standing.is) {
    case "ready":
      return {
        new: "never tried",
        edited: "edited since it was last tried",
        pending: "to be tried again",
        expired: "its holder's time ran out",
        finished: "its holder's run has finished",
        retried: "its holder was an earlier attempt of this run",
      }[standing.reason];
    case "unreadable":
      return standing.reason;
    case "not_pending":
      return "its file says that it is published";
    case "published":
    case "held":
    case "dead":
      return describeDraft(standing.seen, now);
    case "backing_off": {
      const { attempts, reason } = standing.seen.record;
      return `attempt ${attempts} failed: ${reason ?? "no reason given"}; again in ${formatDuration(standing.until - now)}`;
    }
    case "not_due":
      return standing.due === null
        ? "it has no due date, and one is required"
        : `due ${new Date(standing.due).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  }
}

/** When a draft will be tried next, if that is known. */
export function nextTry(standing: Standing): Instant | null {
  if (standing.is === "backing_off") return standing.until;
  if (standing.is === "held") return standing.expiresAt;
  return standing.is === "not_due" ? standing.due : null;
}
