// Runs one stage of a stand-in as if it were a process of the step.
import type { JobStatus } from "./job-state.js";
import type { Stage } from "./result.js";
import type { StandIn } from "./stand-in.js";
import { Interrupted, type StepRun } from "./step.js";
import { stateOf } from "./step-process.js";
import { githubOfStep } from "./step-scope.js";

export async function runStandIn(
  run: StepRun,
  standIn: StandIn,
  inputs: Record<string, string>,
  stage: Stage,
): Promise<JobStatus> {
  const { job } = run.frame;
  try {
    await (stage === "post" ? standIn.post : standIn.main)?.call(standIn, {
      inputs,
      env: { ...job.machine.env, ...run.env },
      workspace: job.machine.workspace,
      temp: job.machine.temp,
      github: githubOfStep(run),
      options: job.options,
      state: stateOf(run),
      signal: run.signal,
      log: (line) => run.log.print(line),
      output: (name, value) => {
        run.result.outputs[name] = value;
      },
      mask: (value) => job.masks.add(value),
      mintToken: async (request) => job.mintToken({ ...request, job: job.id }),
    });
    return "success";
  } catch (error) {
    if (run.signal.aborted) throw new Interrupted();
    throw error;
  }
}
