// Asks GitHub whether a holder's run attempt has finished, and says once why it could not tell.
import { type KnownRuns, type RunState, runFinished } from "../github/liveness.js";
import { type Claim, describeClaim } from "../protocol/claim.js";
import type { Client } from "./place.js";
import type { Workflow } from "./workflow.js";

export type Finished = (holder: Claim) => Promise<boolean>;

export function livenessOf(workflow: Workflow, client: Client): Finished {
  const known: KnownRuns = new Map();
  let said = false;
  return async (holder) => {
    const answer = await runFinished(client, holder, { signal: AbortSignal.timeout(20_000), known }).catch(
      (error): RunState => ({ state: "unknown", reason: "unavailable", words: String(error) }),
    );
    if (answer.state === "unknown" && answer.reason !== "no-run" && !said) {
      said = true;
      workflow.info(
        `Whether ${describeClaim(holder)} has finished is not known, so what it holds is free when it expires, and not at once. ${answer.words}`,
      );
    }
    return answer.state === "finished";
  };
}
