// The post step: stops the heartbeat, pushes when asked to, releases, and writes the summary.
import { rm } from "node:fs/promises";
import type { Rescue } from "../gate/rescue.js";
import { describeRescue } from "../gate/rescue.js";
import { describeHolding } from "../lease/describe.js";
import { type Ports, succeedLease } from "../lease/lease.js";
import { writeStats } from "../lease/stats.js";
import { formatDuration } from "../protocol/duration.js";
import type { Holding, SeenLease } from "../protocol/lease.js";
import { quote } from "../protocol/names.js";
import type { Instant } from "../protocol/record.js";
import { countSuperseded, readStats, type StatsRecord, statsRecordName } from "../protocol/stats.js";
import { stopHeartbeat } from "./heartbeat.js";
import { type HeldState, readBeats } from "./held.js";
import { clock, openClient, openPorts } from "./place.js";
import { commitOf, keep, type Publication, type Published, publish } from "./publish.js";
import { renderSummary } from "./summary.js";
import { links, type SummaryOutcome } from "./view.js";
import type { Workflow } from "./workflow.js";

/** How a job ended for its lease. */
interface Ending {
  outcome: SummaryOutcome;
  text: string;
  published: Published | null;
  rescue: Rescue | null;
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
    return { outcome, text: `${outcome}: ${beats.lost.detail}.${nothing}${kept}`, published: null, rescue };
  }
  if (status !== "success") {
    const outcome = status === "cancelled" ? "cancelled" : "failed";
    const nothing = publication ? " Nothing is pushed." : "";
    return {
      outcome,
      text: `The job ${outcome === "failed" ? "failed" : "was cancelled"}.${nothing}`,
      published: null,
      rescue: null,
    };
  }
  if (publication === null)
    return { outcome: "acquired", text: "The job ran under its lease.", published: null, rescue: null };
  const published = await publish(workflow, publication);
  const { result, text } = published;
  const rescue = "rescue" in result ? result.rescue : null;
  return { outcome: result.outcome === "broken" ? "refused" : result.outcome, text, published, rescue };
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
  const pushed = result?.outcome === "pushed" ? result.holding : undefined;
  const holding: Holding =
    pushed && pushed.record.depth > beats.holding.record.depth ? pushed : beats.holding;
  const { lease, token } = holding;
  if (ending.outcome === "superseded") return result?.outcome === "superseded" ? result.by : null;
  if (held.inputs.release === "manual" && ending.outcome !== "lost") {
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
  const stats = ending.outcome === "superseded" ? await countLate(workflow, held, ports) : held.stats;
  const { failing } = await readBeats(held);
  if (failing) workflow.warning(`The heartbeat's last word was: ${failing}.`);
  const failed = !["pushed", "unchanged", "acquired", "failed", "cancelled"].includes(ending.outcome);
  if (failed) workflow.fail(ending.text);
  else workflow.info(ending.text);
  if (ending.outcome === "pushed" && held.inputs.push && workflow.input("push-token") === "")
    workflow.notice(
      "Pushed with GITHUB_TOKEN, which starts no other workflow. If one should run on this push, give the input push-token the token of an app.",
    );
  if (!held.inputs.summary) return;
  const result = ending.published?.result;
  workflow.summary(
    renderSummary({
      outcome: ending.outcome,
      text: ending.text,
      lease: lease ?? held.holding,
      stats,
      now,
      branch: held.inputs.push?.branch ?? null,
      commit: result && "commit" in result ? result.commit : null,
      rescue: ending.rescue,
      ...links(workflow.env, held.inputs.repository),
    }),
  );
}

/** The superseded run itself counts its late push, since nobody else knows of it. */
async function countLate(workflow: Workflow, held: HeldState, ports: Ports): Promise<StatsRecord | null> {
  const { lease, token } = held.holding;
  try {
    const { records, now } = await ports.store.read([statsRecordName(lease)]);
    const written = await writeStats(ports, lease, readStats(records[0] ?? null), (seen) =>
      countSuperseded(seen, { lease, token, now, nonce: ports.chance.nonce() }),
    );
    return written.record;
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
