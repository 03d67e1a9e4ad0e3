// The local runner's public door: runs a workflow file on this machine as GitHub's runner (actions/runner) would.
// It does not reproduce, and refuses: called workflows, containers, services, docker actions, background steps.
export type { LineSource, Permissions, RunEvent, RunOptions, Times, TokenRequest } from "./options.js";
export { realTimes } from "./options.js";
export type { Annotation, Conclusion, JobResult, RunResult, Stage, StepResult } from "./result.js";
export { stepOf } from "./result.js";
export { type RunHandle, runWorkflow } from "./run.js";
export type { StandIn, StandInRun } from "./stand-in.js";
