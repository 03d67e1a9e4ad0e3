// The main step: takes the lease or says who has it, starts the heartbeat, and leaves what the post step needs.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { privateRepository, remoteTips } from "../git/private.js";
import { git } from "../git/program.js";
import { describeHolding } from "../lease/describe.js";
import { claimOf } from "../lease/identity.js";
import { type Acquired, type AcquireResult, acquireLease, type Ports, succeedLease } from "../lease/lease.js";
import type { Claim } from "../protocol/claim.js";
import type { Reading } from "../protocol/doubt.js";
import { formatDuration } from "../protocol/duration.js";
import { defaultSkew, type SeenLease } from "../protocol/lease.js";
import { quote } from "../protocol/names.js";
import type { Instant, Oid, Versioned } from "../protocol/record.js";
import { readStats, type SeenStats, statsRecordName } from "../protocol/stats.js";
import { announce, type Taken } from "./announce.js";
import { sealTaken } from "./destination.js";
import { claimDraft, idleDraft } from "./draft.js";
import { type Finished, livenessOf } from "./finished.js";
import { startHeartbeat } from "./heartbeat.js";
import { type HeldState, withoutSecrets } from "./held.js";
import { type Idle, reportIdle } from "./idle.js";
import type { PushInputs } from "./inputs.js";
import { type LeaseInputs, leaseInputs } from "./lease-inputs.js";
import { chance, clock, cloneIn, lendToken, openClient, openPorts } from "./place.js";
import { exportPulse } from "./pulse.js";
import { reportSkip } from "./skip.js";
import { planSlots } from "./slots.js";
import type { Workflow } from "./workflow.js";

/** @param heartbeat the path of the heartbeat's bundle. */
export async function acquire(workflow: Workflow, heartbeat: string): Promise<void> {
  const { env } = workflow;
  const inputs = leaseInputs(workflow);
  const client = openClient(env, inputs.token);
  const ports = openPorts(workflow, inputs, client);
  try {
    // What the post step would trip over is found out before anything is written.
    const start = inputs.push ? await headOf(inputs.push) : null;
    const who = { claim: claimOf(env, chance, inputs.leg), finished: livenessOf(workflow, client) };
    const lease = inputs.lease === null ? null : await take(workflow, inputs, inputs.lease, ports, who);
    if (lease?.outcome === "skipped_overlap")
      return await reportSkip(workflow, inputs, ports, lease, who.claim);
    const taken = await takeRest(workflow, inputs, ports, lease, who).catch(async (error) => {
      await giveBack(workflow, ports, lease);
      throw error;
    });
    if ("idle" in taken) {
      const seen = await giveBack(workflow, ports, lease);
      const context = { run: who.claim, now: taken.now, seen };
      return await reportIdle(workflow, inputs, ports, taken.idle, context);
    }
    await begin(workflow, inputs, taken, start, heartbeat);
  } finally {
    await ports.store.close();
  }
}

interface Who {
  claim: Claim;
  finished: Finished;
}

async function take(
  workflow: Workflow,
  inputs: LeaseInputs,
  lease: string,
  ports: Ports,
  who: Who,
): Promise<AcquireResult> {
  const { ttl } = inputs;
  return acquireLease(ports, {
    ...who,
    lease,
    ttl,
    skew: defaultSkew(ttl),
    wait: inputs.onOverlap === "wait" ? inputs.waitTimeout : 0,
    also: [statsRecordName(lease)],
    onHeld: (held, waited) =>
      workflow.info(
        `Waiting for ${quote(lease)} for ${formatDuration(waited)} of ${formatDuration(inputs.waitTimeout)}: held by ${describeHolding(held.seen, held.now)}`,
      ),
  });
}

/** The slots or the draft, under the lease if there is one. */
async function takeRest(
  workflow: Workflow,
  inputs: LeaseInputs,
  ports: Ports,
  lease: Acquired | null,
  who: Who,
): Promise<Taken | { idle: Idle; now: Instant }> {
  const { claim } = who;
  if (inputs.draft) {
    const draft = await claimDraft(workflow, inputs, inputs.draft, ports, who);
    if (draft.outcome !== "acquired") {
      const now = draft.outcome === "refused" ? draft.now : (lease?.now ?? clock.read().wall);
      return { idle: idleDraft(inputs.draft, draft), now };
    }
    const { token } = (lease ?? draft).holding;
    const taken = { claim, token, sentAt: draft.sentAt, now: draft.now, lease, draft, slots: null };
    return (await sealTaken(workflow, inputs, ports, taken)) ?? taken;
  }
  // Without a draft there is a lease.
  const held = lease as Acquired;
  const { sentAt, now, holding } = held;
  const slots = inputs.slots && planSlots(inputs.slots, holding.record, now);
  if (inputs.slots && slots?.nothingDue) {
    const { schedule, timezone } = inputs.slots;
    const why = `every slot of ${schedule} (${timezone}) so far is done`;
    return { idle: { outcome: "nothing_due", why }, now };
  }
  const taken = { claim, token: holding.token, sentAt, now, lease: held, draft: null, slots };
  return (await sealTaken(workflow, inputs, ports, taken)) ?? taken;
}

/** Nothing is done under the lease, so the next run gets it at once. The lease as it stands afterwards. */
async function giveBack(workflow: Workflow, ports: Ports, lease: Acquired | null): Promise<SeenLease | null> {
  if (lease === null) return null;
  const { holding } = lease;
  try {
    const released = await succeedLease(ports, holding, "released", { signal: AbortSignal.timeout(60_000) });
    return released.outcome === "written" ? released.holding : released.seen;
  } catch (error) {
    workflow.warning(
      `${quote(holding.lease)} could not be released (${error instanceof Error ? error.message : String(error)}). It is free when this run has finished, or when it expires.`,
    );
    return holding;
  }
}

async function begin(
  workflow: Workflow,
  inputs: LeaseInputs,
  taken: Taken,
  start: Oid | null,
  heartbeat: string,
): Promise<void> {
  const { env } = workflow;
  const { lease, draft, slots, sentAt, now } = taken;
  const folder = await mkdtemp(join(env.RUNNER_TEMP || tmpdir(), "fencepost-lease-"));
  const { repository, store, refPrefix, token } = inputs;
  const state: HeldState = {
    claim: taken.claim,
    token: taken.token,
    holding: lease?.holding ?? null,
    draft: draft && { holding: draft.holding, attempt: draft.attempt },
    slots,
    storeNow: now,
    storeNowAt: sentAt,
    folder,
    heartbeatPid: null,
    replaces: undefined,
    start,
    stats: statsOf(lease?.also[0] ?? null),
    inputs: withoutSecrets(inputs),
  };
  // Before anything else can fail: with it the post step releases, whatever happens now.
  workflow.save("held", JSON.stringify(state));
  const pulse = <H>(held: { holding: H; sentAt: Reading } | null) =>
    held && { holding: held.holding, sentAt: held.sentAt };
  if (inputs.heartbeat)
    state.heartbeatPid = startHeartbeat(workflow, heartbeat, {
      place: { repository, store, refPrefix, token },
      lease: pulse(lease),
      draft: pulse(draft),
      folder,
      cancelOnLoss: inputs.onLost === "cancel",
    });
  else
    workflow.warning(
      `Input "heartbeat" is false, so the lease is not renewed: a job that takes longer than ${formatDuration((inputs.ttl * 2) / 3)} may be superseded, and its push refused.`,
    );
  workflow.save("held", JSON.stringify(state));
  const { heartbeatPid: pid } = state;
  exportPulse(workflow, pid === null ? null : { pid, folder, ttl: inputs.ttl, sentAt });
  if (inputs.push && inputs.replace) state.replaces = await tipOf(workflow, inputs, inputs.push);
  workflow.save("held", JSON.stringify(state));
  announce(workflow, inputs, taken);
}

/** Counters that cannot be read cost the summary a line, and nobody their run. */
function statsOf(seen: Versioned | null): SeenStats | null {
  try {
    return readStats(seen);
  } catch {
    return null;
  }
}

/** HEAD of the clone that the post step pushes from, null before its first commit. @throws when there is no clone. */
async function headOf(push: PushInputs): Promise<Oid | null> {
  if ((await cloneIn(push.directory)) === null)
    throw new Error(
      `Input "push" is true, and ${push.directory} is not in a git clone. Put actions/checkout before this step, or name the clone's folder with the input "directory".`,
    );
  const head = await git({
    cwd: push.directory,
    args: ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"],
  });
  return head.code === 0 ? head.stdout.toString("utf8").trim() : null;
}

/** The branch as it is now that we hold the lease: what a replacement replaces. */
async function tipOf(workflow: Workflow, inputs: LeaseInputs, push: PushInputs): Promise<Oid | null> {
  const where = inputs.destination ?? inputs.repository;
  const remote = lendToken(workflow.env, where, push.pushToken || inputs.token, null);
  const repository = await privateRepository(remote, null);
  try {
    const seen = await remoteTips(repository, [push.branch]);
    if ("tips" in seen) return seen.tips.get(push.branch) ?? null;
    throw new Error(`The branch to replace could not be read: ${seen.failed.stderr.trim()}`);
  } finally {
    await repository.remove();
  }
}
