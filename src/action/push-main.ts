// The step of push/action.yml.
import { push } from "./push.js";
import { runStep } from "./run.js";

await runStep(push);
