// The step of sweep/action.yml.
import { runStep } from "./run.js";
import { sweepStep } from "./sweep.js";

await runStep(sweepStep);
