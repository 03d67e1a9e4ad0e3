// Starts one run of a workflow by `workflow_dispatch`, and says what became of it.
import { quote } from "../protocol/names.js";
import { type Answer, askRest, type GithubRequests } from "./requests.js";

export interface DispatchRequest {
  owner: string;
  repo: string;
  /** The name of the file in `.github/workflows`. */
  workflow: string;
  /** A branch, without `refs/heads/`. */
  ref: string;
  inputs: Record<string, string>;
}

export type Dispatched =
  | { outcome: "sent" }
  /** It may have been carried out. */
  | { outcome: "unsure"; words: string }
  /** `every`: another one now would fail alike. */
  | { outcome: "failed"; every: boolean; words: string };

/** @throws the signal's reason when it aborts. */
export async function dispatchWorkflow(
  client: GithubRequests,
  { owner, repo, workflow, ref, inputs }: DispatchRequest,
  signal?: AbortSignal,
): Promise<Dispatched> {
  const route = "POST /repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches";
  const answer = await askRest(client, route, { owner, repo, workflow_id: workflow, ref, inputs }, signal);
  return judge(answer, workflow);
}

function judge(answer: Answer, workflow: string): Dispatched {
  const what = `The workflow ${quote(workflow)} could not be started`;
  switch (answer.kind) {
    case "ok":
      return { outcome: "sent" };
    case "refused":
      return { outcome: "failed", every: true, words: `${what}: ${refusal(answer.lack, answer.words)}` };
    case "limited":
      return {
        outcome: "failed",
        every: true,
        words: `${what}: GitHub's rate limit is used up. The next sweep tries again.`,
      };
    case "no":
      if (answer.code !== "404")
        return { outcome: "failed", every: false, words: `${what}. GitHub says: ${answer.words}` };
      return {
        outcome: "failed",
        every: true,
        words: `${what}: the default branch has no such file in .github/workflows, or this token cannot see it. Check the name, and that the workflow is on the default branch.`,
      };
    case "unchanged":
    case "unknown":
      return {
        outcome: "unsure",
        words: `Whether the workflow ${quote(workflow)} was started is not known${"words" in answer ? ` (${answer.words})` : ""}.`,
      };
  }
}

function refusal(lack: string, words: string): string {
  const said = words === "" ? "" : ` GitHub says: ${words.replace(/\.$/, "")}.`;
  if (lack === "credentials")
    return `GitHub does not accept the token.${said} Give the sweep a token that is valid now.`;
  return `the token lacks the permission.${said} Give the job this, beside the permissions that it names already, since naming one sets all others to none:
    permissions:
      actions: write
      contents: write
A personal or app token takes the repository permission "Actions: Read and write".`;
}
