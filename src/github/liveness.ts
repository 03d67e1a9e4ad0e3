// Whether the run that made a claim still runs, asked of the Actions API, and its cancellation.
import type { Claim } from "../protocol/claim.js";
import { type Answer, askRest, type GithubRequests } from "./requests.js";

type RunOf = Pick<Claim, "repository" | "runId" | "runAttempt">;

export type RunState =
  /** That attempt of the run has ended, so that nothing of it can still hold anything. */
  | { state: "finished" }
  | { state: "running" }
  /** `permission`: the token probably lacks `actions: read`, which is worth saying once. */
  | { state: "unknown"; reason: "no-run" | "permission" | "unavailable"; words: string };

/** What earlier questions were answered, so that asking again is free while nothing has changed. */
export type KnownRuns = Map<string, { etag: string; state: "finished" | "running" }>;

/**
 * Whether the attempt of the run that made the claim has finished. Never a guess: whatever is not a plain answer is
 * `unknown`, and the lease's expiry decides.
 * @throws the signal's reason when it aborts.
 */
export async function runFinished(
  client: GithubRequests,
  claim: RunOf,
  { signal, known }: { signal?: AbortSignal | undefined; known?: KnownRuns } = {},
): Promise<RunState> {
  const run = runOf(claim);
  if (run === null) return noRun;
  const key = `${run.owner}/${run.repo} ${run.run_id}.${run.attempt_number}`;
  const before = known?.get(key);
  // An attempt that has ended stays so; a re-run is another attempt.
  if (before?.state === "finished") return { state: "finished" };
  const answer = await askRest(
    client,
    "GET /repos/{owner}/{repo}/actions/runs/{run_id}/attempts/{attempt_number}",
    { ...run, ...(before ? { headers: { "if-none-match": before.etag } } : {}) },
    signal,
  );
  if (answer.kind === "unchanged" && before) return { state: before.state };
  if (answer.kind !== "ok") return unknown(answer, "read");
  const { status } = (answer.data ?? {}) as { status?: unknown };
  if (typeof status !== "string")
    return { state: "unknown", reason: "unavailable", words: "GitHub's answer names no status of the run." };
  const state = status === "completed" ? "finished" : "running";
  if (answer.etag !== null) known?.set(key, { etag: answer.etag, state });
  return { state };
}

export type Cancelled =
  | { outcome: "requested" }
  | { outcome: "finished" }
  | { outcome: "failed"; reason: "no-run" | "permission" | "unavailable"; words: string };

/**
 * Asks GitHub to cancel the run of a claim. Only for a claim of the caller's own: GitHub cancels the newest attempt of
 * the run, whichever attempt the claim was made by.
 * @throws the signal's reason when it aborts.
 */
export async function cancelRun(
  client: GithubRequests,
  claim: RunOf,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Cancelled> {
  const run = runOf(claim);
  if (run === null) return { outcome: "failed", reason: noRun.reason, words: noRun.words };
  const { owner, repo, run_id } = run;
  const route = "POST /repos/{owner}/{repo}/actions/runs/{run_id}/cancel";
  const answer = await askRest(client, route, { owner, repo, run_id }, signal);
  if (answer.kind === "ok") return { outcome: "requested" };
  // 409 is what GitHub answers for a run that has ended.
  if (answer.kind === "unknown" && answer.words.startsWith("HTTP 409")) return { outcome: "finished" };
  const { reason, words } = unknown(answer, "write");
  return { outcome: "failed", reason, words };
}

const noRun = {
  state: "unknown",
  reason: "no-run",
  words: "The claim was not made by a run of GitHub Actions.",
} as const;

/** A claim is what somebody wrote into a record, so its parts are checked before they become a path. */
function runOf({ repository, runId, runAttempt }: RunOf) {
  const [, owner, repo] = /^([\w.-]+)\/([\w.-]+)$/.exec(repository ?? "") ?? [];
  if (owner === undefined || repo === undefined || /^\.+$/.test(owner) || /^\.+$/.test(repo)) return null;
  if (!/^\d+$/.test(runId ?? "")) return null;
  return { owner, repo, run_id: runId, attempt_number: runAttempt ?? 1 };
}

function unknown(answer: Answer, level: "read" | "write"): Extract<RunState, { state: "unknown" }> {
  const said = "words" in answer && answer.words !== "" ? ` (${answer.words})` : "";
  const turnedAway = answer.kind === "refused" || (answer.kind === "no" && answer.code === "404");
  if (turnedAway)
    return {
      state: "unknown",
      reason: "permission",
      words: `GitHub does not show the run to this token${said}. It takes the permission "actions: ${level}" in the run's repository.`,
    };
  const why = answer.kind === "limited" ? "its rate limit is used up" : `it gave no answer to go by${said}`;
  return {
    state: "unknown",
    reason: "unavailable",
    words: `GitHub could not be asked about the run: ${why}.`,
  };
}
