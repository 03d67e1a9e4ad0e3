// The end of a job's attempt at its draft. Without what reads drafts, which the post step has no use for.
import { publishedByMe, settleOnStore } from "../draft/claim.js";
import { describeDraft } from "../draft/describe.js";
import type { Ports } from "../lease/lease.js";
import type { DraftHolding, DraftRecord } from "../protocol/draft.js";
import { formatDuration } from "../protocol/duration.js";
import { quote } from "../protocol/names.js";
import type { Instant } from "../protocol/record.js";
import type { AttemptResult } from "../protocol/settle.js";
import type { Workflow } from "./workflow.js";

/** What a draft has become, and in words. */
export interface DraftEnd {
  state: "published" | "pending" | "dead" | "lost";
  reason?: string | undefined;
  /** ISO 8601. */
  next?: string | undefined;
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

/** What a person does about a dead draft. */
export function cure(path: string): string {
  const word = /^[\w./][\w./-]*$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
  return `Edit it, or bring it back: fencepost redrive ${word} --reason "what was repaired"`;
}
