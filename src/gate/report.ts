// What came of a push, in one or two sentences: what happened, to what, why, and what to do next.
import type { Instant } from "../protocol/record.js";
import type { PushRequest, PushResult } from "./push.js";
import { describeRescue } from "./rescue.js";

export interface PushContext {
  fences: PushRequest["fences"];
  /** A full ref. */
  branch: string;
  /** The repository, without credentials. */
  where: string;
  now: Instant;
}

export function describePush(result: PushResult, context: PushContext): string {
  const branch = context.branch.replace(/^refs\/heads\//, "");
  const where = `${branch} of ${context.where}`;
  switch (result.outcome) {
    case "pushed": {
      const how = result.replayed ? " (made on the tip that the branch had moved to)" : "";
      return `pushed ${result.commit} to ${where}${how}, under token ${context.fences[0].token}.`;
    }
    case "unchanged":
      return `unchanged: ${where} is at ${result.commit.slice(0, 10)} already, so nothing was pushed.`;
    case "moved":
      return `moved: ${where} was not changed, because ${result.why}. ${describeRescue(result.rescue)} Merge them by hand, or run again on the new tip.`;
    case "superseded":
      return `superseded: the push was refused and ${branch} is untouched, because ${result.fence.lost(result.seen, context.now)} ${describeRescue(result.rescue)}`;
    case "refused":
      return `refused: ${where} did not take the push: ${result.refusal.words}. ${result.refusal.advice} ${describeRescue(result.rescue)}`;
    case "broken":
      return `not pushed: ${result.why} ${describeRescue(result.rescue)}`;
    case "unavailable":
      return `unavailable: whether the push to ${where} arrived could not be settled: ${result.why}. ${describeRescue(result.rescue)} Look at the branch before you push again.`;
  }
}
