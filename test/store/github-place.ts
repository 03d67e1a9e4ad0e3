// A store on the local GitHub, with a clock that does not make anybody wait.
import type { Clock } from "../../src/clock.js";
import { githubClient } from "../../src/github/client.js";
import { type RecordName, recordName, refOf } from "../../src/protocol/names.js";
import { type GithubStoreOptions, githubStore } from "../../src/store/github.js";
import type { Store } from "../../src/store/store.js";
import { type Github, type GithubOptions, startGithub } from "../support/github/server.js";

export const a = recordName("lease", "a");
export const b = recordName("lease", "b");
export const refA = refOf("fencepost", a);

export interface GithubPlace {
  github: Github;
  token: string;
  /** What the store said. */
  warned: string[];
  /** How long it slept, in milliseconds. */
  slept: number[];
  store(options?: Partial<GithubStoreOptions> & { token?: string }): Store;
  /** The operations of the requests since the last call. */
  requests(): string[];
  dispose(): Promise<void>;
}

export async function githubPlace(options: GithubOptions = {}): Promise<GithubPlace> {
  const github = await startGithub(options);
  await github.seed({ files: { "a.md": "one\n" } });
  const token = github.token({ contents: "write", label: "writer" });
  const warned: string[] = [];
  const slept: number[] = [];
  let nonces = 0;
  const clock: Clock = {
    read: () => ({ wall: 0, monotonic: 0 }),
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      slept.push(ms);
      github.clock.advance(ms > 1000 ? ms : 0);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  return {
    github,
    token,
    warned,
    slept,
    store: ({ token: own = token, ...more } = {}) =>
      githubStore({
        octokit: githubClient({
          token: own,
          apiUrl: github.apiUrl,
          graphqlUrl: github.graphqlUrl,
          userAgent: "test",
        }),
        repository: "octo/blog",
        prefix: "fencepost",
        clock,
        chance: { nonce: () => `nonce-${nonces++}`, random: () => 0.5 },
        warn: (text) => warned.push(text),
        ...more,
      }),
    requests: () => {
      const seen = github.requests.map(({ operation, fields }) =>
        operation === "mutation" ? (fields[0] ?? "") : operation,
      );
      github.resetCounts();
      return seen;
    },
    dispose: () => github.close(),
  };
}

export async function tipOf(store: Store, name: RecordName) {
  return (await store.read([name])).records[0] ?? null;
}
