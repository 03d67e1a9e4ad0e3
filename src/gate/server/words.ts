// What the gate says in the pusher's terminal: which ref, why, who holds the lease, and how to push instead.
import { describeHolding } from "../../lease/describe.js";
import type { Refused } from "../../protocol/gate.js";
import type { SeenLease } from "../../protocol/lease.js";
import { quote } from "../../protocol/names.js";
import type { Instant } from "../../protocol/record.js";

/** Refusals that are told one by one. */
const most = 3;

/** `leases`: those that the refusals name, as they are now; null: never acquired, or not readable. */
export function refusalLines(
  refused: readonly Refused[],
  leases: ReadonlyMap<string, SeenLease | null>,
  now: Instant,
): string[] {
  const lines = refused.slice(0, most).map(({ why }) => why);
  if (refused.length > most) lines.push(`And ${refused.length - most} more changes are refused.`);
  const told = new Set<string>();
  for (const { change, lease } of refused) {
    if (lease === undefined || told.has(lease)) continue;
    if (told.add(lease).size > most) break;
    lines.push(`${stateOf(lease, leases.get(lease) ?? null, now)} Push with: ${howTo(change.ref, lease)}`);
  }
  return lines;
}

function stateOf(lease: string, seen: SeenLease | null, now: Instant): string {
  if (seen === null) return `The lease ${quote(lease)} has no record.`;
  const held = seen.record.state === "held" ? "held by " : "";
  return `The lease ${quote(lease)} is ${held}${describeHolding(seen, now)}.`;
}

function howTo(ref: string, lease: string): string {
  const name = /^[\w./-]+$/.test(lease) ? lease : quote(lease);
  const branch = /^refs\/heads\/(.+)$/s.exec(ref)?.[1];
  if (branch === undefined) return `fencepost push BRANCH --ref HEAD:${ref} --lease ${name} --token N`;
  return `fencepost push ${branch} --lease ${name} --token N, or fencepost run --lease ${name} --push ${branch} -- COMMAND`;
}
