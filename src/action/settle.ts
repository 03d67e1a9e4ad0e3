// The post step: stops the heartbeat, pushes when asked to, settles the draft, releases, and writes the summary.
import { rm } from "node:fs/promises";
import { endsWithJob } from "../gate/bundle-folder.js";
import { pushedHolding } from "../gate/fence.js";
import { describeHolding } from "../lease/describe.js";
import { type Ports, succeedLease } from "../lease/lease.js";
import { writeStats } from "../lease/stats.js";
import { defaultMaxAttempts } from "../protocol/draft.js";
import { formatDuration } from "../protocol/duration.js";
import { type Holding, readLease, type SeenLease } from "../protocol/lease.js";
import { quote } from "../protocol/names.js";
import { countSuperseded, readStats, type SeenStats, statsRecordName } from "../protocol/stats.js";
import { conclude, type Ending, storeTime } from "./conclude.js";
import { type DraftEnd, settleDraft } from "./draft-end.js";
import type { Happening } from "./happening.js";
import { stopHeartbeat } from "./heartbeat.js";
import { type HeldState, readBeats } from "./held.js";
import { openClient, openPorts } from "./place.js";
import { warnOfPulse } from "./pulse.js";
import { renderSummary, type SummaryView } from "./summary.js";
import type { Workflow } from "./workflow.js";

export async function settle(workflow: Workflow): Promise<void> {
  const saved = workflow.saved("held");
  // Nothing was acquired, so there is nothing that could be ours to write.
  if (saved === "") return workflow.info("Nothing was acquired by this step.");
  const held: HeldState = JSON.parse(saved);
  const { inputs } = held;
  const token = workflow.input("token");
  const client = openClient(workflow.env, token);
  const ports = openPorts(workflow, { ...inputs, token }, client);
  try {
    await warnOfHeartbeat(workflow, held);
    const ending = await conclude(workflow, held, ports, token);
    await stopHeartbeat(held.folder, held.heartbeatPid);
    const draft = await endDraft(workflow, held, ports, ending);
    const left = await leave(workflow, held, ports, ending);
    await tell(workflow, held, ports, ending, { lease: left, draft });
  } finally {
    await ports.store.close();
    await rm(held.folder, { recursive: true, force: true }).catch(() => {});
  }
}

/** Before the push, so that a refusal is read with its cause. */
async function warnOfHeartbeat(workflow: Workflow, held: HeldState): Promise<void> {
  const { heartbeatPid: pid, folder, storeNowAt: sentAt, inputs } = held;
  if (pid !== null) await warnOfPulse(workflow, { pid, folder, ttl: inputs.ttl, sentAt });
}

/** What has become of the draft. */
async function endDraft(
  workflow: Workflow,
  held: HeldState,
  ports: Ports,
  { attempt }: Ending,
): Promise<DraftEnd | null> {
  const { draft } = await readBeats(held);
  if (draft === null) return null;
  if (attempt === null) return { state: "published" };
  const maxAttempts = held.inputs.draft?.maxAttempts ?? defaultMaxAttempts;
  return settleDraft(workflow, ports, draft, attempt, { maxAttempts, now: storeTime(held) });
}

const successes: readonly Happening["outcome"][] = ["pushed", "unchanged", "acquired"];

/** Releases the lease if it is still ours, in one write; the lease as it stands afterwards. */
async function leave(
  workflow: Workflow,
  held: HeldState,
  ports: Ports,
  { happening, published }: Ending,
): Promise<SeenLease | null> {
  const beats = await readBeats(held);
  if (beats.holding === null) return null;
  const result = published?.result;
  const pushed = result?.outcome === "pushed" ? pushedHolding(result.written) : undefined;
  const holding: Holding =
    pushed && pushed.record.depth > beats.holding.record.depth ? pushed : beats.holding;
  const { lease, token } = holding;
  // The fence of another repository says nothing of the lease itself.
  if (happening.outcome === "superseded" && happening.of !== "draft" && !held.inputs.destination)
    return result?.outcome === "superseded" ? readLease(result.seen) : null;
  if (held.inputs.release === "manual" && happening.outcome !== "lost") {
    workflow.info(
      `${quote(lease)} stays held (release: manual) until release/action.yml releases it, or it expires ${formatDuration(holding.record.ttl)} after the last renewal.`,
    );
    return holding;
  }
  // Slots that a push has completed are in the record already; once more does no harm.
  const slots = held.slots && successes.includes(happening.outcome) ? { slots: held.slots.done } : {};
  try {
    const released = await succeedLease(ports, holding, "released", {
      signal: AbortSignal.timeout(60_000),
      ...slots,
    });
    if (released.outcome === "written") {
      workflow.info(`released: ${quote(lease)} (token ${token}).`);
      return released.holding;
    }
    workflow.warning(
      `${quote(lease)} was not released, since token ${token} no longer holds it${released.seen ? `: it is ${describeHolding(released.seen, storeTime(held))}` : ""}.`,
    );
    return released.seen;
  } catch (error) {
    workflow.warning(
      `${quote(lease)} could not be released (${error instanceof Error ? error.message : String(error)}). It is free when this run has finished, or at the latest ${formatDuration(holding.record.ttl)} after the last renewal.`,
    );
    return holding;
  }
}

async function tell(
  workflow: Workflow,
  held: HeldState,
  ports: Ports,
  { happening, text }: Ending,
  left: { lease: SeenLease | null; draft: DraftEnd | null },
): Promise<void> {
  const { holding } = held;
  const late = happening.outcome === "superseded" && happening.of !== "draft" && holding;
  const stats = late ? await countLate(workflow, holding.lease, ports) : held.stats;
  const { failing } = await readBeats(held);
  if (failing) workflow.warning(`The heartbeat's last word was: ${failing}.`);
  const nothing = happening.outcome === "unchanged" && left.draft && left.draft.state !== "published";
  if (nothing) workflow.fail(`${text} So nothing came out for the draft, and this attempt at it has failed.`);
  else if ([...successes, "failed", "cancelled"].includes(happening.outcome)) workflow.info(text);
  else workflow.fail(text);
  if (happening.outcome === "pushed" && held.inputs.push && workflow.input("push-token") === "")
    workflow.notice(
      "Pushed with GITHUB_TOKEN, which starts no other workflow. If one should run on this push, give the input push-token the token of an app.",
    );
  if (!held.inputs.summary) return;
  const summary = renderSummary(viewOf(workflow, held, happening, left, stats));
  try {
    workflow.summary(summary);
  } catch (error) {
    workflow.warning(
      `The summary could not be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function viewOf(
  workflow: Workflow,
  held: HeldState,
  happening: Happening,
  left: { lease: SeenLease | null; draft: DraftEnd | null },
  stats: SeenStats | null,
): SummaryView {
  const { holding, draft, slots, inputs } = held;
  return {
    happening,
    lease: holding?.lease ?? "",
    draft: draft
      ? {
          path: draft.holding.draft,
          attempt: draft.attempt,
          maxAttempts: inputs.draft?.maxAttempts,
          ...left.draft,
        }
      : undefined,
    slots: slots ? { ...slots, done: successes.includes(happening.outcome) } : undefined,
    run: held.claim,
    token: held.token,
    now: storeTime(held),
    seen: left.lease ?? holding,
    stats,
    branch: inputs.push?.branch ?? inputs.draft?.branch,
    commit: happening.outcome === "pushed" ? Object.values(happening.published)[0] : undefined,
    serverUrl: workflow.env.GITHUB_SERVER_URL,
    repository: inputs.repository,
    destination: inputs.destination,
    prefix: inputs.refPrefix,
    skipThreshold: inputs.skipAlarm,
    fleeting: endsWithJob(workflow.env),
  };
}

/** The superseded run itself counts its late push, since nobody else knows of it. */
async function countLate(workflow: Workflow, lease: string, ports: Ports): Promise<SeenStats | null> {
  try {
    const { records, now } = await ports.store.read([statsRecordName(lease)]);
    const written = await writeStats(ports, lease, readStats(records[0] ?? null), (seen) =>
      countSuperseded(seen, { lease, now, nonce: ports.chance.nonce() }),
    );
    return written;
  } catch (error) {
    workflow.warning(
      `The refused push could not be counted: ${error instanceof Error ? error.message : String(error)}`,
    );
    return null;
  }
}
