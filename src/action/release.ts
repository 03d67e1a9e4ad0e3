// `release/action.yml`: releases, in the last job, a lease that was acquired in an earlier one.
import { describeHolding } from "../lease/describe.js";
import { readOne, succeedLease } from "../lease/lease.js";
import { checkWitness, isMine } from "../protocol/lease.js";
import { quote } from "../protocol/names.js";
import { handedClaim, InputInvalid, placeInputs } from "./inputs.js";
import { clock, openClient, openPorts } from "./place.js";
import type { Workflow } from "./workflow.js";

export async function release(workflow: Workflow): Promise<void> {
  const handed = handedClaim(workflow);
  if (handed.lease === "")
    throw new InputInvalid("A draft is held here, and no lease. The draft is settled when its job ends.");
  const inputs = { ...placeInputs(workflow), repository: handed.repository, refPrefix: handed.prefix };
  const ports = openPorts(workflow, inputs, openClient(workflow.env, inputs.token));
  const { lease, token } = handed;
  try {
    const owner = { token, claim: { id: handed.id } };
    const seen = await readOne(ports.store, lease);
    checkWitness(lease, seen, token);
    const result = isMine(seen, owner)
      ? await succeedLease(ports, { lease, token, claim: seen.record.holder, ...seen }, "released")
      : ({ outcome: "not-mine", seen } as const);
    const released = result.outcome === "written";
    workflow.output("outcome", released ? "released" : "superseded");
    if (released) return workflow.info(`released: ${quote(lease)} (token ${token}).`);
    const now = clock.read().wall;
    workflow.warning(
      `${quote(lease)} was not released, since token ${token} no longer holds it${result.seen ? `: it is ${describeHolding(result.seen, now)}` : ""}. Nothing was changed.`,
    );
  } finally {
    await ports.store.close();
  }
}
