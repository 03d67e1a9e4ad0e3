/** A local GitHub for tests: GraphQL, REST and git over HTTP on one port, with real git repositories behind them. */

import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Behaviour, githubDotCom } from "./behaviour.js";
import { Clock } from "./clock.js";
import { Faults } from "./faults.js";
import { handle } from "./handling.js";
import { Limits, type Resource } from "./limits.js";
import type { Commit } from "./objects.js";
import type { ProtectOptions } from "./protection.js";
import { type Files, Repository, type RepositoryOptions } from "./repository.js";
import type { LoggedRequest } from "./requests.js";
import type { Cancellation, Dispatch, Run, RunOptions } from "./runs.js";
import { type TokenOptions, Tokens } from "./tokens.js";
import type { World } from "./world.js";

export interface GithubOptions {
  /** `owner/name` of the repositories to begin with; the first is the one meant where none is named. */
  repositories?: readonly string[];
  /** Whether those are private, so that reading takes a permission (default true). */
  private?: boolean;
  /** GHES: limits off, no run details, at most 10 inputs. Both kinds of path work either way. */
  server?: "github.com" | "ghes";
  behaviour?: Partial<Behaviour>;
}

export class Github implements World {
  readonly clock = new Clock();
  readonly tokens = new Tokens();
  readonly faults = new Faults();
  readonly limits = new Limits(this.clock);
  readonly requests: LoggedRequest[] = [];
  readonly violations: string[] = [];
  readonly behaviour: Behaviour;
  readonly url: string;
  readonly apiUrl: string;
  readonly graphqlUrl: string;
  readonly #repositories = new Map<string, Repository>();
  readonly #first: string;

  private constructor(
    readonly server: Server,
    readonly folder: string,
    readonly options: GithubOptions,
  ) {
    const ghes = options.server === "ghes";
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    this.apiUrl = ghes ? `${this.url}/api/v3` : this.url;
    this.graphqlUrl = ghes ? `${this.url}/api/graphql` : `${this.url}/graphql`;
    this.behaviour = {
      ...githubDotCom,
      ...(ghes ? { dispatchInputs: 10, dispatchDetailsByVersion: false } : {}),
      ...options.behaviour,
    };
    this.limits.enabled = !ghes;
    this.#first = options.repositories?.[0] ?? "octo/blog";
  }

  static async start(options: GithubOptions = {}): Promise<Github> {
    const folder = await mkdtemp(join(tmpdir(), "local-github-"));
    let github: Github | undefined;
    const server = createServer((request: IncomingMessage, response: ServerResponse) => {
      if (github === undefined) throw new Error("a request before the server was ready");
      void handle(github, request, response);
    });
    server.keepAliveTimeout = 1000;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", resolve);
    });
    github = new Github(server, folder, options);
    for (const name of options.repositories ?? ["octo/blog"]) {
      await github.create(name, { private: options.private ?? true });
    }
    return github;
  }

  /** Base of API addresses, as the answers contain them. */
  get apiBase(): string {
    return this.apiUrl;
  }

  find(fullName: string): Repository | undefined {
    return this.#repositories.get(fullName.toLowerCase());
  }

  /** The repository that is named, or the first. */
  repository(fullName: string = this.#first): Repository {
    const found = this.find(fullName);
    if (found === undefined) throw new Error(`no repository ${fullName}`);
    return found;
  }

  async create(fullName: string, options: RepositoryOptions = {}): Promise<Repository> {
    const id = 1_000_001 + this.#repositories.size;
    const dir = join(this.folder, `${fullName.replace("/", "+")}.git`);
    const made = await Repository.create(id, fullName, dir, this.clock, options);
    this.#repositories.set(fullName.toLowerCase(), made);
    return made;
  }

  cloneUrl(fullName: string = this.#first): string {
    return `${this.url}/${fullName}.git`;
  }

  /** A token's secret. Without `repositories` it covers all of them, and spends the limits of the first. */
  token(options: TokenOptions = {}): string {
    return this.tokens.issue(options);
  }

  /** Leaves whoever pays for this token with so many requests (core) or points (graphql) for the hour. */
  leave(secret: string, resource: Resource, points: number): void {
    this.limits.leave(this.tokens.get(secret), resource, points);
  }

  /** The value of an Authorization header that git understands. */
  basic(secret: string): string {
    return `basic ${Buffer.from(`x-access-token:${secret}`).toString("base64")}`;
  }

  protect(options: ProtectOptions & { repository?: string }): void {
    const { repository, ...rule } = options;
    this.repository(repository).protection.add(rule);
  }

  seed(content: { files: Files; message?: string }): Promise<string> {
    return this.repository().seed(content);
  }

  commit(branch: string, files: Files, message: string): Promise<string> {
    return this.repository().commit(branch, files, message);
  }

  tip(ref: string): Promise<string | null> {
    return this.repository().tip(ref);
  }

  log(ref: string): Promise<Commit[]> {
    return this.repository().log(ref);
  }

  addRun(run: RunOptions & { repository?: string }): Run {
    const { repository, ...options } = run;
    return this.repository(repository).runs.add(options);
  }

  finishRun(id: number, conclusion?: string, attempt?: number): void {
    this.repository().runs.finish(id, conclusion, attempt);
  }

  get dispatches(): Dispatch[] {
    return [...this.#repositories.values()]
      .flatMap(({ runs }) => runs.dispatches)
      .sort((a, b) => a.at - b.at);
  }

  get cancellations(): Cancellation[] {
    return [...this.#repositories.values()]
      .flatMap(({ runs }) => runs.cancellations)
      .sort((a, b) => a.at - b.at);
  }

  /** How many requests of each kind were made since the last reset, and how many counted against a limit. */
  counts(): { rest: number; graphql: number; git: number; counted: number } {
    const of = (kind: string) => this.requests.filter((one) => one.kind === kind).length;
    const counted = this.requests.filter((one) => one.counted).length;
    return { rest: of("rest"), graphql: of("graphql"), git: of("git"), counted };
  }

  /** Empties the request log. The limits stay as they are. */
  resetCounts(): void {
    this.requests.length = 0;
  }

  /** Ends everything, waiting requests included, and removes the repositories. */
  async close(): Promise<void> {
    this.faults.clear();
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeAllConnections();
    await closed;
    for (const repository of this.#repositories.values()) repository.close();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

export function startGithub(options: GithubOptions = {}): Promise<Github> {
  return Github.start(options);
}
