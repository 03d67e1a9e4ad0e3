/** Rulesets and branch protection: who may move which ref, and the words of each refusal. */
import type { Token, TokenKind } from "./tokens.js";

export interface ProtectOptions {
  /** A full ref name, one that ends in `*`, or `~ALL` for every branch. */
  ref: string;
  /** GH013 is a repository ruleset, GH006 a classic branch protection. */
  rule: "GH013" | "GH006";
  /** Kinds of token that may bypass it. GITHUB_TOKEN never can. */
  bypass?: readonly TokenKind[];
  /** What the rule demands, in GitHub's words. */
  demand?: string;
  /** The types of the ruleset's rules. */
  types?: readonly RuleType[];
  /** Its bypass list as the API shows it; without it, what `bypass` says. */
  actors?: readonly BypassActor[];
}

/** Those that have no parameters which matter here. A pull request rule keeps pushes out, whatever they do. */
export type RuleType = "pull_request" | "creation" | "update" | "deletion";
type Act = Exclude<RuleType, "pull_request">;

/** What a change from one state of a ref to the next is; null is absent. */
export function actOf(before: string | null, after: string | null): Act {
  return before === null ? "creation" : after === null ? "deletion" : "update";
}

export interface BypassActor {
  actor_id: number | null;
  actor_type: "Integration" | "OrganizationAdmin" | "RepositoryRole" | "Team" | "DeployKey" | "User";
  bypass_mode: "always" | "pull_request" | "exempt";
}

export interface Rule extends Required<ProtectOptions> {
  id: number;
}

const actorOf: Partial<Record<TokenKind, BypassActor>> = {
  app: { actor_id: 7654321, actor_type: "Integration", bypass_mode: "always" },
  // The role of admins.
  pat: { actor_id: 5, actor_type: "RepositoryRole", bypass_mode: "always" },
};

export class Protection {
  readonly rules: Rule[] = [];
  /** The keys that people added to the repository. */
  readonly deployKeys: { title: string; readOnly: boolean }[] = [];

  add(options: ProtectOptions): Rule {
    if (options.bypass?.includes("GITHUB_TOKEN") === true) {
      throw new Error(
        "Actor GitHub Actions integration must be part of the ruleset source or owner organization",
      );
    }
    const rule: Rule = {
      bypass: [],
      demand: "Changes must be made through a pull request.",
      types: ["pull_request"],
      actors: (options.bypass ?? []).flatMap((kind) => actorOf[kind] ?? []),
      ...options,
      id: this.rules.length + 1,
    };
    this.rules.push(rule);
    return rule;
  }

  clear(): void {
    this.rules.length = 0;
  }

  /** The rules that cover a ref. Only branches and tags can be covered: no rule reaches other namespaces. */
  covering(ref: string): Rule[] {
    if (!/^refs\/(heads|tags)\//.test(ref)) return [];
    return this.rules.filter((rule) => covers(rule.ref, ref));
  }

  /** The first rule that keeps this token from moving the ref. */
  against(ref: string, token: Token | null, act: Act): Rule | null {
    const forbids = ({ types }: Rule) => types.includes("pull_request") || types.includes(act);
    const stops = (rule: Rule) => forbids(rule) && (token === null || !rule.bypass.includes(token.kind));
    return this.covering(ref).find(stops) ?? null;
  }
}

function covers(pattern: string, ref: string): boolean {
  if (pattern === "~ALL") return ref.startsWith("refs/heads/");
  return pattern.endsWith("*") ? ref.startsWith(pattern.slice(0, -1)) : pattern === ref;
}

/** The lines that a push shows as `remote: …`, and the reason beside the refused ref. */
export function pushRefusal(rule: Rule, ref: string, url: string): { lines: string[]; reason: string } {
  if (rule.rule === "GH006") {
    return {
      lines: [`error: GH006: Protected branch update failed for ${ref}.`, `error: ${rule.demand}`],
      reason: "protected branch hook declined",
    };
  }
  return {
    lines: [
      `error: GH013: Repository rule violations found for ${ref}.`,
      `Review all repository rules at ${url}/rules?ref=${encodeURIComponent(ref)}`,
      "",
      `- ${rule.demand}`,
      "",
    ],
    reason: "push declined due to repository rule violations",
  };
}

/** The message of a REST answer 422. Classic protection has the same words as a lost race. */
export function restRefusal(rule: Rule, creating: boolean): string {
  if (rule.rule === "GH013") return `Repository rule violations found\n\n${rule.demand}\n\n`;
  return creating ? "Reference update failed" : "Reference cannot be updated";
}

export function workflowRefusal(token: Token, path: string): string {
  const [who, need] =
    token.kind === "pat"
      ? ["a Personal Access Token", "`workflow` scope"]
      : ["a GitHub App", "`workflows` permission"];
  return `refusing to allow ${who} to create or update workflow \`${path}\` without ${need}`;
}
