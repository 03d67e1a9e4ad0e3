/** Tokens and what each may do, by the permission names of GitHub Apps. */
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";

export type Level = "none" | "read" | "write";
export type Permission = "contents" | "actions" | "issues" | "workflows" | "metadata" | "administration";
/** `fork` is the read-only GITHUB_TOKEN of a pull request from a fork; `pat` is a person's own token. */
export type TokenKind = "GITHUB_TOKEN" | "app" | "pat" | "fork";

export interface TokenOptions extends Partial<Record<Permission, Level>> {
  kind?: TokenKind;
  /** How the request log calls it. */
  label?: string;
  /** `owner/name` of the repositories it covers; without it, all. The first is the one whose limits it spends. */
  repositories?: readonly string[];
  /** Who a `pat` belongs to. */
  login?: string;
}

export interface Token {
  readonly secret: string;
  readonly label: string;
  readonly kind: TokenKind;
  readonly login: string;
  readonly userId: number;
  readonly repositories: readonly string[] | null;
  readonly permissions: Readonly<Record<Permission, Level>>;
  expired: boolean;
}

const rank: Record<Level, number> = { none: 0, read: 1, write: 2 };

/** Whether the token covers the repository and holds the permission at that level. */
export function allows(
  token: Token | null,
  repository: string,
  permission: Permission,
  level: Level,
): boolean {
  if (token === null || !covers(token, repository)) return false;
  return rank[token.permissions[permission]] >= rank[level];
}

export function covers(token: Token, repository: string): boolean {
  return token.repositories === null || token.repositories.includes(repository.toLowerCase());
}

/** GitHub's words for a permission that is missing. */
export function refusal(token: Token): string {
  return `Resource not accessible by ${token.kind === "pat" ? "personal access token" : "integration"}`;
}

export class Tokens {
  readonly #bySecret = new Map<string, Token>();

  /**
   * Issues a token and returns its secret. What is not named is `none`, as with `permissions:` in a workflow.
   * A GITHUB_TOKEN cannot hold `workflows` (the runner's workflow schema does not know the key).
   */
  issue(options: TokenOptions = {}): string {
    const kind = options.kind ?? "GITHUB_TOKEN";
    if (kind === "GITHUB_TOKEN" && options.workflows === "write") {
      throw new Error("Unexpected value 'workflows': a GITHUB_TOKEN cannot hold it");
    }
    const cap = (level: Level | undefined): Level =>
      kind === "fork" && level === "write" ? "read" : (level ?? "none");
    const secret = `${kind === "pat" ? "github_pat_" : "ghs_"}${randomBytes(18).toString("hex")}`;
    const login =
      kind === "pat"
        ? (options.login ?? "octocat")
        : kind === "app"
          ? "octo-app[bot]"
          : "github-actions[bot]";
    this.#bySecret.set(secret, {
      secret,
      label: options.label ?? `${kind}-${this.#bySecret.size + 1}`,
      kind,
      login,
      userId: kind === "pat" ? 583231 : kind === "app" ? 7654321 : 41898282,
      repositories: options.repositories?.map((name) => name.toLowerCase()) ?? null,
      permissions: {
        metadata: "read",
        contents: cap(options.contents),
        actions: cap(options.actions),
        issues: cap(options.issues),
        workflows: kind === "fork" ? "none" : (options.workflows ?? "none"),
        // Not among the permissions that a workflow can ask for.
        administration: kind === "app" || kind === "pat" ? (options.administration ?? "none") : "none",
      },
      expired: false,
    });
    return secret;
  }

  /** As when the job ends: the token is refused from now on. */
  expire(secret: string): void {
    this.get(secret).expired = true;
  }

  get(secret: string): Token {
    const token = this.#bySecret.get(secret);
    if (token === undefined) throw new Error("no such token");
    return token;
  }

  /** The token of an API request (Bearer, token or Basic); null for none, "bad" for one that is not valid. */
  ofApi(request: IncomingMessage): Token | null | "bad" {
    const [scheme = "", value = ""] = (request.headers.authorization ?? "").split(" ");
    if (scheme === "") return null;
    if (/^(bearer|token)$/i.test(scheme)) return this.#valid(value);
    if (/^basic$/i.test(scheme)) return this.#valid(passwordOf(value));
    return "bad";
  }

  /** The token of a git request: only Basic is understood there, any other scheme is refused. */
  ofGit(request: IncomingMessage): Token | null | "bad" {
    const [scheme = "", value = ""] = (request.headers.authorization ?? "").split(" ");
    if (scheme === "") return null;
    return /^basic$/i.test(scheme) ? this.#valid(passwordOf(value)) : "bad";
  }

  #valid(secret: string): Token | "bad" {
    const token = this.#bySecret.get(secret);
    return token === undefined || token.expired ? "bad" : token;
  }
}

function passwordOf(basic: string): string {
  const text = Buffer.from(basic, "base64").toString();
  return text.slice(text.indexOf(":") + 1);
}
