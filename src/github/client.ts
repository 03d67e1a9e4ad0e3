// The Octokit client, for github.com and for GitHub Enterprise Server.
import { Octokit } from "@octokit/core";

export interface GithubClientOptions {
  token: string;
  /** As GITHUB_API_URL has it: `https://api.github.com`, or `https://HOST/api/v3`. */
  apiUrl: string;
  /** As GITHUB_GRAPHQL_URL has it: `https://api.github.com/graphql`, or `https://HOST/api/graphql`. */
  graphqlUrl: string;
  userAgent: string;
}

/** The version whose answers this code was written against; GitHub serves a version for two years after its successor. */
const apiVersion = "2022-11-28";

/**
 * A client without retries, caches and logs. Callers limit each request by the signal they pass.
 *
 * Proxies are Node's affair: since Node 24 `fetch` takes HTTPS_PROXY and NO_PROXY from the environment where
 * NODE_USE_ENV_PROXY=1 is set; an older Node connects directly.
 */
export function githubClient({ token, apiUrl, graphqlUrl, userAgent }: GithubClientOptions): Octokit {
  // Octokit would log every failed request, a 304 included, and warnings with its headers.
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const baseUrl = apiUrl.replace(/\/+$/, "");
  const octokit = new Octokit({ auth: token, baseUrl, userAgent, log, request: { log } });
  octokit.hook.before("request", (options) => {
    options.headers["x-github-api-version"] = apiVersion;
    // GraphQL is not below the REST API's address on GitHub Enterprise Server.
    if (options.url === "/graphql") options.url = graphqlUrl;
  });
  return octokit;
}

function silent(): void {}
