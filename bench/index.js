// Prints what Fencepost costs: npm run bench
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const entry = fileURLToPath(new URL("./bench.ts", import.meta.url));
const { module } = await runnerImport(entry, { configFile: false, logLevel: "error" });
await module.bench();
