/** The one gate through which every ref update of the API goes: its checks, then one ref transaction. */
import type { Behaviour } from "./behaviour.js";
import { actOf, type Rule, workflowRefusal } from "./protection.js";
import { isRefName, type RefMove } from "./refs.js";
import type { Repository } from "./repository.js";
import { allows, type Token } from "./tokens.js";

export interface RefUpdate {
  ref: string;
  /** What must be there now: an oid, null for nothing, undefined for no condition. */
  before?: string | null | undefined;
  /** null removes the ref. */
  after: string | null;
  force: boolean;
}

export type Refusal =
  | {
      why: "bad-name" | "hidden" | "no-object" | "not-a-commit" | "missing" | "exists" | "stale";
      ref: string;
    }
  | { why: "not-fast-forward" | "default-branch" | "lost-race"; ref: string; detail?: string }
  | { why: "workflow"; ref: string; detail: string }
  | { why: "protected"; ref: string; rule: Rule };

export interface Writer {
  token: Token | null;
  behaviour: Behaviour;
  /** Runs between the checks and the transaction. */
  between?: () => Promise<void>;
}

/** Applies all updates or none. `create`, `update` and `any` say what the caller demands of the refs beforehand. */
export async function applyUpdates(
  repository: Repository,
  updates: readonly RefUpdate[],
  writer: Writer,
  demand: "create" | "update" | "any" = "any",
): Promise<Refusal | null> {
  const moves: RefMove[] = [];
  for (const update of updates) {
    // An entry that changes nothing is sent all the same, so that the transaction verifies it.
    const unchanged = update.before === update.after;
    if (unchanged && !writer.behaviour.unchangedRefGuards) continue;
    const current = (await repository.refs.get(update.ref))?.oid ?? null;
    const refusal = await check(repository, update, current, writer, demand);
    if (refusal !== null) return refusal;
    const blind = demand === "update" && !writer.behaviour.patchIsAtomic;
    moves.push({ ref: update.ref, before: blind ? undefined : current, after: update.after });
  }
  await writer.between?.();
  const lost = await repository.refs.move(moves);
  return lost === null ? null : { why: "lost-race", ref: updates[0]?.ref ?? "", detail: lost.refused };
}

async function check(
  repository: Repository,
  update: RefUpdate,
  current: string | null,
  writer: Writer,
  demand: "create" | "update" | "any",
): Promise<Refusal | null> {
  const { ref, before, after } = update;
  if (!isRefName(ref)) return { why: "bad-name", ref };
  if (isHidden(ref)) return { why: "hidden", ref };
  if (demand === "update" && current === null) return { why: "missing", ref };
  if (before !== undefined && before !== current) return { why: "stale", ref };
  if (after === null) {
    // Nothing before and nothing after guards that the ref does not exist.
    if (current === null) return before === null ? null : { why: "missing", ref };
    if (ref === `refs/heads/${repository.defaultBranch}`) return { why: "default-branch", ref };
  } else {
    const object = await repository.objects.read(after);
    if (object === null) return { why: "no-object", ref };
    if (ref.startsWith("refs/heads/") && object.type !== "commit") return { why: "not-a-commit", ref };
  }
  if (demand === "create" && current !== null) return { why: "exists", ref };
  if (after === current) return null;
  const rule = repository.protection.against(ref, writer.token, actOf(current, after));
  if (rule !== null) return { why: "protected", ref, rule };
  if (after === null) return null;
  if (current !== null && !update.force && !(await repository.refs.isAncestor(current, after))) {
    return { why: "not-fast-forward", ref };
  }
  const path = await forbiddenWorkflow(repository, after, current, writer.token);
  return path === null || writer.token === null
    ? null
    : { why: "workflow", ref, detail: workflowRefusal(writer.token, path) };
}

/** Namespaces that github/spokes-receive-pack refuses as `deny updating a hidden ref`. */
export const HIDDEN = ["refs/pull/", "refs/gh/", "refs/__gh__/"];

function isHidden(ref: string): boolean {
  return HIDDEN.some((prefix) => ref.startsWith(prefix)) && !ref.startsWith("refs/__gh__/svn/");
}

/**
 * A workflow file of `tip` that no branch has yet in that form, when the token may not write workflows.
 * Moving a ref onto such a commit counts as well as pushing it.
 */
export async function forbiddenWorkflow(
  repository: Repository,
  tip: string,
  current: string | null,
  token: Token | null,
): Promise<string | null> {
  if (token === null || allows(token, repository.fullName, "workflows", "write")) return null;
  const files = await workflowsOf(repository, tip);
  if (files.size === 0) return null;
  const existing = (await repository.refs.list("refs/heads/")).map(({ oid }) => oid);
  if (current !== null) existing.push(current);
  const known = new Set<string>();
  for (const oid of new Set(existing))
    for (const [path, blob] of await workflowsOf(repository, oid)) known.add(`${path} ${blob}`);
  for (const [path, blob] of files) if (!known.has(`${path} ${blob}`)) return path;
  return null;
}

async function workflowsOf(repository: Repository, commit: string): Promise<Map<string, string>> {
  const folder = await repository.objects.read(`${commit}:.github/workflows`);
  if (folder?.type !== "tree") return new Map();
  const files = await repository.objects.files(folder.oid, ".github/workflows/");
  return new Map(files.filter(({ type }) => type === "blob").map(({ path, oid }) => [path, oid]));
}
