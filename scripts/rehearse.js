// Runs a workflow file on this machine, as GitHub's runner would: npm run rehearse examples/<file> -- [options]
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const entry = fileURLToPath(new URL("../test/support/runner/rehearse.ts", import.meta.url));
// GitHub's parser imports JSON without saying so, which Node refuses and vite understands.
const { module } = await runnerImport(entry, {
  configFile: false,
  logLevel: "error",
  environments: { inline: { resolve: { noExternal: [/@actions\//] } } },
});
process.exitCode = await module.rehearse(process.argv.slice(2));
