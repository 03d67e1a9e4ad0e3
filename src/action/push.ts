// `push/action.yml`: a fenced push in the middle of a job, under the lease or the draft that the job holds.
import { endsWithJob } from "../gate/bundle-folder.js";
import { draftFence, type Fence, leaseFence } from "../gate/fence.js";
import { acceptedIn, destinationFences } from "../gate/foreign.js";
import type { PushResult } from "../gate/push.js";
import { describeRescue } from "../gate/rescue.js";
import type { Ports } from "../lease/lease.js";
import type { Instant } from "../protocol/record.js";
import { notePublished, reachThere } from "./destination.js";
import { clockVariable } from "./held.js";
import {
  destinationInput,
  type HandedClaim,
  handedClaim,
  InputInvalid,
  placeInputs,
  pushInputs,
} from "./inputs.js";
import { chance, clock, openClient, openPorts } from "./place.js";
import { keep, type Publication, publish } from "./publish.js";
import { warnOfExportedPulse } from "./pulse.js";
import type { Workflow } from "./workflow.js";

export async function push(workflow: Workflow): Promise<void> {
  const claim = handedClaim(workflow);
  if (workflow.input("claim") === "") await warnOfExportedPulse(workflow);
  const inputs = { ...placeInputs(workflow), repository: claim.repository, refPrefix: claim.prefix };
  const pushed = pushInputs(workflow);
  const replaces = replacedOid(workflow.input("replace"));
  const own = fencesOf(claim);
  const destination = destinationInput(workflow, "repository", claim.repository) ?? claim.destination;
  const ports = openPorts(workflow, inputs, openClient(workflow.env, inputs.token));
  try {
    const token = pushed.pushToken || inputs.token;
    const there = destination && { repository: destination, prefix: claim.prefix, token };
    const reached = there ? await reachThere(workflow, ports, own, there) : null;
    const publication: Publication = {
      fences: reached?.outcome === "sealed" ? destinationFences(reached.held, chance) : own,
      repository: destination ?? claim.repository,
      prefix: claim.prefix,
      token: inputs.token,
      push: pushed,
      replaces,
      storeNow: await storeTime(workflow, ports),
      storeNowAt: clock.read(),
    };
    if (reached && reached.outcome !== "sealed") return await stop(workflow, reached, publication);
    const { result, text } = await publish(workflow, publication);
    if (reached?.draft && result.outcome === "pushed")
      await notePublished(workflow, ports, reached.draft, acceptedIn(result.written));
    workflow.output("outcome", result.outcome);
    workflow.output("pushed", String(result.outcome === "pushed"));
    workflow.output("commit", "commit" in result ? result.commit : "");
    if (result.outcome === "pushed" || result.outcome === "unchanged") workflow.info(text);
    else workflow.fail(`${text}${uploadAdvice(workflow, result)}`);
  } finally {
    await ports.store.close();
  }
}

/** Nothing is pushed to another repository: this run came too late for its fence, or it has the draft already. */
async function stop(
  workflow: Workflow,
  { outcome, why }: { outcome: "superseded" | "unchanged"; why: string },
  publication: Publication,
): Promise<void> {
  workflow.output("outcome", outcome);
  workflow.output("pushed", "false");
  workflow.output("commit", "");
  if (outcome === "unchanged") return workflow.warning(`unchanged: ${why} Nothing was pushed.`);
  const kept = describeRescue(await keep(workflow, publication, null));
  workflow.fail(`superseded: ${why} Nothing was pushed. ${kept}`);
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
async function storeTime(workflow: Workflow, { store }: Ports): Promise<Instant> {
  const offset = Number(workflow.env[clockVariable]);
  if (Number.isFinite(offset) && offset > 0) return offset + clock.read().monotonic;
  return (await store.read([])).now;
}

function replacedOid(given: string): string | null | undefined {
  if (given === "") return undefined;
  if (given === "none") return null;
  if (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(given)) return given;
  throw new InputInvalid(
    'Input "replace" is neither a full commit id nor "none". Give the commit that the branch was at when the lease was acquired.',
  );
}
