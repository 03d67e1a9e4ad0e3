// Views to render in tests: a lease with a history, made by the real rules and read by the real readers.
import type { SummaryView } from "../../src/action/summary.js";
import type { Claim } from "../../src/protocol/claim.js";
import {
  type LeaseRecord,
  leaseMessage,
  leaseRecordName,
  readLease,
  type SeenLease,
} from "../../src/protocol/lease.js";
import {
  readStats,
  type SeenStats,
  type StatsRecord,
  statsMessage,
  statsRecordName,
} from "../../src/protocol/stats.js";

export const now = Date.UTC(2026, 10, 30, 7, 3, 12);
export const commit = "c0ffee1234".padEnd(40, "0");

export const me: Claim = {
  id: "claim-of-mine",
  repository: "octo/blog",
  runId: "812345",
  runAttempt: 1,
  job: "write",
  url: "https://github.com/octo/blog/actions/runs/812345/attempts/1",
};
export const other: Claim = {
  ...me,
  id: "claim-of-other",
  runId: "812399",
  url: "https://github.com/octo/blog/actions/runs/812399/attempts/1",
};

const recent: LeaseRecord["recent"] = [
  {
    token: 40,
    who: "octo/blog run 811900.1 (write)",
    url: "https://github.com/octo/blog/actions/runs/811900/attempts/1",
    from: "2026-11-30T05:00:04.000Z",
    to: "2026-11-30T05:04:11.000Z",
    end: "released",
    pushed: 1,
  },
  {
    token: 41,
    who: "octo/blog run 812100.1 (write)",
    from: "2026-11-30T06:00:03.000Z",
    to: "2026-11-30T06:15:03.000Z",
    end: "expired",
  },
];

export const days: NonNullable<LeaseRecord["days"]> = {
  "2026-11-20": { acquired: 99 },
  "2026-11-28": { acquired: 4, pushed: 3, finished: 1, unlocked: 1 },
  "2026-11-30": { acquired: 3, pushed: 2, expired: 1 },
};

/** The lease with token 42, as `holder` has it and as a store would give it. */
export function leaseOf(holder: Claim, change: Partial<LeaseRecord> = {}, writtenAt = now - 1000): SeenLease {
  const record: LeaseRecord = {
    fencepost: 1,
    kind: "lease",
    name: "blog-main",
    token: 42,
    state: "held",
    ttl: 900_000,
    holder,
    since: "2026-11-30T07:00:02.000Z",
    event: "renewed",
    previous: null,
    depth: 1,
    nonce: "nonce-of-mine",
    days,
    recent,
    ...change,
  };
  const name = leaseRecordName(record.name);
  return readLease({
    name,
    oid: "a".repeat(40),
    writtenAt,
    parents: [],
    message: leaseMessage(record),
  }) as SeenLease;
}

export function statsOf(change: Partial<StatsRecord> = {}): SeenStats {
  const record: StatsRecord = {
    fencepost: 1,
    kind: "stats",
    name: "blog-main",
    event: "skipped_overlap",
    days: { "2026-11-29": { superseded: 1 }, "2026-11-30": { skipped_overlap: 5 } },
    row: 5,
    token: 42,
    previous: null,
    depth: 1,
    nonce: "nonce-of-mine",
    ...change,
  };
  const name = statsRecordName(record.name);
  return readStats({
    name,
    oid: "b".repeat(40),
    writtenAt: now,
    parents: [],
    message: statsMessage(record),
  }) as SeenStats;
}

export function view(change: Partial<SummaryView> = {}): SummaryView {
  return {
    happening: { outcome: "pushed", published: { "refs/heads/main": commit } },
    lease: "blog-main",
    run: me,
    token: 42,
    now,
    seen: leaseOf(me, { state: "released", event: "released" }),
    stats: statsOf(),
    branch: "refs/heads/main",
    commit,
    serverUrl: "https://github.com",
    repository: "octo/blog",
    ...change,
  };
}
