// Another run has the lease or the draft: counted, said, and no failure unless it was asked to be one.
import { describeHolding } from "../lease/describe.js";
import type { AcquireResult, Ports } from "../lease/lease.js";
import { countOverlap, type Overlap } from "../lease/stats.js";
import { type Claim, describeClaim } from "../protocol/claim.js";
import { formatDuration } from "../protocol/duration.js";
import { quote } from "../protocol/names.js";
import type { SeenStats } from "../protocol/stats.js";
import type { LeaseInputs } from "./lease-inputs.js";
import { renderSummary, skipAlarm } from "./summary.js";
import type { Workflow } from "./workflow.js";

type Skip = Extract<AcquireResult, { outcome: "skipped_overlap" }>;

export async function reportSkip(
  workflow: Workflow,
  inputs: LeaseInputs,
  ports: Ports,
  skip: Skip,
  run: Claim,
): Promise<void> {
  const { record } = skip.seen;
  const { name: lease } = record;
  const expires = new Date(skip.expiresAt).toISOString();
  const waited = skip.waitedFor >= 1000 ? ` after waiting ${formatDuration(skip.waitedFor)}` : "";
  const sentence = `${quote(lease)} is held by ${describeHolding(skip.seen, skip.now)}.`;
  for (const [name, value] of Object.entries({
    acquired: "false",
    outcome: "skipped_overlap",
    token: String(record.token),
    lease,
    holder: describeClaim(record.holder),
    "holder-url": record.holder.url ?? "",
    "expires-at": expires,
  }))
    workflow.output(name, value);
  const { now } = skip;
  const stats = await count(workflow, ports, { name: lease, token: record.token, now, seen: skip.also[0] });
  workflow.info(
    `skipped_overlap${waited}: ${sentence} This run does nothing; the steps that ask for acquired == 'true' are skipped.`,
  );
  const row = stats?.record.row ?? 0;
  const alarm = skipAlarm(row, inputs.skipAlarm);
  if (alarm) workflow.warning(`${quote(lease)}: ${alarm} ${record.holder.url ?? ""}`.trim());
  if (inputs.summary)
    workflow.summary(
      renderSummary({
        happening: { outcome: "skipped_overlap", row },
        lease,
        run,
        now: skip.now,
        seen: skip.seen,
        stats,
        branch: inputs.push?.branch,
        serverUrl: workflow.env.GITHUB_SERVER_URL,
        repository: inputs.repository,
        prefix: inputs.refPrefix,
        skipThreshold: inputs.skipAlarm,
      }),
    );
  if (inputs.onOverlap === "fail")
    workflow.fail(
      `skipped_overlap${waited}: ${sentence} Input "on-overlap" is fail; set it to skip or wait if this is no failure.`,
    );
}

/** A count that cannot be written is said, and costs nobody their run. */
export async function count(workflow: Workflow, ports: Ports, overlap: Overlap): Promise<SeenStats | null> {
  try {
    return await countOverlap(ports, overlap, { signal: AbortSignal.timeout(30_000) });
  } catch (error) {
    workflow.warning(
      `The skip could not be counted: ${error instanceof Error ? error.message : String(error)}`,
    );
    return null;
  }
}
