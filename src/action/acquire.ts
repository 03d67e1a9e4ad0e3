// The main step: takes the lease or says who has it, starts the heartbeat, and leaves what the post step needs.
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { privateRepository, remoteTips } from "../git/private.js";
import { git } from "../git/program.js";
import { type KnownRuns, type RunState, runFinished } from "../github/liveness.js";
import { describeHolding } from "../lease/describe.js";
import { claimOf, runUrl } from "../lease/identity.js";
import { type Acquired, type AcquireResult, acquireLease, type Ports } from "../lease/lease.js";
import { type Claim, describeClaim } from "../protocol/claim.js";
import { formatDuration } from "../protocol/duration.js";
import { expiresAt, type SeenLease } from "../protocol/lease.js";
import { quote } from "../protocol/names.js";
import type { Oid, Versioned } from "../protocol/record.js";
import { readStats, type SeenStats, statsRecordName } from "../protocol/stats.js";
import { startHeartbeat } from "./heartbeat.js";
import { clockVariable, type HeldState } from "./held.js";
import { type LeaseInputs, leaseInputs, type PushInputs } from "./inputs.js";
import { type Client, chance, cloneIn, lendToken, openClient, openPorts } from "./place.js";
import { reportSkip } from "./skip.js";
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
    const claim = claimOf(env, chance, inputs.leg);
    const result = await take(workflow, inputs, ports, client, claim);
    if (result.outcome === "skipped_overlap") return await reportSkip(workflow, inputs, ports, result, claim);
    await begin(workflow, inputs, result, start, heartbeat);
  } finally {
    await ports.store.close();
  }
}

async function take(
  workflow: Workflow,
  inputs: LeaseInputs,
  ports: Ports,
  client: Client,
  claim: Claim,
): Promise<AcquireResult> {
  const { lease, ttl } = inputs;
  const result = await acquireLease(ports, {
    lease,
    claim,
    ttl,
    skew: Math.min(30_000, ttl / 3),
    wait: inputs.onOverlap === "wait" ? inputs.waitTimeout : 0,
    also: [statsRecordName(lease)],
    finished: livenessOf(workflow, client),
    onHeld: (held, waited) =>
      workflow.info(
        `Waiting for ${quote(lease)} for ${formatDuration(waited)} of ${formatDuration(inputs.waitTimeout)}: held by ${describeHolding(held.seen, held.now)}`,
      ),
  });
  return result;
}

/** Asks GitHub whether the holder's run attempt has finished. Says once why it could not tell. */
function livenessOf(workflow: Workflow, client: Client): (holder: Claim) => Promise<boolean> {
  const known: KnownRuns = new Map();
  let said = false;
  return async (holder) => {
    const answer = await runFinished(client, holder, { signal: AbortSignal.timeout(20_000), known }).catch(
      (error): RunState => ({ state: "unknown", reason: "unavailable", words: String(error) }),
    );
    if (answer.state === "unknown" && answer.reason !== "no-run" && !said) {
      said = true;
      workflow.info(
        `Whether ${describeClaim(holder)} has finished is not known, so its lease is free when it expires, and not at once. ${answer.words}`,
      );
    }
    return answer.state === "finished";
  };
}

async function begin(
  workflow: Workflow,
  inputs: LeaseInputs,
  { holding, sentAt, reason, before, now, also }: Acquired,
  start: Oid | null,
  heartbeat: string,
): Promise<void> {
  const { env } = workflow;
  const { lease, token, claim } = holding;
  const folder = await mkdtemp(join(env.RUNNER_TEMP || tmpdir(), "fencepost-lease-"));
  const { token: secret, ...kept } = inputs;
  const { repository, store, refPrefix } = inputs;
  const place = { repository, store, refPrefix, token: secret };
  const cancelOnLoss = inputs.onLost === "cancel";
  const state: HeldState = {
    holding,
    sentAt,
    storeNow: now,
    storeNowAt: sentAt,
    folder,
    heartbeatPid: null,
    replaces: undefined,
    start,
    stats: statsOf(also[0] ?? null),
    inputs: kept,
  };
  // Before anything else can fail: with it the post step releases, whatever happens now.
  workflow.save("held", JSON.stringify(state));
  if (inputs.heartbeat)
    state.heartbeatPid = startHeartbeat(heartbeat, env, { place, holding, sentAt, folder, cancelOnLoss });
  else
    workflow.warning(
      `Input "heartbeat" is false, so the lease is not renewed: a job that takes longer than ${formatDuration((inputs.ttl * 2) / 3)} may be superseded, and its push refused.`,
    );
  workflow.save("held", JSON.stringify(state));
  if (inputs.push && inputs.replace) state.replaces = await tipOf(workflow, inputs, inputs.push);
  workflow.save("held", JSON.stringify(state));
  const expires = new Date(expiresAt(holding)).toISOString();
  for (const [name, value] of Object.entries({
    acquired: "true",
    outcome: "acquired",
    token: String(token),
    lease,
    holder: describeClaim(claim),
    "holder-url": claim.url ?? runUrl(env),
    "expires-at": expires,
    claim: JSON.stringify({
      lease,
      token,
      id: claim.id,
      repository: inputs.repository,
      prefix: inputs.refPrefix,
    }),
  }))
    workflow.output(name, value);
  workflow.exportVariable("FENCEPOST_LEASE", lease);
  workflow.exportVariable("FENCEPOST_TOKEN", String(token));
  workflow.exportVariable("FENCEPOST_CLAIM", claim.id);
  workflow.exportVariable("FENCEPOST_REPOSITORY", inputs.repository);
  workflow.exportVariable("FENCEPOST_REF_PREFIX", inputs.refPrefix);
  workflow.exportVariable(clockVariable, String(now - sentAt.monotonic));
  workflow.info(
    `acquired: ${quote(lease)} with token ${token} for ${formatDuration(inputs.ttl)} (${because(reason, before)}).`,
  );
}

/** Counters that cannot be read cost the summary a line, and nobody their run. */
function statsOf(seen: Versioned | null): SeenStats | null {
  try {
    return readStats(seen);
  } catch {
    return null;
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
  const remote = lendToken(workflow.env, inputs.repository, push.pushToken || inputs.token, null);
  const repository = await privateRepository(remote, null);
  try {
    const seen = await remoteTips(repository, [push.branch]);
    if ("tips" in seen) return seen.tips.get(push.branch) ?? null;
    throw new Error(`The branch to replace could not be read: ${seen.failed.stderr.trim()}`);
  } finally {
    await repository.remove();
  }
}
