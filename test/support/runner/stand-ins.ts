// The built-in stand-ins, by the name of the action.
import { checkout } from "./checkout.js";
import type { StandIn } from "./stand-in.js";

const appToken: StandIn = {
  manifest: `
name: Create GitHub App Token
description: Stands in for actions/create-github-app-token
inputs:
  app-id: {}
  client-id: {}
  private-key: {}
  owner: {}
  repositories: {}
  github-api-url: { default: "\${{ github.api_url }}" }
  skip-token-revoke: { default: "false" }
${["actions", "contents", "issues", "pull-requests", "workflows"].map((scope) => `  permission-${scope}: {}`).join("\n")}
runs: { using: node24, main: main }
`,
  async main(run) {
    const scopes = Object.entries(run.inputs).filter(
      ([name, level]) => name.startsWith("permission-") && level,
    );
    const permissions = Object.fromEntries(
      scopes.map(([name, level]) => [name.slice("permission-".length), level]),
    );
    const token = await run.mintToken({ for: "app", permissions, inputs: run.inputs });
    run.mask(token);
    run.output("token", token);
    run.output("app-slug", "fencepost-app");
    run.output("installation-id", "1");
  },
};

const setupNode: StandIn = {
  manifest: `
name: Setup Node
description: Stands in for actions/setup-node, for Node is there already
inputs:
${["node-version", "node-version-file", "cache", "cache-dependency-path", "check-latest", "registry-url", "scope", "token", "package-manager-cache"].map((name) => `  ${name}: {}`).join("\n")}
runs: { using: node24, main: main }
`,
  async main() {},
};

export const standIns: Record<string, StandIn> = {
  "actions/checkout": checkout,
  "actions/create-github-app-token": appToken,
  "actions/setup-node": setupNode,
};
