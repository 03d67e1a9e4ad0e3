// The store on GitHub: records are commits at the tips of branches, written and dated by GitHub itself.
import type { Chance } from "../chance.js";
import type { Clock } from "../clock.js";
import {
  historyAnswer,
  historyRequest,
  listAnswer,
  listRequest,
  type Page,
  readAnswer,
  readRequest,
  refOid,
} from "../github/queries.js";
import { askRest, type GithubRequests } from "../github/requests.js";
import { type RecordName, refOf } from "../protocol/names.js";
import type { Oid, Versioned } from "../protocol/record.js";
import { type Setup, startCalls } from "./github-calls.js";
import { emptyTree, type Memory } from "./github-commits.js";
import { ownerAndName, swapOnGithub } from "./github-swap.js";
import type { CallOptions, Store } from "./store.js";

export interface GithubStoreOptions {
  /** Without a retry plugin: repeating a write is decided in here. */
  octokit: GithubRequests;
  /** `owner/name`. */
  repository: string;
  prefix: string;
  clock: Clock;
  chance: Chance;
  /** What a person should know and nothing fails for. */
  warn: (text: string) => void;
  /** The longest wait for rate limits in one call, in milliseconds. Default: one minute. */
  waitLimit?: number;
  /** Whether the run belongs to a pull request from a fork, whose token can only read. Changes words, not deeds. */
  forkPullRequest?: boolean;
}

/** What the store and a publish to the same repository share. */
export interface GithubAccess {
  setup: Setup;
  memory: Memory;
}

/** @throws StoreMisconfigured */
export function githubAccess({
  repository,
  prefix,
  waitLimit = 60_000,
  forkPullRequest = false,
  ...ports
}: GithubStoreOptions): GithubAccess {
  const place = { ...ownerAndName(repository), prefix };
  return {
    setup: { ...ports, repository, place, waitLimit, forkPullRequest },
    memory: { repositoryId: null, tree: emptyTree, oneRequest: true },
  };
}

/**
 * Requests: a read 1, a child of the expected tip 1, a new record 2, several records one each and 1 more. An
 * `unchanged` that is so is free. @throws StoreMisconfigured
 */
export function githubStore(options: GithubStoreOptions): Store {
  return githubStoreOn(githubAccess(options));
}

export function githubStoreOn({ setup, memory }: GithubAccess): Store {
  const { place, repository } = setup;
  const tags = new Map<RecordName, { etag: string; oid: Oid }>();

  async function read(names: readonly RecordName[], options: CallOptions = {}) {
    const calls = startCalls(setup, "read from", options);
    return calls.read(readRequest(place, names), (data, date) => {
      const { repositoryId, tips } = readAnswer(data, names);
      // Without the store's time nothing can expire, and a runner's clock is no substitute.
      if (date === null) throw new TypeError("no Date header in the answer");
      memory.repositoryId = repositoryId;
      return { now: date, records: tips.map(withoutParent) };
    });
  }

  async function unchanged(seen: Pick<Versioned, "name" | "oid">, { signal }: CallOptions = {}) {
    const before = tags.get(seen.name);
    const { owner, name: repo } = place;
    // By ETag alone: with If-Modified-Since GitHub has answered 304 for a ref that changed (hub4j/github-api#669).
    const answer = await askRest(
      setup.octokit,
      "GET /repos/{owner}/{repo}/git/ref/{ref}",
      {
        owner,
        repo,
        ref: refOf(place.prefix, seen.name).slice("refs/".length),
        ...(before ? { headers: { "if-none-match": before.etag } } : {}),
      },
      signal,
    );
    if (answer.kind === "unchanged") return before?.oid === seen.oid;
    tags.delete(seen.name);
    // Whatever went wrong, a read will say it better.
    if (answer.kind !== "ok") return false;
    const oid = refOid(answer.data);
    if (oid !== undefined && answer.etag !== null) tags.set(seen.name, { etag: answer.etag, oid });
    return oid === seen.oid;
  }

  return {
    label: `GitHub repository ${repository}`,
    stamps: true,
    read,
    async *list(start, options = {}) {
      const calls = startCalls(setup, "read from", options);
      const folder = start.slice(0, start.lastIndexOf("/") + 1);
      for (let after: string | null = null, more = true; more; ) {
        const page: Page = await calls.read(listRequest(place, folder, after), (data) =>
          listAnswer(place, data),
        );
        for (const seen of page.records) if (seen.name.startsWith(start)) yield seen;
        after = page.next;
        more = after !== null;
      }
    },
    async history(name, limit, options = {}) {
      const calls = startCalls(setup, "read from", options);
      const chain: Versioned[] = [];
      for (let after: string | null = null; chain.length < limit; ) {
        const first = Math.min(100, limit - chain.length);
        const request = historyRequest(place, name, first, after);
        const page: Page = await calls.read(request, (data) => historyAnswer(name, data));
        chain.push(...page.records);
        after = page.next;
        if (after === null) break;
      }
      return chain;
    },
    swap: (changes, options = {}) => swapOnGithub(setup, memory, changes, options),
    unchanged,
    async close() {},
  };
}

function withoutParent(tip: (Versioned & { before: unknown }) | null): Versioned | null {
  if (tip === null) return null;
  const { before: _, ...seen } = tip;
  return seen;
}
