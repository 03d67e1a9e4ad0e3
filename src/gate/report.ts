// What came of a push, in one or two sentences: what happened, to what, why, and what to do next.
import { describeHolding } from "../lease/describe.js";
import type { Ownership } from "../protocol/lease.js";
import { quote } from "../protocol/names.js";
import type { Instant } from "../protocol/record.js";
import type { PushResult } from "./push.js";
import { describeRescue } from "./rescue.js";

export interface PushContext {
  lease: string;
  owner: Ownership;
  /** A full ref. */
  branch: string;
  /** The repository, without credentials. */
  where: string;
  now: Instant;
}

export function describePush(result: PushResult, context: PushContext): string {
  const { lease, owner } = context;
  const branch = context.branch.replace(/^refs\/heads\//, "");
  const where = `${branch} of ${context.where}`;
  switch (result.outcome) {
    case "pushed": {
      const how = result.replayed ? " (made on the tip that the branch had moved to)" : "";
      return `pushed ${result.commit} to ${where}${how}, under token ${owner.token}.`;
    }
    case "unchanged":
      return `unchanged: ${where} is at ${result.commit.slice(0, 10)} already, so nothing was pushed.`;
    case "moved":
      return `moved: ${where} was not changed, because ${result.why}. ${describeRescue(result.rescue)} Merge them by hand, or run again on the new tip.`;
    case "superseded": {
      const by = result.by
        ? `The lease is now: ${describeHolding(result.by, context.now)}.`
        : "Its record is gone.";
      return `superseded: the push was refused and ${branch} is untouched, because token ${owner.token} of ${quote(lease)} no longer holds the lease. ${by} ${describeRescue(result.rescue)}`;
    }
    case "refused":
      return `refused: ${where} did not take the push: ${result.refusal.words}. ${result.refusal.advice} ${describeRescue(result.rescue)}`;
    case "broken":
      return `not pushed: ${result.why} ${describeRescue(result.rescue)}`;
    case "unavailable":
      return `unavailable: whether the push to ${where} arrived could not be settled: ${result.why}. ${describeRescue(result.rescue)} Look at the branch before you push again.`;
  }
}
