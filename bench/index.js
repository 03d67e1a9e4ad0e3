// Prints what Fencepost costs: npm run bench
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const entry = fileURLToPath(new URL("./bench.ts", import.meta.url));
// GitHub's parser imports JSON without saying so, which Node refuses and vite understands.
const { module } = await runnerImport(entry, {
  configFile: false,
  logLevel: "error",
  environments: { inline: { resolve: { noExternal: [/@actions\//] } } },
});
await module.bench();
