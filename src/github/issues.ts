// The issues of one repository that carry our label: listed, opened, changed and commented on.
import { ownerAndName } from "../store/github-swap.js";
import { type Answer, askRest, type GithubRequests } from "./requests.js";

export interface Issue {
  number: number;
  title: string;
  body: string;
  open: boolean;
}

export interface Issues {
  /** Those with the label, the oldest first. */
  list(state: "open" | "all"): Promise<Issue[]>;
  open(title: string, body: string): Promise<number>;
  change(number: number, change: { body?: string; state?: "open" | "closed" }): Promise<void>;
  comment(number: number, body: string): Promise<void>;
}

/** GitHub said no, or gave no answer to go by. */
export class IssuesUnavailable extends Error {
  override name = "IssuesUnavailable";
}

export const issueLabel = "fencepost";

const pageSize = 100;
/** Pages that are read at the most. */
const mostPages = 10;

interface Listed {
  number: number;
  title: string;
  body: string | null;
  state: string;
  pull_request?: unknown;
}

export function githubIssues(client: GithubRequests, repository: string): Issues {
  const { owner, name: repo } = ownerAndName(repository);
  const base = "/repos/{owner}/{repo}/issues";

  async function ask(route: string, parameters: Record<string, unknown>): Promise<unknown> {
    const signal = AbortSignal.timeout(30_000);
    const answer = await askRest(client, route, { owner, repo, ...parameters }, signal).catch(
      (error): Answer => ({ kind: "unknown", answered: false, words: String(error) }),
    );
    if (answer.kind === "ok") return answer.data;
    throw new IssuesUnavailable(`The issues of ${repository} could not be ${act(route)}: ${whyNot(answer)}`);
  }

  return {
    async list(state) {
      const found: Issue[] = [];
      for (let page = 1; page <= mostPages; page++) {
        const query = { labels: issueLabel, state, sort: "created", direction: "asc" };
        const data = (await ask(`GET ${base}`, { ...query, per_page: pageSize, page })) as Listed[];
        // GitHub lists pull requests among the issues.
        for (const one of data)
          if (one.pull_request === undefined)
            found.push({
              number: one.number,
              title: one.title,
              body: one.body ?? "",
              open: one.state === "open",
            });
        if (data.length < pageSize) break;
      }
      return found.sort((a, b) => a.number - b.number);
    },
    async open(title, body) {
      const made = await ask(`POST ${base}`, { title, body, labels: [issueLabel] });
      return (made as { number: number }).number;
    },
    async change(number, change) {
      await ask(`PATCH ${base}/{issue_number}`, { issue_number: number, ...change });
    },
    async comment(number, body) {
      await ask(`POST ${base}/{issue_number}/comments`, { issue_number: number, body });
    },
  };
}

function act(route: string): string {
  return route.startsWith("GET") ? "read" : "written";
}

function whyNot(answer: Exclude<Answer, { kind: "ok" }>): string {
  const said =
    "words" in answer && answer.words !== "" ? ` GitHub says: ${answer.words.replace(/\.$/, "")}.` : "";
  if (answer.kind === "refused" && answer.lack === "credentials")
    return `GitHub does not accept the token.${said}`;
  if (answer.kind === "refused")
    return `the token lacks the permission.${said} Give the job this, beside the permissions that it names already, since naming one sets all others to none:
    permissions:
      contents: write
      issues: write
A personal or app token takes the repository permission "Issues: Read and write". Or leave out alert: issue.`;
  if (answer.kind === "limited") return "GitHub's rate limit is used up. The next sweep tries again.";
  if (answer.kind === "no" && answer.code === "410")
    return "the repository has its issues turned off. Turn them on, or leave out alert: issue.";
  return `GitHub gave no answer to go by.${said} The next sweep tries again.`;
}
