// Where an action works: the store of its inputs, the remote it pushes to, and who we are.
import { readFileSync } from "node:fs";
import { type Chance, systemChance } from "../chance.js";
import { type Clock, systemClock } from "../clock.js";
import { type Clone, findClone } from "../git/clone.js";
import type { ConfigEntry } from "../git/program.js";
import type { Remote } from "../git/remote.js";
import { remoteAt } from "../git/remote.js";
import { githubClient } from "../github/client.js";
import type { Ports } from "../lease/lease.js";
import { gitStore } from "../store/git.js";
import { githubStore } from "../store/github.js";
import type { PlaceInputs } from "./inputs.js";
import type { Workflow } from "./workflow.js";

export const clock: Clock = systemClock;
export const chance: Chance = systemChance;

export type Client = ReturnType<typeof githubClient>;

export function openClient(env: NodeJS.ProcessEnv, token: string): Client {
  return githubClient({
    token,
    apiUrl: env.GITHUB_API_URL || "https://api.github.com",
    graphqlUrl: env.GITHUB_GRAPHQL_URL || "https://api.github.com/graphql",
    userAgent: "fencepost",
  });
}

export function openPorts(workflow: Workflow, inputs: PlaceInputs, client: Client): Ports {
  const { env } = workflow;
  const parts = { prefix: inputs.refPrefix, clock, chance };
  const warn = (text: string) => workflow.warning(text);
  const store =
    inputs.store === "git"
      ? gitStore({ remote: lendToken(env, inputs.repository, inputs.token, null), ...parts })
      : githubStore({
          octokit: client,
          repository: inputs.repository,
          warn,
          forkPullRequest: fromFork(env),
          ...parts,
        });
  return { store, clock, chance };
}

/** The repository of the lease as a git remote, reached with a token instead of with what the clone has. */
export function lendToken(
  env: NodeJS.ProcessEnv,
  repository: string,
  token: string,
  clone: Clone | null,
): Remote {
  const server = env.GITHUB_SERVER_URL || "https://github.com";
  const header = `AUTHORIZATION: basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`;
  const key = `http.${server}/.extraheader`;
  // Emptied first: checkout may have left a header of its own, and two are an error.
  const auth: ConfigEntry[] = [
    [key, ""],
    [key, header],
  ];
  return remoteAt(`${server}/${repository}`, clone, auth);
}

/** The clone that a push goes out from. */
export async function cloneIn(directory: string): Promise<Clone | null> {
  return findClone(directory);
}

/** Pull requests from forks get a token that may only read. Only words hang on this. */
function fromFork(env: NodeJS.ProcessEnv): boolean {
  if (env.GITHUB_EVENT_NAME !== "pull_request" || !env.GITHUB_EVENT_PATH) return false;
  try {
    const event = JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, "utf8"));
    return event.pull_request?.head?.repo?.fork === true;
  } catch {
    return false;
  }
}
