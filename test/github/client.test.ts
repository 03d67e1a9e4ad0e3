// The client: addresses, headers, and silence.
import nock from "nock";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { githubClient } from "../../src/github/client.js";

beforeEach(() => nock.disableNetConnect());
afterEach(() => {
  nock.cleanAll();
  nock.enableNetConnect();
  vi.restoreAllMocks();
});

test.each([
  ["https://api.github.com", "https://api.github.com/graphql"],
  ["https://ghe.test/api/v3/", "https://ghe.test/api/graphql"],
])("speaks to %s and %s", async (apiUrl, graphqlUrl) => {
  const reqheaders = {
    authorization: "token ghs_x",
    "x-github-api-version": "2022-11-28",
    "user-agent": /^fencepost\/1 /,
  };
  const base = apiUrl.replace(/\/$/, "");
  nock(base, { reqheaders }).get("/repos/octo/blog").reply(200, {});
  nock(new URL(graphqlUrl).origin, { reqheaders })
    .post(new URL(graphqlUrl).pathname)
    .reply(200, { data: {} });
  const client = githubClient({ token: "ghs_x", apiUrl, graphqlUrl, userAgent: "fencepost/1" });
  await client.request("GET /repos/{owner}/{repo}", { owner: "octo", repo: "blog" });
  await client.request("POST /graphql", { query: "{ viewer { login } }" });
  expect(nock.isDone()).toBe(true);
});

test("sends a request once, and writes nothing to the console when it fails", async () => {
  const said = (["log", "info", "warn", "error", "debug"] as const).map((each) => vi.spyOn(console, each));
  const options = { apiUrl: "https://api.github.com", graphqlUrl: "https://api.github.com/graphql" };
  const client = githubClient({ token: "ghs_x", userAgent: "x", ...options });
  nock(options.apiUrl).get("/x").once().reply(502, {}, { deprecation: "true", sunset: date, link: "" });
  await expect(client.request("GET /x")).rejects.toMatchObject({ status: 502 });
  for (const each of said) expect(each).not.toHaveBeenCalled();
});

const date = "Sun, 01 Mar 2026 12:00:00 GMT";
