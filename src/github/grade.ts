// How firmly a branch on GitHub is closed to pushes that go past the fence, as far as its rules can be read.
import { type Answer, askRest, type GithubRequests } from "./requests.js";

/**
 * - `open`: whoever may write to the repository can move the branch without the fence.
 * - `partial`: only some can, but more than one of them, or people, or who it is could not be seen.
 * - `closed`: one app or one deploy key alone can move it, so that what holds its key decides.
 */
export type Grade = "open" | "partial" | "closed";

export interface BranchGrade {
  /** `unknown`: GitHub did not answer. */
  grade: Grade | "unknown";
  /** Why, each a sentence without its full stop. */
  reasons: string[];
  /** What closes the branch further, each a whole sentence. */
  advice: string[];
  /** Rules that keep leases from working at all, each a sentence without its full stop. */
  obstacles: string[];
}

/** Who may bypass a ruleset, as GitHub's description of rulesets names them. */
interface Actor {
  actor_id?: number | null;
  actor_type: string;
  bypass_mode?: string;
}

/** A rule that covers a branch, and the ruleset that it belongs to. */
interface CoveringRule {
  type: string;
  ruleset_id?: number;
}

export interface BranchRules {
  rules: CoveringRule[];
  /** The rules that cover the records' branches. */
  recordRules: CoveringRule[];
  /** By ruleset: its name, and who may bypass it; null where that is not shown to this token. */
  rulesets: Map<number, { name: string; actors: Actor[] | null }>;
  /** Keys that may write, or null where they are not shown to this token. */
  deployKeys: number | null;
  /** Whether classic branch protection restricts who may push; null where that is not shown to this token. */
  classic: boolean | null;
}

const widest = "Use one app or one deploy key as the only one on its bypass list.";

/** The grade that these rules give. */
export function gradeBranch(found: BranchRules): BranchGrade {
  const graded: BranchGrade = { grade: "open", reasons: [], advice: [], obstacles: obstacles(found) };
  const { reasons, advice } = graded;
  const lists = rulesetsOf(found, "update");
  if (!rulesetsOf(found, "deletion", found.recordRules).length)
    advice.push(
      'Add a ruleset "Restrict deletions" for the leases, which anybody who may write can delete now.',
    );
  if (lists.length === 0) {
    advice.push(`Add a ruleset with "Restrict updates" and "Restrict deletions" for it. ${widest}`);
    reasons.push(
      found.classic === true
        ? "classic branch protection restricts who may push, which cannot be told apart from people who push"
        : "no ruleset restricts updates, so whoever may write can push past the fence",
    );
    if (found.classic === null) reasons.push("classic branch protection is shown to admins only");
    return { ...graded, grade: found.classic === true ? "partial" : "open" };
  }
  const names = lists.map(({ name }) => JSON.stringify(name)).join(" and ");
  const movers = bypassers(lists);
  if (movers === null) {
    reasons.push(`${names} restricts updates, and who may bypass it is shown to admins only`);
    advice.push('Run this with the token of an admin ("Administration: write") to see who may bypass it.');
    return { ...graded, grade: "partial" };
  }
  const problem = moverProblem(movers, found.deployKeys);
  if (movers.length === 0)
    graded.obstacles.push(`${names} restricts updates and lets nobody bypass it, so nothing can be pushed`);
  if (problem !== null) {
    reasons.push(`${names} restricts updates, and ${problem}`);
    advice.push(widest);
  } else reasons.push(`${names} restricts updates to ${words(movers[0] as Actor)} alone`);
  const deletable = deletionProblem(rulesetsOf(found, "deletion"), movers);
  if (deletable !== null) {
    reasons.push(deletable);
    advice.push('Add "Restrict deletions" to the ruleset.');
  }
  return { ...graded, grade: problem === null && deletable === null ? "closed" : "partial" };
}

type Lists = readonly { actors: Actor[] | null }[];

/** Each ruleset holds by itself: only who bypasses all of them. Null where none of the lists is shown. */
function bypassers(lists: Lists): Actor[] | null {
  const known = lists.flatMap(({ actors }) => (actors === null ? [] : [actors]));
  const [first, ...others] = known;
  return first?.filter((actor) => others.every((list) => list.some((other) => same(actor, other)))) ?? null;
}

/** Why somebody else than those who may move the branch may delete it, and then make it again; or null. */
function deletionProblem(lists: Lists, movers: readonly Actor[]): string | null {
  if (lists.length === 0) return "it may be deleted, and made again without the fence";
  const deleters = bypassers(lists);
  if (deleters === null) return "who may delete it, and make it again, is shown to admins only";
  const others = deleters.filter((actor) => !movers.some((mover) => same(actor, mover)));
  if (others.length === 0) return null;
  return `it may be deleted by ${others.map(words).join(", ")}, and made again without the fence`;
}

function rulesetsOf(found: BranchRules, type: string, rules = found.rules) {
  const ids = new Set(rules.filter((rule) => rule.type === type).map((rule) => rule.ruleset_id ?? 0));
  return [...ids].map((id) => found.rulesets.get(id) ?? { name: `ruleset ${id}`, actors: null });
}

function same(a: Actor, b: Actor): boolean {
  return a.actor_type === b.actor_type && (a.actor_id ?? null) === (b.actor_id ?? null);
}

/** Why those who may move the branch are more than one machine; null for one app or key. */
function moverProblem(movers: readonly Actor[], deployKeys: number | null): string | null {
  const [only] = movers;
  if (only === undefined) return "nobody may bypass it";
  if (movers.length > 1) return `${movers.length} may bypass it: ${movers.map(words).join(", ")}`;
  if (only.bypass_mode === "pull_request")
    return `${words(only)} may bypass it by pull request only, not by a push`;
  if (only.actor_type === "Integration") return null;
  if (only.actor_type !== "DeployKey") return `${words(only)} may bypass it, who are people`;
  if (deployKeys === null) return "deploy keys may bypass it, and how many there are is shown to admins only";
  return deployKeys > 1 ? `each of the ${deployKeys} deploy keys that can write may bypass it` : null;
}

function words({ actor_type: type, actor_id: id }: Actor): string {
  switch (type) {
    case "Integration":
      return `the app ${id}`;
    case "DeployKey":
      return "the deploy key";
    case "OrganizationAdmin":
      return "the owners of the organisation";
    case "RepositoryRole":
      return `everybody with role ${id}`;
    case "Team":
      return `team ${id}`;
    default:
      return `${type} ${id}`;
  }
}

/** Rules that a job's token meets at every write of a lease. */
const blocking = [
  "creation",
  "update",
  "pull_request",
  "required_status_checks",
  "required_deployments",
  "merge_queue",
];

function obstacles(found: BranchRules): string[] {
  return blocking.flatMap((type) =>
    rulesetsOf(found, type, found.recordRules)
      // Where an app may bypass it, leases can work with the token of that app.
      .filter(({ actors }) => !actors?.some((actor) => actor.actor_type === "Integration"))
      .map(
        ({ name }) =>
          `the ruleset ${JSON.stringify(name)} (${type.replaceAll("_", " ")}) covers the branches of the leases, and a job's GITHUB_TOKEN can never bypass it`,
      ),
  );
}

/**
 * Reads the rules of a branch, and grades it. A few requests: the rules of the branch and of the records' branches, each
 * ruleset that restricts updates or deletions, and where they matter deploy keys and classic protection.
 * @throws the signal's reason when it aborts.
 */
export async function readGrade(
  client: GithubRequests,
  repository: string,
  branch: string,
  recordBranch: string,
  signal?: AbortSignal,
): Promise<BranchGrade> {
  const [owner = "", repo = ""] = repository.split("/");
  const ask = (route: string, parameters: Record<string, unknown> = {}) =>
    askRest(client, route, { owner, repo, ...parameters }, signal);
  const rulesFor = (name: string) =>
    ask("GET /repos/{owner}/{repo}/rules/branches/{branch}", { branch: name, per_page: 100 });
  const [here, records] = await Promise.all([rulesFor(branch), rulesFor(recordBranch)]);
  if (here.kind !== "ok" || records.kind !== "ok")
    return unknown(here.kind === "ok" ? records : here, repository);
  const found: BranchRules = {
    rules: here.data as CoveringRule[],
    recordRules: records.data as CoveringRule[],
    rulesets: new Map(),
    deployKeys: null,
    classic: null,
  };
  const ids = new Set([...found.rules, ...found.recordRules].map((rule) => rule.ruleset_id ?? 0));
  for (const ruleset_id of ids) {
    const answer = await ask("GET /repos/{owner}/{repo}/rulesets/{ruleset_id}", { ruleset_id });
    if (answer.kind !== "ok") continue;
    const { name, bypass_actors: actors } = answer.data as { name: string; bypass_actors?: Actor[] };
    found.rulesets.set(ruleset_id, { name, actors: actors ?? null });
  }
  if ([...found.rulesets.values()].some(({ actors }) => actors?.some((a) => a.actor_type === "DeployKey"))) {
    const keys = await ask("GET /repos/{owner}/{repo}/keys", { per_page: 100 });
    if (keys.kind === "ok")
      found.deployKeys = (keys.data as { read_only: boolean }[]).filter((key) => !key.read_only).length;
  }
  if (!found.rules.some(({ type }) => type === "update")) found.classic = await restricted(ask, branch);
  return gradeBranch(found);
}

async function restricted(
  ask: (route: string, parameters: Record<string, unknown>) => Promise<Answer>,
  branch: string,
): Promise<boolean | null> {
  const answer = await ask("GET /repos/{owner}/{repo}/branches/{branch}/protection", { branch });
  if (answer.kind === "ok") return (answer.data as { restrictions?: unknown }).restrictions !== undefined;
  return answer.kind === "no" && /not protected/i.test(answer.words) ? false : null;
}

function unknown(answer: Answer, repository: string): BranchGrade {
  // What GitHub answers for a private repository whose plan has no rulesets.
  if (answer.kind === "refused" && /\bupgrade to\b/i.test(answer.words)) {
    const reason = "this repository's plan has no rulesets, so whoever may write can push past the fence";
    return {
      grade: "open",
      reasons: [reason],
      advice: ["Rulesets need a paid plan or a public repository."],
      obstacles: [],
    };
  }
  const words = "words" in answer && answer.words !== "" ? ` (${answer.words.replace(/\.$/, "")})` : "";
  const reason = `the rules of ${repository} could not be read${words}`;
  const advice = "Set GITHUB_TOKEN to a token that may read the repository.";
  return { grade: "unknown", reasons: [reason], advice: [advice], obstacles: [] };
}
