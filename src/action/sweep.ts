// `sweep/action.yml`: plans and remembers, starts runs or names the drafts for a matrix, and says what it found.
import { findDrafts } from "../draft/find.js";
import { type Swept, sweep } from "../draft/sweep.js";
import { privateRepository } from "../git/private.js";
import { githubIssues, IssuesUnavailable } from "../github/issues.js";
import { runFinished } from "../github/liveness.js";
import { askRest } from "../github/requests.js";
import type { Ports } from "../lease/lease.js";
import { type Claim, describeClaim } from "../protocol/claim.js";
import { branchRef } from "../protocol/names.js";
import { headings, type SweepDraft } from "../protocol/sweep.js";
import { ownerAndName } from "../store/github-swap.js";
import { StoreMisconfigured } from "../store/store.js";
import { InputInvalid } from "./inputs.js";
import { type Client, lendToken, openClient, openPorts } from "./place.js";
import { shortRef } from "./places.js";
import { alertByIssues } from "./sweep-alerts.js";
import { dispatchDrafts } from "./sweep-dispatch.js";
import { type SweepInputs, sweepInputs } from "./sweep-inputs.js";
import { additionOf, renderSweep } from "./sweep-summary.js";
import type { Workflow } from "./workflow.js";

/** Annotations of one kind at the most; the summary has all of them. */
const mostWarnings = 10;
/** A draft that died longer ago was in the warnings of earlier sweeps. Milliseconds. */
const news = 86_400_000;
/** By how much the clocks of writers may differ where the store does not stamp. Milliseconds. */
const skew = 30_000;

export async function sweepStep(workflow: Workflow): Promise<void> {
  const inputs = sweepInputs(workflow);
  const client = openClient(workflow.env, inputs.token);
  const ports = openPorts(workflow, inputs, client);
  try {
    const branch = inputs.branch ?? (await defaultBranch(client, inputs));
    const { swept, drafts } = await look(workflow, inputs, ports, client, branch);
    const { repository, dispatch } = inputs;
    const target = { repository, workflow: dispatch ?? "", branch };
    const sent =
      dispatch === null
        ? { failed: new Map<string, string>(), errors: [] }
        : await dispatchDrafts(workflow, ports, client, target, swept);
    report(workflow, swept);
    const at = { serverUrl: workflow.env.GITHUB_SERVER_URL, repository, prefix: inputs.refPrefix };
    if (inputs.summary)
      workflow.summary(
        renderSweep({ swept, drafts, instead: sent.failed, branch, staleAfter: inputs.staleAfter, at }),
      );
    for (const error of sent.errors) workflow.fail(error);
    if (inputs.alert === "issue") await alert(workflow, client, inputs, { swept, at, branch });
  } finally {
    await ports.store.close();
  }
}

async function look(
  workflow: Workflow,
  inputs: SweepInputs,
  ports: Ports,
  client: Client,
  branch: string,
): Promise<{ swept: Swept; drafts: Map<string, SweepDraft> }> {
  const { env } = workflow;
  const { repository, matches, convention, timezone, staleAfter, maxStart, maxAttempts, requireDue } = inputs;
  const remote = lendToken(env, repository, inputs.token, null);
  const git = await privateRepository(remote, null);
  const drafts = new Map<string, SweepDraft>();
  try {
    const find = async () => {
      const now = ports.clock.read().wall;
      const found = await findDrafts(git, {
        where: remote.label,
        branch,
        paths: matches,
        convention,
        timezone,
        youngerThan: staleAfter,
        now,
      });
      if (found.tip === null)
        throw new InputInvalid(
          `The branch ${shortRef(branch)} does not exist in ${repository}, so nothing is known about drafts. Name one that does in input "branch".`,
        );
      for (const draft of found.drafts) drafts.set(draft.path, draft);
      return found;
    };
    const swept = await sweep(ports, {
      find,
      matches,
      trigger: inputs.trigger,
      staleAfter,
      maxStart,
      maxAttempts,
      requireDue,
      skew,
      remember: true,
      finished: livenessOf(workflow, client, maxStart + 3),
    });
    return { swept, drafts };
  } finally {
    await git.remove();
  }
}

/** Asks about each run once, and about `most` runs at the most: whoever is not asked about is free when its time is up. */
function livenessOf(workflow: Workflow, client: Client, most: number): (holder: Claim) => Promise<boolean> {
  const asked = new Map<string, boolean>();
  let left = most;
  return async (holder) => {
    const key = `${holder.repository} ${holder.runId}.${holder.runAttempt ?? 1}`;
    const known = asked.get(key);
    if (known !== undefined) return known;
    if (holder.runId === undefined || left === 0) return false;
    left--;
    const answer = await runFinished(client, holder, { signal: AbortSignal.timeout(20_000) }).catch(
      () => null,
    );
    if (answer?.state === "unknown" && answer.reason !== "no-run") {
      // Neither a permission nor GitHub itself comes back within one sweep.
      left = 0;
      workflow.info(
        `Whether ${describeClaim(holder)} has finished is not known, so its draft is free when its time is up, and not at once. ${answer.words}`,
      );
    }
    asked.set(key, answer?.state === "finished");
    return answer?.state === "finished";
  };
}

async function defaultBranch(client: Client, { repository, refPrefix }: SweepInputs): Promise<string> {
  const { owner, name: repo } = ownerAndName(repository);
  const answer = await askRest(
    client,
    "GET /repos/{owner}/{repo}",
    { owner, repo },
    AbortSignal.timeout(20_000),
  );
  const name = answer.kind === "ok" ? (answer.data as { default_branch?: unknown }).default_branch : null;
  if (typeof name === "string" && name !== "") return branchRef(name, refPrefix);
  throw new StoreMisconfigured(
    `The default branch of ${repository} is not known, since GitHub does not tell this token. Name the branch in input "branch", and check "repository" and "token".`,
  );
}

function report(workflow: Workflow, swept: Swept): void {
  const { plan } = swept;
  workflow.output("drafts", JSON.stringify(swept.started.map(({ path }) => path)));
  workflow.output("count", String(swept.started.length));
  workflow.output("total", String(plan.total));
  for (const heading of headings) workflow.output(heading.replaceAll("_", "-"), String(plan.counts[heading]));
  workflow.info(additionOf(swept));
  for (const { path } of swept.started) workflow.info(`to work on: ${JSON.stringify(path)}`);
  for (const problem of swept.problems) workflow.warning(problem);
  if (plan.total === 0)
    workflow.warning('No file matches input "drafts". Globs begin at the repository\'s root.');
  warnOfDeadLetters(workflow, swept);
  const unreadable = plan.report.flatMap(({ path, standing }) =>
    standing.is === "unreadable" ? [`${JSON.stringify(path)} cannot be read: ${standing.reason}`] : [],
  );
  warnAll(workflow, unreadable, "Fencepost: a draft that cannot be read");
}

function warnOfDeadLetters(workflow: Workflow, { plan, now }: Swept): void {
  const fresh = plan.deadLetters.filter((dead) => dead.fresh || now - dead.seen.writtenAt < news);
  const words = fresh.map(
    ({ path, seen: { record } }) =>
      `${JSON.stringify(path)} is set aside after ${record.attempts} attempts (${record.reason ?? "no reason given"}). Edit it, or: fencepost redrive ${JSON.stringify(path)} --reason TEXT`,
  );
  warnAll(workflow, words, "Fencepost: a dead letter");
  const older = plan.deadLetters.length - fresh.length;
  if (older > 0) workflow.info(`${older} dead letters are older than a day; the summary has them.`);
}

function warnAll(workflow: Workflow, sentences: readonly string[], title: string): void {
  for (const sentence of sentences.slice(0, mostWarnings)) workflow.warning(sentence, title);
  const more = sentences.length - mostWarnings;
  if (more > 0) workflow.info(`${title}, and ${more} more; the summary has them.`);
}

async function alert(
  workflow: Workflow,
  client: Client,
  { repository, matches }: SweepInputs,
  view: Omit<Parameters<typeof alertByIssues>[1], "matches">,
): Promise<void> {
  try {
    const done = await alertByIssues(githubIssues(client, repository), { ...view, matches });
    for (const number of done.opened) workflow.info(`opened issue #${number}`);
    for (const number of done.closed) workflow.info(`closed issue #${number}`);
    if (done.left > 0) workflow.info(`${done.left} more dead letters get their issues from the next sweeps.`);
  } catch (error) {
    if (!(error instanceof IssuesUnavailable)) throw error;
    workflow.fail(error.message);
  }
}
