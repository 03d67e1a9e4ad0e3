// Where a draft stands: the one verdict that claims and sweeps share.
import { type Claim, isEarlierAttempt } from "./claim.js";
import type { DraftReading } from "./conventions/convention.js";
import type { SeenDraft } from "./draft.js";
import type { Instant, Oid } from "./record.js";

/** What a verdict on a draft rests on. */
export interface View {
  /** The draft's blob at the tip of the branch. */
  blob: Oid;
  /** What its front matter says. */
  reading: DraftReading;
  /** The store's time of the read. */
  now: Instant;
  /** Milliseconds by which the clock that stamped the record may differ from `now`'s. 0 where the store stamps. */
  skew: number;
  /** Claims of the same content before it is dead; 1 or more. */
  maxAttempts: number;
  /** Without a due date a draft is not due, rather than due now. */
  requireDue?: boolean;
  /** The holder's run is known to have finished. */
  holderFinished?: boolean;
  /** How long this process itself has seen the same tip of the record, by its monotonic clock. Milliseconds. */
  unchangedFor?: number;
  /** Who asks: an earlier attempt of the same run has finished by definition. */
  challenger?: Claim;
}

/** Why a draft may be worked on. The last three: its holder lost it. */
export type ReadyReason = "new" | "edited" | "pending" | "expired" | "finished" | "retried";

export type Standing =
  | { is: "ready"; reason: ReadyReason }
  | { is: "unreadable"; reason: string }
  /** Its front matter says so. */
  | { is: "not_pending" }
  /** Its record says that this very content was published. */
  | { is: "published"; seen: SeenDraft }
  | { is: "held"; seen: SeenDraft; expiresAt: Instant }
  /** `recorded` is false where its attempts are used up and nobody has written so yet. */
  | { is: "dead"; seen: SeenDraft; recorded: boolean }
  | { is: "backing_off"; seen: SeenDraft; until: Instant }
  /** `due` is null where a due date is required and missing. */
  | { is: "not_due"; due: Instant | null };

/** The verdict on one draft, from its file and its record. */
export function draftStanding(seen: SeenDraft | null, view: View): Standing {
  const { reading } = view;
  if (reading.state === "unreadable") return { is: "unreadable", reason: reading.reason };
  if (reading.state === "not_pending") return { is: "not_pending" };
  const lost = seen?.record.state === "held" ? lostBecause(seen, view) : undefined;
  if (seen !== null && lost === null) return { is: "held", seen, expiresAt: draftExpiresAt(seen) };
  const same = seen !== null && seen.record.fingerprint === view.blob;
  if (same) {
    const { state, attempts, notBefore } = seen.record;
    if (state === "published") return { is: "published", seen };
    if (state === "dead") return { is: "dead", seen, recorded: true };
    if (attempts >= view.maxAttempts) return { is: "dead", seen, recorded: false };
    const until = notBefore === undefined ? 0 : Date.parse(notBefore);
    if (until > view.now) return { is: "backing_off", seen, until };
  }
  if (reading.due === null ? view.requireDue === true : reading.due > view.now)
    return { is: "not_due", due: reading.due };
  return { is: "ready", reason: lost ?? (seen === null ? "new" : same ? "pending" : "edited") };
}

/** Why a held draft is free again, or null while it is not. The rules are those of a lease. */
function lostBecause(seen: SeenDraft, view: View): "expired" | "finished" | "retried" | null {
  const { holder, ttl } = seen.record;
  if (view.holderFinished === true) return "finished";
  if (holder && view.challenger && isEarlierAttempt(holder, view.challenger)) return "retried";
  if (ttl !== undefined && (view.unchangedFor ?? 0) >= ttl) return "expired";
  return view.now >= draftExpiresAt(seen) + view.skew ? "expired" : null;
}

/** Whether a sweep started this content less than `staleAfter` milliseconds ago, and no run has claimed it since. */
export function isStarting(
  seen: SeenDraft | null,
  view: Pick<View, "blob" | "now">,
  staleAfter: number,
): boolean {
  return (
    seen !== null &&
    seen.record.event === "started" &&
    seen.record.fingerprint === view.blob &&
    view.now < seen.writtenAt + staleAfter
  );
}

/** When a held draft is free without renewal, on the clock that stamped it. */
export function draftExpiresAt(seen: SeenDraft): Instant {
  return seen.writtenAt + (seen.record.ttl ?? 0);
}
