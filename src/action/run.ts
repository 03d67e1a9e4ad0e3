// Runs one step of an action, and turns what went wrong into one sentence.
import { redact } from "../git/program.js";
import { type Workflow, workflowOf } from "./workflow.js";

export async function runStep(step: (workflow: Workflow) => Promise<void>): Promise<void> {
  const workflow = workflowOf(process.env, (line) => void process.stdout.write(`${line}\n`));
  try {
    await step(workflow);
  } catch (error) {
    workflow.fail(redact(error instanceof Error ? error.message : String(error)));
    // A fault of ours shows where it is; a refusal that was foreseen says all in its sentence.
    if (error instanceof TypeError || error instanceof RangeError) workflow.info(redact(error.stack ?? ""));
  }
}
