// The lease of a run: taken, or found to be somebody else's, and given back.
import { privateRepository, remoteTips } from "../git/private.js";
import { describeHolding } from "../lease/describe.js";
import { type AcquireResult, acquireLease, succeedLease } from "../lease/lease.js";
import { describeClaim } from "../protocol/claim.js";
import { formatDuration } from "../protocol/duration.js";
import { defaultSkew, type Holding } from "../protocol/lease.js";
import { statsRecordName } from "../protocol/stats.js";
import { ConfigurationError, exit, explain } from "./exit.js";
import type { Ending, Job } from "./job.js";
import type { Place } from "./place.js";
import type { Voice } from "./speak.js";

export async function take(
  { place, options, claim, interrupt, say }: Job,
  lease: string,
): Promise<AcquireResult> {
  const { ttl, wait } = options;
  const result = await acquireLease(place.ports, {
    lease,
    claim,
    ttl,
    skew: options.skew ?? defaultSkew(ttl),
    wait,
    signal: interrupt.signal,
    also: [statsRecordName(lease)],
    onHeld: (held, waited) =>
      say.say(
        `waiting for ${JSON.stringify(lease)} for ${formatDuration(waited)} of ${formatDuration(wait)}: held by ${describeHolding(held.seen, held.now)}`,
      ),
  });
  if (result.outcome === "acquired") {
    const why = {
      new: "it was never held before",
      released: "it was free",
      expired: "it had expired",
      finished: "its holder had finished",
      retried: "its holder was an earlier attempt of this run",
    };
    say.good(
      `acquired ${JSON.stringify(lease)} with token ${result.holding.token} for ${formatDuration(ttl)} (${why[result.reason]})`,
    );
  }
  return result;
}

export function skipped(result: Extract<AcquireResult, { outcome: "skipped_overlap" }>, say: Voice): Ending {
  const { record } = result.seen;
  const waited = result.waitedFor >= 1000 ? ` after waiting ${formatDuration(result.waitedFor)}` : "";
  say.warn(
    `skipped_overlap${waited}: ${JSON.stringify(record.name)} is held by ${describeHolding(result.seen, result.now)}. The command was not run.`,
  );
  const expires = new Date(result.expiresAt).toISOString();
  const body = {
    outcome: "skipped_overlap",
    token: record.token,
    holder: record.holder,
    since: record.since,
    expiresAt: expires,
  };
  return { code: exit.skipped_overlap, body };
}

/** The branch as it is now that we hold the lease: what a replacement replaces. */
export async function tipOf(place: Place, branch: string): Promise<string | null> {
  const repository = await privateRepository((place.destination ?? place).remote, place.clone);
  try {
    const seen = await remoteTips(repository, [branch]);
    if ("tips" in seen) return seen.tips.get(branch) ?? null;
    throw new ConfigurationError(`The branch to replace could not be read: ${seen.failed.stderr.trim()}`);
  } finally {
    await repository.remove();
  }
}

export async function release(place: Place, holding: Holding, say: Voice): Promise<void> {
  const { lease, token } = holding;
  try {
    const result = await succeedLease(place.ports, holding, "released", {
      signal: AbortSignal.timeout(60_000),
    });
    if (result.outcome === "written") say.say(`released ${JSON.stringify(lease)} (token ${token})`);
    else
      say.warn(
        `${JSON.stringify(lease)} was not released, since token ${token} no longer holds it${result.seen ? `: ${describeClaim(result.seen.record.holder)} does` : ""}`,
      );
  } catch (error) {
    say.warn(
      `${JSON.stringify(lease)} could not be released (${explain(error).message}); it ends by itself after ${formatDuration(holding.record.ttl)}`,
    );
  }
}
