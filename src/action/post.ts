// The post step of action.yml.

import { runStep } from "./run.js";
import { settle } from "./settle.js";

await runStep(settle);
