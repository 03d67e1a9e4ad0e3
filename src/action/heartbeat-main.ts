// The heartbeat's process.
import { beatUntilStopped } from "./heartbeat.js";
import { runStep } from "./run.js";

await runStep(beatUntilStopped);
