// A run that finds nothing to do: the outcome, why, and a summary. No failure, unless an overlap is asked to be one.
import type { Ports } from "../lease/lease.js";
import { type Claim, describeClaim } from "../protocol/claim.js";
import type { SeenLease } from "../protocol/lease.js";
import type { Instant } from "../protocol/record.js";
import type { LeaseInputs } from "./lease-inputs.js";
import { count } from "./skip.js";
import { renderSummary } from "./summary.js";
import type { Workflow } from "./workflow.js";

export interface Idle {
  outcome: "skipped_overlap" | "nothing_due" | "not_pending" | "backing_off" | "dead";
  /** A clause, as text. */
  why: string;
  /** When it may be tried again. */
  next?: Instant;
  /** Who works on the draft, and under which token of the draft. */
  holder?: Claim | undefined;
  held?: number | undefined;
}

export async function reportIdle(
  workflow: Workflow,
  inputs: LeaseInputs,
  ports: Ports,
  idle: Idle,
  context: { run: Claim; now: Instant; seen: SeenLease | null },
): Promise<void> {
  const { outcome, why, holder, next, held } = idle;
  const { draft, slots } = inputs;
  for (const [name, value] of Object.entries({
    acquired: "false",
    outcome,
    lease: inputs.lease ?? "",
    ...(draft ? { draft: draft.path } : {}),
    ...(slots ? { slots: "[]", dropped: "0" } : {}),
    ...(holder ? { holder: describeClaim(holder), "holder-url": holder.url ?? "" } : {}),
    ...(holder && next !== undefined ? { "expires-at": new Date(next).toISOString() } : {}),
  }))
    workflow.output(name, value);
  const { now } = context;
  const counted =
    draft && held !== undefined ? await count(workflow, ports, { name: draft.path, token: held, now }) : null;
  const row = counted ? { row: counted.record.row } : {};
  const sentence = `${outcome}: ${why}.`;
  workflow.info(`${sentence} This run does nothing; the steps that ask for acquired == 'true' are skipped.`);
  if (outcome === "dead") workflow.warning(sentence);
  if (inputs.summary)
    workflow.summary(
      renderSummary({
        happening: outcome === "skipped_overlap" ? { outcome, why, ...row } : { outcome, why },
        lease: inputs.lease ?? "",
        draft: draft ? { path: draft.path } : undefined,
        ...context,
        stats: null,
        branch: draft?.branch ?? inputs.push?.branch,
        serverUrl: workflow.env.GITHUB_SERVER_URL,
        repository: inputs.repository,
        prefix: inputs.refPrefix,
      }),
    );
  if (outcome === "skipped_overlap" && inputs.onOverlap === "fail")
    workflow.fail(`${sentence} Input "on-overlap" is fail; set it to skip if this is no failure.`);
}
