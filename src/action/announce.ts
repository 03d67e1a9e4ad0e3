// What the main step tells the later steps, and the log: what is held, by whom, until when, and for which work.
import type { Claimed } from "../draft/claim.js";
import { describeStanding } from "../draft/describe.js";
import { runUrl } from "../lease/identity.js";
import type { Acquired } from "../lease/lease.js";
import { type Claim, describeClaim } from "../protocol/claim.js";
import type { Reading } from "../protocol/doubt.js";
import { formatDuration } from "../protocol/duration.js";
import { expiresAt, type SeenLease } from "../protocol/lease.js";
import { quote } from "../protocol/names.js";
import type { Instant } from "../protocol/record.js";
import { draftExpiresAt } from "../protocol/standing.js";
import { clockVariable } from "./held.js";
import type { HandedClaim } from "./inputs.js";
import type { LeaseInputs } from "./lease-inputs.js";
import { type SlotPlan, slotsJson } from "./slots.js";
import type { Workflow } from "./workflow.js";

/** What a run holds when its work begins: a lease, a draft, or both. */
export interface Taken {
  claim: Claim;
  /** Of the lease, if there is one. */
  token: number;
  sentAt: Reading;
  /** The store's time. */
  now: Instant;
  lease: Acquired | null;
  draft: Claimed | null;
  slots: SlotPlan | null;
}

export function announce(workflow: Workflow, inputs: LeaseInputs, taken: Taken): void {
  const { claim, token, lease, draft, slots, now, sentAt } = taken;
  const ends = [
    ...(lease ? [expiresAt(lease.holding)] : []),
    ...(draft ? [draftExpiresAt(draft.holding)] : []),
  ];
  const handed: HandedClaim = {
    lease: inputs.lease ?? "",
    token,
    id: claim.id,
    repository: inputs.repository,
    prefix: inputs.refPrefix,
    ...(inputs.destination ? { destination: inputs.destination } : {}),
    ...(draft ? { draft: { path: draft.holding.draft, token: draft.holding.token } } : {}),
  };
  for (const [name, value] of Object.entries({
    acquired: "true",
    outcome: "acquired",
    token: String(token),
    lease: handed.lease,
    holder: describeClaim(claim),
    "holder-url": claim.url ?? runUrl(workflow.env),
    "expires-at": new Date(Math.min(...ends)).toISOString(),
    claim: JSON.stringify(handed),
    ...(draft ? { draft: draft.holding.draft, attempt: String(draft.attempt) } : {}),
    ...(slots ? { slots: slotsJson(slots), dropped: String(slots.dropped) } : {}),
  }))
    workflow.output(name, value);
  exportAll(workflow, handed, slots);
  workflow.exportVariable(clockVariable, String(now - sentAt.monotonic));
  if (lease)
    workflow.info(
      `acquired: ${quote(handed.lease)} with token ${token} for ${formatDuration(inputs.ttl)} (${because(lease.reason, lease.before)}).`,
    );
  if (draft)
    workflow.info(
      `acquired: the draft ${quote(draft.holding.draft)} with token ${draft.holding.token} for ${formatDuration(inputs.ttl)}, attempt ${draft.attempt} of ${inputs.draft?.maxAttempts} (${describeStanding({ is: "ready", reason: draft.reason }, now)}).`,
    );
  if (slots) {
    const dropped = slots.dropped > 0 ? `; ${slots.dropped} older ones are dropped` : "";
    workflow.info(
      `${slots.due} slots are due${dropped}. This run works on ${slots.run.map(({ key }) => quote(key)).join(", ")}.`,
    );
  }
}

function exportAll(workflow: Workflow, handed: HandedClaim, slots: SlotPlan | null): void {
  const only = slots?.run.length === 1 ? slots.run[0] : undefined;
  const all: Record<string, string> = {
    FENCEPOST_LEASE: handed.lease,
    FENCEPOST_TOKEN: String(handed.token),
    FENCEPOST_CLAIM: handed.id,
    FENCEPOST_REPOSITORY: handed.repository,
    FENCEPOST_REF_PREFIX: handed.prefix,
    FENCEPOST_DRAFT: handed.draft?.path ?? "",
    FENCEPOST_DRAFT_TOKEN: handed.draft ? String(handed.draft.token) : "",
    FENCEPOST_SLOT: only?.key ?? "",
    FENCEPOST_PUSH_REPOSITORY: handed.destination ?? "",
  };
  const further = ["FENCEPOST_DRAFT", "FENCEPOST_DRAFT_TOKEN", "FENCEPOST_SLOT", "FENCEPOST_PUSH_REPOSITORY"];
  for (const [name, value] of Object.entries(all)) {
    // Emptied only where an earlier step of the job has set it.
    if (value === "" && further.includes(name) && !workflow.env[name]) continue;
    workflow.exportVariable(name, value);
  }
}

function because(reason: Acquired["reason"], before: SeenLease | null): string {
  const who = before ? describeClaim(before.record.holder) : "";
  switch (reason) {
    case "new":
      return "it was never held before";
    case "released":
      return "it was free";
    case "expired":
      return `the lease of ${who} had expired; what it still pushes is refused`;
    case "finished":
      return `${who} had finished without releasing it`;
    case "retried":
      return `${who} was an earlier attempt of this run`;
  }
}
