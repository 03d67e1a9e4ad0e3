/** What GitHub's documentation leaves open: each choice can be switched, so that a client can be tried with both. */
export interface Behaviour {
  /** Where `data` stands in the generic GraphQL error: the whole of it null, or only the mutation's field. */
  genericErrorData: "null" | "field";
  /** Whether the well-known empty tree may be named in `POST git/commits` without having been written. */
  emptyTree: "known" | "unknown";
  /** Status of a REST answer over the primary limit; the documentation allows both. */
  primaryLimitStatus: 403 | 429;
  /** Type of the GraphQL error over the primary limit; both have been reported. */
  primaryLimitType: "RATE_LIMITED" | "RATE_LIMIT";
  /** Status of a GraphQL answer over a secondary limit; the documentation allows both. */
  secondaryLimitStatusGraphql: 200 | 403;
  /** Spaces before "Pull and try again." in the STALE_DATA text; both have been reported. */
  staleDataSpaces: 1 | 2;
  /** Whether `PATCH git/refs` checks fast-forward and writes as one step, or can overwrite what came between. */
  patchIsAtomic: boolean;
  /** Whether an `updateRefs` entry with `beforeOid` equal to `afterOid` guards the others. */
  unchangedRefGuards: boolean;
  /** Whether `GITHUB_TOKEN` may call `updateRefs`. */
  updateRefsByGithubToken: boolean;
  /** Whether an `--atomic` push with one ref refused by a rule leaves the others where they were. */
  atomicPushRollsBack: boolean;
  /** What an `--atomic` push that lost a race says of the ref that lost: git's word for all, or the lock's. */
  atomicLostRace: "atomic transaction failed" | "cannot lock ref";
  /** Whether a git push also spends one request of the REST limit. */
  pushSpendsRestLimit: boolean;
  /** Whether API version 2026-03-10 answers a dispatch with the run's id without being asked. */
  dispatchDetailsByVersion: boolean;
  /** The most inputs of a dispatch: 25, and 10 on GHES 3.17 to 3.19. */
  dispatchInputs: number;
}

export const githubDotCom: Behaviour = {
  genericErrorData: "null",
  emptyTree: "known",
  primaryLimitStatus: 403,
  primaryLimitType: "RATE_LIMITED",
  secondaryLimitStatusGraphql: 403,
  staleDataSpaces: 1,
  patchIsAtomic: true,
  unchangedRefGuards: true,
  updateRefsByGithubToken: true,
  atomicPushRollsBack: true,
  atomicLostRace: "atomic transaction failed",
  pushSpendsRestLimit: false,
  dispatchDetailsByVersion: true,
  dispatchInputs: 25,
};
