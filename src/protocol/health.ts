// The safety rules checked on records as they are: what is wrong, with what, and what to do about it.
import { readDraftRecord, type SeenDraft } from "./draft.js";
import { formatDuration } from "./duration.js";
import { readFence, type SeenFence } from "./fence.js";
import { expiresAt, readLease, type SeenLease } from "./lease.js";
import { type Instant, RecordInvalid, type Versioned } from "./record.js";
import { draftExpiresAt } from "./standing.js";
import { readStats, type SeenStats } from "./stats.js";
import type { SweepPlan } from "./sweep.js";

export interface Finding {
  check: "unreadable" | "chain" | "token" | "expired" | "headings" | "stats" | "rules";
  /** The record, or what else it is about. */
  what: string;
  problem: string;
  advice: string;
}

interface Link {
  token: number;
  depth: number;
  previous: string | null;
  event: string;
}

const restore = "Stop what writes to it, and put its branch back to its last good commit; never delete it.";

/** Everything wrong along the chain of one lease, draft or fence, newest first. */
export function checkChain(chain: readonly Versioned[]): Finding[] {
  const findings: Finding[] = [];
  let newer: { link: Link; seen: Versioned } | null = null;
  for (const seen of chain) {
    const read = linkOf(seen);
    if (read instanceof RecordInvalid) {
      return [...findings, unreadable(seen.name, read)];
    }
    if (newer) {
      const { link } = newer;
      const at = `at commit ${newer.seen.oid.slice(0, 10)}`;
      if (link.token < read.token) {
        const problem = `its token went back from ${read.token} to ${link.token} ${at}`;
        findings.push({ check: "token", what: seen.name, problem, advice: restore });
      } else if (takes(link.event) && link.token === read.token) {
        const problem = `it changed hands ${at} under the old token ${link.token}`;
        findings.push({ check: "token", what: seen.name, problem, advice: restore });
      }
      if (link.previous !== seen.oid || link.depth !== read.depth + 1) {
        const problem = `its chain broke ${at}, which does not follow the commit before it`;
        findings.push({ check: "chain", what: seen.name, problem, advice: restore });
      }
    }
    newer = { link: read, seen };
  }
  return findings;
}

/** What cannot be read, with what its error says to do. */
export function unreadable(what: string, { why, advice }: RecordInvalid): Finding {
  return { check: "unreadable", what, problem: why, advice };
}

/** Events by which a token must rise. */
function takes(event: string): boolean {
  return event === "acquired" || event === "claimed" || event === "unlocked" || event === "sealed";
}

/** The parents of a commit at the edge of what was fetched are real, so every commit can be read like a tip. */
function linkOf(seen: Versioned): Link | RecordInvalid {
  try {
    if (seen.name.startsWith("fence/")) return (readFence(seen) as SeenFence).record;
    const read = seen.name.startsWith("lease/") ? readLease(seen) : readDraftRecord(seen);
    return (read as SeenLease | SeenDraft).record;
  } catch (error) {
    if (error instanceof RecordInvalid) return error;
    throw error;
  }
}

/** @param skew milliseconds by which clocks may differ. */
export function checkExpiry(seen: SeenLease | SeenDraft, now: Instant, skew: number): Finding[] {
  if (seen.record.state !== "held") return [];
  const lease = seen.record.kind === "lease";
  const end = lease ? expiresAt(seen as SeenLease) : draftExpiresAt(seen as SeenDraft);
  if (now < end + skew) return [];
  const ago = formatDuration(now - end);
  const next = lease
    ? "The next run takes it over by itself. If none is to come, look why this one ended without a word."
    : "The next sweep makes it pending again. If none is to come, look whether the sweep still runs.";
  const problem = `it is held, and expired ${ago} ago`;
  return [{ check: "expired", what: `${seen.record.kind} ${seen.record.name}`, problem, advice: next }];
}

/** Every draft is under exactly one heading, and the headings add up. */
export function checkHeadings({ counts, total, report }: SweepPlan): Finding[] {
  const sum = Object.values(counts).reduce((all, n) => all + n, 0);
  const paths = new Set(report.map(({ path }) => path));
  if (sum === total && paths.size === total && report.length === total) return [];
  const problem = `${total} drafts, and ${sum} under headings`;
  return [{ check: "headings", what: "drafts", problem, advice: "Report this as a fault of Fencepost." }];
}

/** Every write of a lease's counters adds exactly one, so a chain that does not add up lost or invented a count. */
export function checkStats(chain: readonly Versioned[]): Finding[] {
  let newer: SeenStats | null = null;
  for (const seen of chain) {
    let read: SeenStats | null;
    try {
      read = readStats(seen);
    } catch (error) {
      if (!(error instanceof RecordInvalid)) throw error;
      return [unreadable(seen.name, error)];
    }
    if (newer && read) {
      const days = Object.keys(newer.record.days);
      const added = total(newer, days) - total(read, days);
      if (added !== 1) {
        const problem = `its counts changed by ${added} instead of 1 at commit ${newer.oid.slice(0, 10)}`;
        const advice =
          "The counters are for people only, and nothing hangs on them; delete the branch to start them again.";
        return [{ check: "stats", what: seen.name, problem, advice }];
      }
    }
    newer = read;
  }
  return [];
}

function total({ record }: SeenStats, days: readonly string[]): number {
  return days.reduce((sum, day) => {
    const { skipped_overlap = 0, superseded = 0 } = record.days[day] ?? {};
    return sum + skipped_overlap + superseded;
  }, 0);
}
