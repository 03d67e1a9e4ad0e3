// A local GitHub and a local runner together: workflows that use this action, run on the bundles in dist/.
import { fileURLToPath } from "node:url";
import type { GithubOptions } from "./github/server.js";
import { type Github, startGithub } from "./github/server.js";
import type { Level, Permission } from "./github/tokens.js";
import {
  type RunHandle,
  type RunOptions,
  type RunResult,
  runWorkflow,
  type TokenRequest,
} from "./runner/index.js";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Hub {
  github: Github;
  /** Starts a run of a workflow: with an id of its own, known to the local GitHub, and finished there when it ends. */
  start(yaml: string, options?: StartOptions): HubRun;
  run(yaml: string, options?: StartOptions): Promise<RunResult>;
  /** A record's JSON at the tip of a ref. */
  record(ref: string): Promise<Record<string, unknown>>;
  /** The events of a lease, oldest first. */
  events(lease: string): Promise<string[]>;
  close(): Promise<void>;
}

export interface StartOptions extends Partial<RunOptions> {
  id?: number;
  attempt?: number;
  workflow?: string;
}

export interface HubRun extends RunHandle {
  id: number;
  /** Ends as a lost machine does, without a post step. The run stays in progress at GitHub until `finishRun`. */
  kill(): Promise<void>;
}

/** Workflow permissions that the local GitHub knows. */
const known: Permission[] = ["contents", "actions", "issues"];

export async function hub(options: GithubOptions = {}): Promise<Hub> {
  const github = await startGithub(options);
  await github.seed({ files: { "README.md": "# a blog\n", "posts/1.md": "one\n" } });
  const secrets = new Set<string>();
  let next = 1000;

  function mintToken({ for: use, permissions }: TokenRequest): string {
    const wanted: Partial<Record<Permission, Level>> = { metadata: "read" };
    for (const name of known) {
      const all = typeof permissions === "string" ? permissions.replace("-all", "") : undefined;
      const level =
        all ??
        (permissions as Record<string, string> | undefined)?.[name] ??
        (permissions ? "none" : "write");
      wanted[name] = level as Level;
    }
    const token =
      use === "app"
        ? github.token({ contents: "write", workflows: "write", kind: "app", label: "app" })
        : github.token({ ...wanted, kind: "GITHUB_TOKEN", label: use });
    secrets.add(token);
    return token;
  }

  function start(yaml: string, given: StartOptions = {}): HubRun {
    const { id = next++, attempt = 1, ...rest } = given;
    github.addRun({ id, attempt });
    const handle = runWorkflow({
      yaml,
      actions: { "fencepost/fencepost": root },
      pace: 0.1,
      mintToken,
      ...rest,
      env: {
        GITHUB_SERVER_URL: github.url,
        GITHUB_API_URL: github.apiUrl,
        GITHUB_GRAPHQL_URL: github.graphqlUrl,
        ...rest.env,
      },
      github: {
        repository: "octo/blog",
        run_id: String(id),
        run_attempt: String(attempt),
        ref: "refs/heads/main",
        server_url: github.url,
        api_url: github.apiUrl,
        graphql_url: github.graphqlUrl,
        ...rest.github,
      },
    });
    const done = handle.done.then((result) => {
      if (!result.jobs.some((job) => job.abandoned)) github.finishRun(id, result.conclusion, attempt);
      return result;
    });
    return {
      ...handle,
      id,
      done,
      cancel: () => handle.cancel(),
      kill: () => handle.kill(),
      seen: (what) => handle.seen(what),
    };
  }

  return {
    github,
    start,
    run: (yaml, given) => start(yaml, given).done,
    async record(ref) {
      const [tip] = await github.log(ref);
      const message = tip?.message ?? "";
      return JSON.parse(message.slice(message.indexOf("\n\n")));
    },
    async events(lease) {
      const log = await github.log(`refs/heads/fencepost/lease/${lease}`);
      return log
        .map((commit) => JSON.parse(commit.message.slice(commit.message.indexOf("\n\n"))).event)
        .reverse();
    },
    close: () => github.close(),
  };
}

/** A workflow that works under a lease; `steps` come between the lease and the end. */
export function leased(
  steps: string,
  inputs: Record<string, string | boolean> = {},
  permissions = "contents: write\n  actions: read",
): string {
  const given = Object.entries({ lease: "blog", push: true, ...inputs }).map(
    ([name, value]) => `          ${name}: ${JSON.stringify(String(value))}`,
  );
  return `
name: agent
on: [schedule, workflow_dispatch]
permissions:
  ${permissions}
jobs:
  write:
    runs-on: ubuntu-latest
    outputs:
      outcome: \${{ steps.lease.outputs.outcome }}
    steps:
      - uses: actions/checkout@v7
      - uses: fencepost/fencepost@v1
        id: lease
        with:
${given.join("\n")}
${steps.replace(/^/gm, "      ")}
`;
}

/** A step that commits. It runs only under the lease. */
export const commitStep = (file = "posts/2.md", more = "") =>
  `
- name: work
  id: work
  if: steps.lease.outputs.acquired == 'true'
  run: |
    git config user.name agent
    git config user.email agent@example.org
    echo "$FENCEPOST_TOKEN" > ${file}
    git add ${file}
    git commit -q -m "article ${file}"
    ${more}
`.trim();
