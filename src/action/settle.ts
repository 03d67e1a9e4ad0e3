// The post step: stops the heartbeat, pushes when asked to, releases, and writes the summary.
import { rm } from "node:fs/promises";
import { pushedHolding } from "../gate/fence.js";
import type { PushResult } from "../gate/push.js";
import { describeRescue, type Rescue } from "../gate/rescue.js";
import { describeHolding } from "../lease/describe.js";
import { type Ports, succeedLease } from "../lease/lease.js";
import { writeStats } from "../lease/stats.js";
import { formatDuration } from "../protocol/duration.js";
import { type Holding, readLease, type SeenLease } from "../protocol/lease.js";
import { quote } from "../protocol/names.js";
import type { Instant } from "../protocol/record.js";
import { countSuperseded, readStats, type SeenStats, statsRecordName } from "../protocol/stats.js";
import type { Happening } from "./happening.js";
import { stopHeartbeat } from "./heartbeat.js";
import { type HeldState, readBeats } from "./held.js";
import { clock, openClient, openPorts } from "./place.js";
import { commitOf, keep, type Publication, type Published, publish } from "./publish.js";
import { renderSummary } from "./summary.js";
import type { Workflow } from "./workflow.js";

/** How a job ended for its lease. */
interface Ending {
  happening: Happening;
  /** The same in a sentence, for the log. */
  text: string;
  published: Published | null;
}

export async function settle(workflow: Workflow): Promise<void> {
  const saved = workflow.saved("held");
  // Nothing was acquired, so there is nothing that could be ours to write.
  if (saved === "") return workflow.info("No lease was acquired by this step.");
  const held: HeldState = JSON.parse(saved);
  const { inputs } = held;
  const token = workflow.input("token");
  const client = openClient(workflow.env, token);
  const ports = openPorts(workflow, { ...inputs, token }, client);
  try {
    const ending = await conclude(workflow, held, token);
    await stopHeartbeat(held.folder, held.heartbeatPid);
    const left = await leave(workflow, held, ports, ending);
    await tell(workflow, held, ports, ending, left);
  } finally {
    await ports.store.close();
    await rm(held.folder, { recursive: true, force: true });
  }
}

/** What becomes of the work: pushed, kept, or nothing. */
async function conclude(workflow: Workflow, held: HeldState, token: string): Promise<Ending> {
  const { inputs, holding } = held;
  const status = workflow.input("job-status") || "success";
  const beats = await readBeats(held);
  const publication: Publication | null = inputs.push && {
    lease: holding.lease,
    owner: holding,
    repository: inputs.repository,
    prefix: inputs.refPrefix,
    token,
    push: { ...inputs.push, pushToken: workflow.input("push-token") },
    replaces: held.replaces,
    storeNow: held.storeNow,
    storeNowAt: held.storeNowAt,
  };
  if (beats.lost) {
    const outcome = beats.lost.why === "doubt" ? "lost" : "superseded";
    const rescue = publication ? await keepWork(workflow, held, publication) : null;
    const kept = rescue ? ` ${describeRescue(rescue)}` : "";
    const nothing = publication ? " Nothing was pushed." : "";
    const happening: Happening = { outcome, why: beats.lost.detail, ...(rescue ? { rescue } : {}) };
    return { happening, text: `${outcome}: ${beats.lost.detail}.${nothing}${kept}`, published: null };
  }
  if (status !== "success") {
    const outcome = status === "cancelled" ? "cancelled" : "failed";
    const nothing = publication ? " Nothing is pushed." : "";
    const text = `The job ${outcome === "failed" ? "failed" : "was cancelled"}.${nothing}`;
    return { happening: { outcome }, text, published: null };
  }
  if (publication === null)
    return { happening: { outcome: "acquired" }, text: "The job ran under its lease.", published: null };
  const published = await publish(workflow, publication);
  return {
    happening: happeningOf(published.result, publication.push.branch),
    text: published.text,
    published,
  };
}

function happeningOf(result: PushResult, branch: string): Happening {
  switch (result.outcome) {
    case "pushed":
      return {
        outcome: "pushed",
        published: pushedHolding(result.written)?.record.published ?? { [branch]: result.commit },
      };
    case "unchanged":
      return { outcome: "unchanged" };
    case "moved":
      return { outcome: "moved", why: result.why, rescue: result.rescue };
    case "superseded":
      return { outcome: "superseded", rescue: result.rescue };
    case "refused":
      return { outcome: "refused", why: result.refusal.words, rescue: result.rescue };
    case "broken":
    case "unavailable":
      return { outcome: "refused", why: result.why, rescue: result.rescue };
  }
}

async function keepWork(
  workflow: Workflow,
  held: HeldState,
  publication: Publication,
): Promise<Rescue | null> {
  const head = await commitOf(publication.push.directory, "HEAD").catch(() => null);
  if (head === null || head === held.start) return null;
  return keep(workflow, publication, held.start);
}

/** Releases the lease if it is still ours, in one write; the lease as it stands afterwards. */
async function leave(
  workflow: Workflow,
  held: HeldState,
  ports: Ports,
  ending: Ending,
): Promise<SeenLease | null> {
  const beats = await readBeats(held);
  const result = ending.published?.result;
  const pushed = result?.outcome === "pushed" ? pushedHolding(result.written) : undefined;
  const holding: Holding =
    pushed && pushed.record.depth > beats.holding.record.depth ? pushed : beats.holding;
  const { lease, token } = holding;
  if (ending.happening.outcome === "superseded")
    return result?.outcome === "superseded" ? readLease(result.seen) : null;
  if (held.inputs.release === "manual" && ending.happening.outcome !== "lost") {
    workflow.info(
      `${quote(lease)} stays held (release: manual) until release/action.yml releases it, or it expires ${formatDuration(holding.record.ttl)} after the last renewal.`,
    );
    return holding;
  }
  try {
    const released = await succeedLease(ports, holding, "released", { signal: AbortSignal.timeout(60_000) });
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
  ending: Ending,
  lease: SeenLease | null,
): Promise<void> {
  const now = storeTime(held);
  const stats =
    ending.happening.outcome === "superseded" ? await countLate(workflow, held, ports) : held.stats;
  const { failing } = await readBeats(held);
  if (failing) workflow.warning(`The heartbeat's last word was: ${failing}.`);
  const failed = !["pushed", "unchanged", "acquired", "failed", "cancelled"].includes(
    ending.happening.outcome,
  );
  if (failed) workflow.fail(ending.text);
  else workflow.info(ending.text);
  if (ending.happening.outcome === "pushed" && held.inputs.push && workflow.input("push-token") === "")
    workflow.notice(
      "Pushed with GITHUB_TOKEN, which starts no other workflow. If one should run on this push, give the input push-token the token of an app.",
    );
  if (!held.inputs.summary) return;
  const { holding, inputs } = held;
  const pushed =
    ending.happening.outcome === "pushed" ? Object.values(ending.happening.published)[0] : undefined;
  workflow.summary(
    renderSummary({
      happening: ending.happening,
      lease: holding.lease,
      run: holding.claim,
      token: holding.token,
      now,
      seen: lease ?? holding,
      stats,
      branch: inputs.push?.branch,
      commit: pushed,
      serverUrl: workflow.env.GITHUB_SERVER_URL,
      repository: inputs.repository,
      prefix: inputs.refPrefix,
      skipThreshold: inputs.skipAlarm,
    }),
  );
}

/** The superseded run itself counts its late push, since nobody else knows of it. */
async function countLate(workflow: Workflow, held: HeldState, ports: Ports): Promise<SeenStats | null> {
  const { lease } = held.holding;
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

function storeTime(held: HeldState): Instant {
  return held.storeNow + (clock.read().monotonic - held.storeNowAt.monotonic);
}
