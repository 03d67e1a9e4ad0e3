// A repository in memory for the gate's rule: refs, commits of records, and transactions that the gate judges.
import {
  type DraftRecord,
  draftMessage,
  draftRecordName,
  readDraftRecord,
} from "../../src/protocol/draft.js";
import { judge, type RefChange, type Refused, type Rule } from "../../src/protocol/gate.js";
import {
  acquire,
  type LeaseRecord,
  leaseMessage,
  leaseRecordName,
  readLease,
} from "../../src/protocol/lease.js";
import { type RecordName, recordOf, refOf } from "../../src/protocol/names.js";
import type { Versioned } from "../../src/protocol/record.js";
import { claimOf, nonce, start } from "./draft-fixture.js";

export const main = "refs/heads/main";
export const leaseRef = refOf("fencepost", leaseRecordName("blog"));
export const draftRef = refOf("fencepost", draftRecordName("posts/a.md"));
export const work = "c".repeat(40);
export const behindLease: Rule = { behind: [{ kind: "lease", name: "blog" }] };
export const behindDrafts: Rule = { behind: [{ kind: "draft" }] };

let made = 0;

export class Refs {
  readonly tips = new Map<string, string>([[main, "a".repeat(40)]]);
  readonly commits = new Map<string, Pick<Versioned, "parents" | "message" | "writtenAt">>();
  constructor(readonly rule: Rule | null = behindLease) {}

  /** A commit with this message. */
  commit(message: string, ...parents: string[]): string {
    const oid = (++made).toString(16).padStart(40, "e");
    this.commits.set(oid, { parents, message, writtenAt: start });
    return oid;
  }

  judge(...changes: RefChange[]): Refused[] {
    const ruleOf = (ref: string) => (ref === main ? this.rule : null);
    const { tips, commits } = this;
    return judge({ changes, prefix: "fencepost", ruleOf, tips, commits });
  }

  /** The reasons of what is refused; when there is none, the changes are made. */
  push(...changes: RefChange[]): string[] {
    const refused = this.judge(...changes);
    if (refused.length === 0)
      for (const { ref, to } of changes) {
        if (to === null) this.tips.delete(ref);
        else this.tips.set(ref, to);
      }
    return refused.map(({ why }) => why);
  }

  versioned(ref: string, oid = this.tips.get(ref)): Versioned | null {
    const commit = oid === undefined ? undefined : this.commits.get(oid);
    if (oid === undefined || !commit) return null;
    return { ...commit, name: recordOf("fencepost", ref) as RecordName, oid };
  }

  lease = (oid?: string) => readLease(this.versioned(leaseRef, oid));
  draft = (oid?: string) => readDraftRecord(this.versioned(draftRef, oid));

  /** Takes the lease, whoever holds it. */
  take(who: string): string {
    const seen = this.lease();
    const ask = {
      lease: "blog",
      claim: claimOf(who),
      ttl: 60_000,
      now: start,
      skew: 0,
      holderFinished: true,
    };
    const granted = acquire(seen, { ...ask, nonce: nonce() });
    if (granted.outcome !== "grant") throw new Error("not granted");
    const { expected, root, record } = granted.write;
    const oid = this.commit(leaseMessage(record), ...(expected === null || root ? [] : [expected]));
    const refused = this.push({ ref: leaseRef, to: oid });
    if (refused.length > 0) throw new Error(refused.join());
    return oid;
  }

  /** The record of the lease that follows the tip, or another one, changed at will. */
  nextLease(
    change: Partial<LeaseRecord>,
    after = this.tips.get(leaseRef) as string,
    ...parents: string[]
  ): string {
    const seen = this.lease(after);
    if (!seen) throw new Error("no lease");
    const { published: _, ...kept } = seen.record;
    const record = {
      ...kept,
      event: "renewed",
      previous: after,
      depth: kept.depth + 1,
      nonce: nonce(),
      ...change,
    };
    const message = leaseMessage(record as LeaseRecord);
    return this.commit(message, ...(parents.length > 0 ? parents : record.depth === 1 ? [] : [after]));
  }

  /** The same for the draft; without a record there, `change` is the whole record. */
  nextDraft(change: Partial<DraftRecord>): string {
    const seen = this.draft();
    const kept = seen?.record ?? {
      fencepost: 1 as const,
      kind: "draft" as const,
      name: "posts/a.md",
      attempts: 1,
      lost: 0,
      ttl: 60_000,
      holder: claimOf("1"),
      since: new Date(start).toISOString(),
      fingerprint: "b".repeat(40),
      depth: 0,
    };
    const chain = { previous: seen?.oid ?? null, depth: kept.depth + 1, nonce: nonce() };
    const record = { ...kept, ...chain, ...change } as DraftRecord;
    return this.commit(draftMessage(record), ...(seen && record.depth > 1 ? [seen.oid] : []));
  }
}
