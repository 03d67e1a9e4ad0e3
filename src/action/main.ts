// The main step of action.yml.
import { dirname, join } from "node:path";
import { acquire } from "./acquire.js";
import { runStep } from "./run.js";

// Beside this bundle, in dist/.
const heartbeat = join(dirname(process.argv[1] ?? ""), "..", "heartbeat", "index.js");
await runStep((workflow) => acquire(workflow, heartbeat));
