// The step of release/action.yml.
import { release } from "./release.js";
import { runStep } from "./run.js";

await runStep(release);
