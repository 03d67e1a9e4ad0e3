// `push/action.yml`: a fenced push in the middle of a job, under the lease that the job holds.
import type { Instant } from "../protocol/record.js";
import { clockVariable } from "./held.js";
import { handedClaim, InputInvalid, type PlaceInputs, placeInputs, pushInputs } from "./inputs.js";
import { clock, openClient, openPorts } from "./place.js";
import { publish } from "./publish.js";
import type { Workflow } from "./workflow.js";

export async function push(workflow: Workflow): Promise<void> {
  const claim = handedClaim(workflow);
  const inputs = placeInputs(workflow);
  const storeNow = await storeTime(workflow, {
    ...inputs,
    repository: claim.repository,
    refPrefix: claim.prefix,
  });
  const { result, text } = await publish(workflow, {
    lease: claim.lease,
    owner: { token: claim.token, claim: { id: claim.id } },
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
  else workflow.fail(text);
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
