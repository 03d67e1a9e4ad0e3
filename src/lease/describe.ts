// Leases in words: who holds one, since when, until when.
import { describeClaim } from "../protocol/claim.js";
import { formatDuration } from "../protocol/duration.js";
import { expiresAt, type SeenLease } from "../protocol/lease.js";
import type { Instant } from "../protocol/record.js";

export type LeaseState = "held" | "expired" | "released";

export function leaseState(seen: SeenLease, now: Instant): LeaseState {
  if (seen.record.state === "released") return "released";
  return now >= expiresAt(seen) ? "expired" : "held";
}

/** `octo/blog run 12.1 (write), token 42, since 07:00:02 UTC (3m ago), expires in 12m (07:15:02 UTC), https://…` */
export function describeHolding(seen: SeenLease, now: Instant): string {
  const { record } = seen;
  if (record.state === "released")
    return `free, token ${record.token}, last held by ${describeClaim(record.holder)}`;
  const since = Date.parse(record.since);
  const end = expiresAt(seen);
  const expiry =
    end > now ? `expires in ${formatDuration(end - now)}` : `expired ${formatDuration(now - end)} ago`;
  const parts = [
    describeClaim(record.holder),
    `token ${record.token}`,
    `since ${time(since)} (${formatDuration(now - since)} ago)`,
    `${expiry} (${time(end)})`,
    ...(record.holder.url ? [record.holder.url] : []),
  ];
  return parts.join(", ");
}

/** The lease as one object, for `--json`. Times are ISO 8601. */
export function leaseJson(seen: SeenLease, now: Instant) {
  const { record, oid, writtenAt } = seen;
  return {
    lease: record.name,
    state: leaseState(seen, now),
    token: record.token,
    holder: record.holder,
    since: record.since,
    renewedAt: new Date(writtenAt).toISOString(),
    expiresAt: new Date(expiresAt(seen)).toISOString(),
    ttl: record.ttl,
    event: record.event,
    commit: oid,
    ...(record.published ? { published: record.published } : {}),
    ...(record.unlock ? { unlock: record.unlock } : {}),
  };
}

function time(at: Instant): string {
  return Number.isFinite(at) ? `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC` : "unknown";
}
