// Requests of one store operation to GitHub: they wait for rate limits within a bound, and turn refusals into words.
import type { Chance } from "../chance.js";
import type { Clock } from "../clock.js";
import { refusalWords } from "../github/advice.js";
import type { Place, Request } from "../github/queries.js";
import { type Answer, askGraphql, askRest, type GithubRequests } from "../github/requests.js";
import { formatDuration } from "../protocol/duration.js";
import { type CallOptions, StoreMisconfigured, StoreRefused, StoreUnavailable } from "./store.js";

export interface Setup {
  octokit: GithubRequests;
  /** `owner/name`. */
  repository: string;
  place: Place;
  clock: Clock;
  chance: Chance;
  warn: (text: string) => void;
  /** The longest wait for rate limits in one operation, in milliseconds. */
  waitLimit: number;
  /** Whether the run belongs to a pull request from a fork, whose token can only read. */
  forkPullRequest: boolean;
}

export type Settled = Exclude<Answer, { kind: "refused" | "limited" }>;

export interface Calls {
  rest(route: string, parameters: Record<string, unknown>): Promise<Settled>;
  graphql(request: Request): Promise<Settled>;
  /** Reads, and reads again after a fault. @throws StoreUnavailable */
  read<T>(request: Request, take: (data: unknown, date: number | null) => T): Promise<T>;
  /** The pause before the n-th repetition. */
  pause(n: number): Promise<void>;
}

/** How often a request is sent whose outcome stays unknown. */
export const tries = 3;

/** GitHub's own advice where it names no time: at least a minute, and longer each time. */
const unnamedWait = 60_000;

export function startCalls(setup: Setup, act: "read from" | "write to", { signal }: CallOptions): Calls {
  const { octokit, clock, chance, repository } = setup;
  let left = setup.waitLimit;
  let waits = 0;

  async function settled(send: () => Promise<Answer>): Promise<Settled> {
    for (;;) {
      const answer = await send();
      if (answer.kind === "refused") throw refusal(answer);
      if (answer.kind !== "limited") return answer;
      await outwait(answer);
    }
  }

  function refusal(answer: Extract<Answer, { kind: "refused" }>): Error {
    const misconfigured = answer.lack === "empty" || answer.lack === "endpoint";
    const Kind = misconfigured ? StoreMisconfigured : StoreRefused;
    return new Kind(refusalWords(act, repository, answer, setup.forkPullRequest));
  }

  async function outwait(limited: Extract<Answer, { kind: "limited" }>): Promise<void> {
    // A server that says "0" for ever must not keep us for ever.
    const wait = Math.max(limited.wait ?? unnamedWait * 2 ** waits, 1000);
    const until = (limited.date ?? clock.read().wall) + wait;
    const which =
      limited.limit === "primary"
        ? `GitHub's rate limit for this token is used up`
        : `GitHub's secondary rate limit holds this token back`;
    const when = `${new Date(until).toISOString().slice(11, 19)} UTC (in ${formatDuration(Math.ceil(wait / 1000) * 1000)})`;
    if (wait > left)
      throw new StoreUnavailable(
        `Could not ${act} ${repository}: ${which}. It will be possible again at ${when}; run this again then. Nothing was changed by the request that was held back.`,
      );
    if (waits === 0) setup.warn(`${which}. Waiting until ${when} to ${act} ${repository}.`);
    waits++;
    left -= wait;
    await clock.sleep(wait, signal);
  }

  const graphql = ({ query, variables }: Request) =>
    settled(() => askGraphql(octokit, query, variables, signal));
  const pause = (n: number) => clock.sleep(200 * 2 ** (n - 1) * (0.5 + chance.random()), signal);

  return {
    rest: (route, parameters) => {
      const { owner, name: repo } = setup.place;
      return settled(() => askRest(octokit, route, { owner, repo, ...parameters }, signal));
    },
    graphql,
    pause,
    async read(request, take) {
      for (let n = 1; ; n++) {
        const answer = await graphql(request);
        let words = "words" in answer ? answer.words : "";
        if (answer.kind === "ok") {
          try {
            return take(answer.data, answer.date);
          } catch (error) {
            if (!(error instanceof TypeError)) throw error;
            words = error.message;
          }
        }
        if (n === tries)
          throw new StoreUnavailable(
            `Could not ${act} ${repository}: GitHub did not answer as it should, ${tries} times, last with: ${words}. Try again later; githubstatus.com tells of GitHub's own faults.`,
          );
        await pause(n);
      }
    },
  };
}
