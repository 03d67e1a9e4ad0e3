// `push/action.yml`: a fenced push in the middle of a job, under the lease or the draft that the job holds.
import { endsWithJob } from "../gate/bundle-folder.js";
import { draftFence, type Fence, leaseFence } from "../gate/fence.js";
import type { PushResult } from "../gate/push.js";
import type { Instant } from "../protocol/record.js";
import { clockVariable } from "./held.js";
import {
  type HandedClaim,
  handedClaim,
  InputInvalid,
  type PlaceInputs,
  placeInputs,
  pushInputs,
} from "./inputs.js";
import { chance, clock, openClient, openPorts } from "./place.js";
import { publish } from "./publish.js";
import { warnOfExportedPulse } from "./pulse.js";
import type { Workflow } from "./workflow.js";

export async function push(workflow: Workflow): Promise<void> {
  const claim = handedClaim(workflow);
  if (workflow.input("claim") === "") await warnOfExportedPulse(workflow);
  const inputs = placeInputs(workflow);
  const storeNow = await storeTime(workflow, {
    ...inputs,
    repository: claim.repository,
    refPrefix: claim.prefix,
  });
  const { result, text } = await publish(workflow, {
    fences: fencesOf(claim),
    repository: claim.repository,
    prefix: claim.prefix,
    token: inputs.token,
    push: pushInputs(workflow),
    replaces: replacedOid(workflow.input("replace")),
    storeNow,
    storeNowAt: clock.read(),
  });
  workflow.output("outcome", result.outcome);
  workflow.output("pushed", String(result.outcome === "pushed"));
  workflow.output("commit", "commit" in result ? result.commit : "");
  if (result.outcome === "pushed" || result.outcome === "unchanged") workflow.info(text);
  else workflow.fail(`${text}${uploadAdvice(workflow, result)}`);
}

/** Here there are later steps, which can save what is on the runner alone. */
function uploadAdvice(workflow: Workflow, result: PushResult): string {
  const bundle = "rescue" in result && result.rescue.kept === "bundle" && endsWithJob(workflow.env);
  return bundle ? " To save this file, upload it as an artifact in a later step with if: failure()." : "";
}

/** What is held here: a lease, a draft, or both. */
function fencesOf({ lease, token, id, draft }: HandedClaim): [Fence, ...Fence[]] {
  const claim = { id };
  const drafts = draft ? [draftFence(draft.path, { token: draft.token, claim }, chance)] : [];
  const [only] = drafts;
  return lease === "" && only ? [only] : [leaseFence(lease, { token, claim }, chance), ...drafts];
}

/** The store's time: what the main step left in the environment, plus the time since; in another job, a read. */
async function storeTime(workflow: Workflow, place: PlaceInputs): Promise<Instant> {
  const offset = Number(workflow.env[clockVariable]);
  if (Number.isFinite(offset) && offset > 0) return offset + clock.read().monotonic;
  const ports = openPorts(workflow, place, openClient(workflow.env, place.token));
  try {
    return (await ports.store.read([])).now;
  } finally {
    await ports.store.close();
  }
}

function replacedOid(given: string): string | null | undefined {
  if (given === "") return undefined;
  if (given === "none") return null;
  if (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(given)) return given;
  throw new InputInvalid(
    'Input "replace" is neither a full commit id nor "none". Give the commit that the branch was at when the lease was acquired.',
  );
}
