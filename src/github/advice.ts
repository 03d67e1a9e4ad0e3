// What a person is told when GitHub turns a token away, and what cures it.
import type { Lack } from "./requests.js";

const workflow = `    permissions:
      contents: write`;

/** The whole message: what happened, why, and what to do next. `act`: "read from" or "write to". */
export function refusalWords(
  act: string,
  repository: string,
  refusal: { lack: Lack; words: string },
  forkPullRequest: boolean,
): string {
  const said = refusal.words === "" ? "" : ` GitHub says: ${refusal.words.replace(/\.$/, "")}.`;
  switch (refusal.lack) {
    case "permission":
      if (forkPullRequest && act === "write to")
        return `Could not write to ${repository}: this run belongs to a pull request from a fork, and GitHub gives such a run a token that can only read, whatever its workflow asks for.${said} Run Fencepost on push, schedule or workflow_dispatch instead, or skip its job for forks with
    if: github.event.pull_request.head.repo.full_name == github.repository`;
      return `Could not ${act} ${repository}: the token lacks the permission.${said} Give the job this, beside the permissions that it names already, since naming one sets all others to none:
${workflow}
A personal or app token takes the repository permission "Contents: Read and write". If the token has it, the repository may be archived, or its owner may keep the token out.`;
    case "credentials":
      return `Could not ${act} ${repository}: GitHub does not accept the token.${said} It is mistyped, was revoked or has expired; a job's GITHUB_TOKEN ends with its job. Give Fencepost a token that is valid now.`;
    case "invisible":
      return `Could not ${act} ${repository}: there is no such repository, or this token cannot see it.${said} Check owner and name. A job's GITHUB_TOKEN reaches the repository of its workflow only; any other takes a personal or app token with "Contents: Read and write" there.`;
    case "empty":
      return `Could not ${act} ${repository}: the repository has no commit yet.${said} Push a first commit to it, then run this again.`;
    case "endpoint":
      return `Could not ${act} ${repository}: there is no GraphQL API at the address that was given.${said} Check GITHUB_GRAPHQL_URL: https://api.github.com/graphql, or https://HOST/api/graphql on GitHub Enterprise Server.`;
  }
}
