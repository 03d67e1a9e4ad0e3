// Who we are: the claim of this process, from what GitHub Actions or the machine tells.
import { hostname } from "node:os";
import type { Chance } from "../chance.js";
import type { Claim } from "../protocol/claim.js";

export function claimOf(env: NodeJS.ProcessEnv, chance: Chance, leg = ""): Claim {
  const id = chance.nonce();
  const { GITHUB_ACTIONS, GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_RUN_ATTEMPT } = env;
  if (GITHUB_ACTIONS !== "true" || !GITHUB_REPOSITORY || !GITHUB_RUN_ID)
    return { id, host: cut(hostname()), pid: process.pid };
  const attempt = Number(GITHUB_RUN_ATTEMPT ?? 1);
  return {
    id,
    repository: cut(GITHUB_REPOSITORY),
    runId: cut(GITHUB_RUN_ID),
    runAttempt: Number.isInteger(attempt) && attempt > 0 ? attempt : 1,
    ...(env.GITHUB_WORKFLOW ? { workflow: cut(env.GITHUB_WORKFLOW) } : {}),
    ...(env.GITHUB_JOB ? { job: cut(env.GITHUB_JOB) } : {}),
    ...(leg === "" ? {} : { leg: cut(leg) }),
    ...link(runUrl(env)),
  };
}

/** Where a person can watch this run attempt. */
export function runUrl(env: NodeJS.ProcessEnv): string {
  const server = env.GITHUB_SERVER_URL || "https://github.com";
  return `${server}/${env.GITHUB_REPOSITORY}/actions/runs/${env.GITHUB_RUN_ID}/attempts/${env.GITHUB_RUN_ATTEMPT || 1}`;
}

/** What a record takes at the most. */
const cut = (text: string) => text.slice(0, 300);

function link(url: string): { url?: string } {
  return /^https?:\/\//.test(url) && url.length <= 300 ? { url } : {};
}
