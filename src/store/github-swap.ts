// Compare-and-swap on GitHub: the cheapest request that compares, and a second look where its outcome is unknown.
import {
  commitAnswer,
  commitRequest,
  readAnswer,
  readRequest,
  refOid,
  updateRefsEchoes,
  updateRefsRequest,
} from "../github/queries.js";
import { refOf } from "../protocol/names.js";
import type { Versioned } from "../protocol/record.js";
import { type Calls, type Settled, type Setup, startCalls, tries } from "./github-calls.js";
import { type Memory, makeCommit } from "./github-commits.js";
import { judge, messageParts, type Verdict } from "./github-verdict.js";
import {
  type CallOptions,
  type Change,
  StoreMisconfigured,
  StoreRefused,
  StoreUnavailable,
  type SwapResult,
} from "./store.js";

type Step =
  | { kind: "applied"; written: (Versioned | null)[] }
  /** The server compared, and found another tip. */
  | { kind: "stale" }
  /** `definite`: it said no, `answered`: it said something, neither: no answer came. */
  | { kind: "open"; certainty: "definite" | "answered" | "none"; words: string };

/** One request, `child`: GitHub makes the commit. Two, `create` and `patch`. One for each commit and one more, `refs`. */
type Form = "child" | "create" | "patch" | "refs";

export async function swapOnGithub(
  setup: Setup,
  memory: Memory,
  changes: readonly Change[],
  options: CallOptions,
): Promise<SwapResult> {
  const { place, repository } = setup;
  const calls = startCalls(setup, "write to", options);
  const only = changes.length === 1 ? changes[0] : undefined;
  let form = formOf(changes, memory);
  let commits: (Versioned | null)[] | null = null;
  let unnamed = false;
  let unsure = false;
  const steps: Step[] = [];

  async function send(): Promise<Step> {
    if (form === "child" && only?.next && only.expected)
      return sendChild(only, only.next.message, only.expected);
    if (commits === null) {
      const made = await makeAll(calls, memory, changes);
      if (!Array.isArray(made)) return made;
      commits = made;
    }
    if (form === "refs") return sendRefs(commits);
    const oid = commits[0]?.oid;
    const ref = refOf(place.prefix, (only as Change).name);
    const answer =
      form === "create"
        ? await calls.rest("POST /repos/{owner}/{repo}/git/refs", { ref, sha: oid })
        : await calls.rest("PATCH /repos/{owner}/{repo}/git/refs/{ref}", {
            ref: ref.slice("refs/".length),
            sha: oid,
            // Not by force: every record is a child of the tip that it saw, so a fast-forward compares.
            force: false,
          });
    // An answer of something in between, such as a proxy, is none.
    const moved = answer.kind === "ok" && refOid(answer.data) === oid;
    return moved ? { kind: "applied", written: commits } : open(answer);
  }

  async function sendChild(change: Change, message: string, expected: string): Promise<Step> {
    const parts = messageParts(message) ?? { headline: message, body: "" };
    const answer = await calls.graphql(commitRequest(place, change.name, expected, parts));
    unnamed = true;
    if (answer.kind === "no" && answer.code === "STALE_DATA") return { kind: "stale" };
    if (answer.kind !== "ok") return open(answer);
    const written = taken(() => commitAnswer(change.name, answer.data));
    return written ? { kind: "applied", written: [written] } : open(answer);
  }

  async function sendRefs(made: readonly (Versioned | null)[]): Promise<Step> {
    memory.repositoryId ??= await calls.read(
      readRequest(place, []),
      (data) => readAnswer(data, []).repositoryId,
    );
    const updates = changes.map((change, i) => ({
      name: refOf(place.prefix, change.name),
      before: change.expected,
      after: made[i]?.oid ?? null,
      force: change.expected !== null && change.next?.root === true,
    }));
    const nonce = setup.chance.nonce();
    const answer = await calls.graphql(updateRefsRequest(memory.repositoryId, updates, nonce));
    if (answer.kind === "ok" && updateRefsEchoes(answer.data, nonce))
      return { kind: "applied", written: [...made] };
    return open(answer);
  }

  /**
   * Reads the refs again. Where the server has said that they moved, a read that does not show it lags behind and is
   * repeated; otherwise sending again is the better question, since it compares.
   */
  async function look(moved: boolean): Promise<Verdict> {
    const names = changes.map(({ name }) => name);
    for (let n = 1; n <= tries; n++) {
      await calls.pause(n);
      const answer = await calls.graphql(readRequest(place, names, true));
      const tips = answer.kind === "ok" ? taken(() => readAnswer(answer.data, names).tips) : null;
      if (tips === null) continue;
      const verdict = judge(changes, tips, { commits, unnamed });
      if (verdict.verdict !== "unmoved" || !moved) return verdict;
    }
    return { verdict: "unmoved" };
  }

  for (let round = 1; round <= tries; round++) {
    const step = await send();
    steps.push(step);
    if (step.kind === "applied") {
      if (form === "patch") settleForPatch(setup, memory, steps);
      return { outcome: "applied", written: step.written };
    }
    // After a send whose outcome is unknown, a tip that moved may be our own write.
    if (step.kind === "stale" && !unsure) return { outcome: "conflict" };
    unsure = true;
    const seen = await look(step.kind === "stale");
    if (seen.verdict === "applied") return { outcome: "applied", written: seen.written };
    if (seen.verdict === "conflict") return { outcome: "conflict" };
    if (form === "child" && step.kind === "open" && step.certainty !== "none") form = "patch";
  }
  throw failure(repository, setup.place.prefix, changes, steps);
}

function formOf(changes: readonly Change[], memory: Memory): Form {
  const [only] = changes;
  if (changes.length !== 1 || !only?.next) return "refs";
  if (only.expected === null) return "create";
  if (only.next.root === true || messageParts(only.next.message) === null) return "refs";
  return memory.oneRequest ? "child" : "patch";
}

async function makeAll(
  calls: Calls,
  memory: Memory,
  changes: readonly Change[],
): Promise<(Versioned | null)[] | Step> {
  const commits: (Versioned | null)[] = [];
  for (const change of changes) {
    const made = await makeCommit(calls, memory, change);
    if (made.kind === "failed") {
      // To the endpoint of a repository that a token cannot see, 404 is the answer too; the look afterwards says which.
      const certainty = made.code === "unknown" ? "none" : "definite";
      return { kind: "open", certainty, words: made.words };
    }
    commits.push(made.commit);
  }
  return commits;
}

function open(answer: Settled): Step {
  switch (answer.kind) {
    case "no":
      return { kind: "open", certainty: "definite", words: answer.words };
    case "unknown":
      return { kind: "open", certainty: answer.answered ? "answered" : "none", words: answer.words };
    case "ok":
    case "unchanged":
      return { kind: "open", certainty: "none", words: "an answer without what was asked for" };
  }
}

/** Null where the answer is not of the form that was asked for. */
function taken<T>(take: () => T): T | null {
  try {
    return take();
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

/** Says once that the dearer way is taken, and keeps to it where GitHub refused the cheaper one. */
function settleForPatch(setup: Setup, memory: Memory, steps: readonly Step[]): void {
  const first = steps[0];
  if (first?.kind !== "open" || !memory.oneRequest) return;
  setup.warn(
    `GitHub would not commit to ${setup.repository} in one request (${first.words}), so the record was written in two. Nothing is lost; it costs one request more.`,
  );
  if (first.certainty === "definite") memory.oneRequest = false;
}

function failure(
  repository: string,
  prefix: string,
  changes: readonly Change[],
  steps: readonly Step[],
): Error {
  const last = steps.findLast((step) => step.kind === "open");
  const words = last?.words ?? "";
  const definite = steps.every((step) => step.kind === "open" && step.certainty === "definite");
  // updateRefs says the same of a rule that forbids a forced update as of a fault. Its caller can do without the root.
  const root = changes.some(({ next, expected }) => next?.root === true && expected !== null);
  const generic = steps.every((step) => step.kind === "open" && step.certainty !== "none");
  if (definite || (root && generic)) {
    const refs = changes.map(({ name }) => refOf(prefix, name).slice("refs/heads/".length)).join(", ");
    return new StoreRefused(
      `Could not write to ${repository}: GitHub refused ${steps.length} times to move ${refs}, though it was where it was expected: ${words}. A rule of the repository may cover such branches: exclude ${prefix}/** from it. Or a branch is named ${prefix}, which git cannot hold beside ${prefix}/…: rename it, or choose another ref-prefix.`,
    );
  }
  return new StoreUnavailable(
    `Could not write to ${repository}: GitHub did not say whether the record was written, ${steps.length} times, last with: ${words}. It may have been; read it again before acting. githubstatus.com tells of GitHub's own faults.`,
  );
}

/** @throws StoreMisconfigured */
export function ownerAndName(repository: string): { owner: string; name: string } {
  const [, owner, name] = /^([\w.-]+)\/([\w.-]+)$/.exec(repository) ?? [];
  if (owner !== undefined && name !== undefined && !/^\.+$/.test(owner) && !/^\.+$/.test(name))
    return { owner, name };
  throw new StoreMisconfigured(
    `The repository ${JSON.stringify(repository)} cannot be used: GitHub names one as owner/name. A good one: octo/blog`,
  );
}
