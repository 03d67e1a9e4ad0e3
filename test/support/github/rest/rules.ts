/** REST: rulesets, classic protection and deploy keys, as far as they say who may move a branch. */
import { nodeId } from "../node-ids.js";
import type { Rule, RuleType } from "../protection.js";
import { allows } from "../tokens.js";
import { type Answer, type Context, page, Refused, type Route, route } from "./router.js";

const BASE = "/repos/{owner}/{repo}";

export function ruleRoutes(): Route[] {
  return [
    route("GET", `${BASE}/rulesets`, ["metadata", "read"], getRulesets),
    route("GET", `${BASE}/rulesets/{ruleset_id}`, ["metadata", "read"], getRuleset),
    route("GET", `${BASE}/rules/branches/{branch}`, ["metadata", "read"], getBranchRules),
    route("GET", `${BASE}/branches/{branch}/protection`, ["administration", "read"], getProtection),
    route("GET", `${BASE}/keys`, ["administration", "read"], getKeys),
  ];
}

const rulesets = ({ repository }: Context) =>
  repository.protection.rules.filter(({ rule }) => rule === "GH013");

function getRulesets(context: Context): Answer {
  return { status: 200, body: rulesets(context).map((rule) => rulesetShape(context, rule)) };
}

function getRuleset(context: Context): Answer {
  const rule = rulesets(context).find(({ id }) => String(id) === context.parameters.ruleset_id);
  if (rule === undefined) throw new Refused(404, "Not Found");
  // GitHub's description: only shown to those who may change the ruleset.
  const shown = allows(context.token, context.repository.fullName, "administration", "write");
  return {
    status: 200,
    body: {
      ...rulesetShape(context, rule),
      ...(shown ? { bypass_actors: rule.actors } : {}),
      conditions: { ref_name: { include: [rule.ref], exclude: [] } },
      rules: rule.types.map(ruleShape),
    },
  };
}

function rulesetShape(context: Context, rule: Rule): Record<string, unknown> {
  return {
    id: rule.id,
    name: `ruleset ${rule.id}`,
    target: rule.ref.startsWith("refs/tags/") ? "tag" : "branch",
    source_type: "Repository",
    source: context.repository.fullName,
    enforcement: "active",
    node_id: nodeId("R", "ruleset", String(rule.id)),
    created_at: context.clock.iso(),
    updated_at: context.clock.iso(),
  };
}

/** Active rulesets only; classic protection does not show here. */
function getBranchRules(context: Context): Answer {
  const covering = context.repository.protection
    .covering(`refs/heads/${context.parameters.branch}`)
    .filter(({ rule }) => rule === "GH013");
  const rules = covering.flatMap((rule) =>
    rule.types.map((type) => ({
      ...ruleShape(type),
      ruleset_source_type: "Repository",
      ruleset_source: context.repository.fullName,
      ruleset_id: rule.id,
    })),
  );
  const { items, headers } = page(context, rules);
  return { status: 200, headers, body: items };
}

function ruleShape(type: RuleType): Record<string, unknown> {
  if (type !== "pull_request") return { type };
  return {
    type,
    parameters: {
      dismiss_stale_reviews_on_push: false,
      require_code_owner_review: false,
      require_last_push_approval: false,
      required_approving_review_count: 0,
      required_review_thread_resolution: false,
    },
  };
}

function getProtection(context: Context): Answer {
  const name = context.parameters.branch ?? "";
  const rule = context.repository.protection
    .covering(`refs/heads/${name}`)
    .find(({ rule: kind }) => kind === "GH006");
  if (rule === undefined) throw new Refused(404, "Branch not protected");
  const url = `${context.api}/repos/${context.repository.fullName}/branches/${encodeURIComponent(name)}/protection`;
  const lists = { users_url: `${url}/users`, teams_url: `${url}/teams`, apps_url: `${url}/apps` };
  const restrictions = { url: `${url}/restrictions`, ...lists, users: [], teams: [], apps: [] };
  return {
    status: 200,
    body: {
      url,
      enforce_admins: { url: `${url}/enforce_admins`, enabled: false },
      allow_force_pushes: { enabled: false },
      allow_deletions: { enabled: false },
      ...(rule.types.includes("update") ? { restrictions } : {}),
    },
  };
}

function getKeys(context: Context): Answer {
  const keys = context.repository.protection.deployKeys.map(({ title, readOnly }, i) => ({
    id: i + 1,
    key: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIexample",
    url: `${context.api}/repos/${context.repository.fullName}/keys/${i + 1}`,
    title,
    verified: true,
    created_at: context.clock.iso(),
    read_only: readOnly,
  }));
  const { items, headers } = page(context, keys);
  return { status: 200, headers, body: items };
}
