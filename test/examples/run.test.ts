// Every workflow to copy, run as it stands: on the bundled actions, a local runner and a local GitHub.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  acquire,
  type LeaseRecord,
  leaseMessage,
  leaseRecordName,
  readLease,
  succeed,
} from "../../src/protocol/lease.js";
import { refOf } from "../../src/protocol/names.js";
import { type Github, startGithub } from "../support/github/server.js";
import {
  type Conclusion,
  type RunEvent,
  type RunHandle,
  runWorkflow,
  type TokenRequest,
} from "../support/runner/index.js";
import { root, workflowsIn } from "./workflows.js";

interface Example {
  file: string;
  event: RunEvent;
  lease: string;
  /** Beyond the seed of `main`. */
  setUp?: () => Promise<void> | void;
  /** Legs of a matrix count each. */
  jobs: Record<string, Conclusion[]>;
  /** By branch and path, what is published in the end. */
  published: Record<string, Record<string, RegExp>>;
  /** How often the lease changed hands. */
  token: number;
  /** While another run holds the lease: the jobs' conclusions of a skip, or that it waits and then does its work. */
  busy: "waits" | Record<string, Conclusion[]>;
}

const schedule: RunEvent = { name: "schedule", payload: { schedule: "17 6 * * *" } };
const dispatch: RunEvent = { name: "workflow_dispatch" };
const push: RunEvent = { name: "push" };
const us = 1_000_000_001;
const other = 4711;

const examples: Example[] = [
  {
    file: "scheduled-agent.yml",
    event: schedule,
    lease: "blog-main",
    jobs: { write: ["success"] },
    published: { main: { [`articles/${us}.md`]: /Written by run/, "README.md": /A blog/ } },
    token: 1,
    busy: { write: ["success"] },
  },
  {
    file: "shared-lease-publish.yml",
    event: push,
    lease: "site-main",
    setUp: async () => void (await github.commit("main", { "drafts/hello.md": "Hello\n" }, "Draft")),
    jobs: { publish: ["success"] },
    published: { main: { "articles/hello.md": /Hello/ } },
    token: 1,
    busy: "waits",
  },
  {
    file: "shared-lease-sync.yml",
    event: schedule,
    lease: "site-main",
    jobs: { sync: ["success"] },
    published: { main: { "index.txt": /^README\.md$/m } },
    token: 1,
    busy: { sync: ["success"] },
  },
  {
    file: "app-token.yml",
    event: schedule,
    lease: "blog-main",
    setUp: () => github.protect({ ref: "refs/heads/main", rule: "GH013", bypass: ["app"] }),
    jobs: { publish: ["success"] },
    published: { main: { "report.md": new RegExp(`Report of run ${us}`) } },
    token: 1,
    busy: { publish: ["success"] },
  },
  {
    file: "gh-pages.yml",
    event: push,
    lease: "gh-pages",
    setUp: async () => void (await github.commit("gh-pages", { "README.md": "An old site\n" }, "Old site")),
    jobs: { site: ["success"] },
    published: { "gh-pages": { "README.md": /A blog/, ".nojekyll": /^$/ }, main: { "README.md": /A blog/ } },
    token: 1,
    busy: "waits",
  },
  {
    file: "matrix.yml",
    event: dispatch,
    lease: "translations",
    jobs: { translate: ["success", "success", "success"] },
    published: {
      main: { "translations/de.md": /to de/, "translations/es.md": /to es/, "translations/ja.md": /to ja/ },
    },
    token: 3,
    busy: "waits",
  },
  {
    file: "spanning-jobs.yml",
    event: dispatch,
    lease: "notes-main",
    jobs: { acquire: ["success"], write: ["success"], release: ["success"] },
    published: { main: { "NOTES.md": new RegExp(`Notes of run ${us}`) } },
    token: 1,
    busy: { acquire: ["success"], write: ["skipped"], release: ["skipped"] },
  },
];

let github: Github;

beforeEach(async () => {
  github = await startGithub();
  await github.seed({ files: { "README.md": "A blog\n" } });
  github.addRun({ id: us });
});

afterEach(async () => {
  await github.close();
  expect(github.violations).toEqual([]);
});

/** Run by drafts.test.ts. */
const elsewhere = ["billing.yml", "drafts-dispatch.yml", "drafts-publish.yml", "drafts.yml", "zenn.yml"];

test("every example is in the table, or run elsewhere", () => {
  expect(workflowsIn("examples").map(({ path }) => path)).toEqual(
    [...examples.map(({ file }) => file), ...elsewhere].map((file) => `examples/${file}`).sort(),
  );
});

describe.each(examples)("$file", (example) => {
  test("publishes under its lease, and releases it", { timeout: 180_000 }, async () => {
    await example.setUp?.();
    await finishes(start(example), example.jobs);
    await expectPublished(example, example.token);
  });

  test("keeps its hands off while another run holds the lease", { timeout: 180_000 }, async () => {
    await example.setUp?.();
    const release = await holdByOther(example.lease);
    const before = await tips(example);
    const run = start(example);
    if (example.busy === "waits") {
      await run.seen("Waiting for");
      expect(await tips(example)).toEqual(before);
      // One of the two ends without giving back, and is found to have finished.
      if (example.file === "shared-lease-publish.yml") github.finishRun(other);
      else await release();
      await finishes(run, example.jobs);
      await expectPublished(example, example.token + 1);
      return;
    }
    await finishes(run, example.busy);
    expect(await tips(example)).toEqual(before);
    expect(await leaseOf(example)).toMatchObject({
      state: "held",
      token: 1,
      holder: { runId: String(other) },
    });
  });
});

test("shared-lease-publish.yml: what was pushed while it waited is published too", {
  timeout: 180_000,
}, async () => {
  const example = exampleOf("shared-lease-publish.yml");
  await example.setUp?.();
  const release = await holdByOther(example.lease);
  const run = start(example);
  await run.seen("Waiting for");
  await github.commit("main", { "drafts/late.md": "Late\n" }, "A later draft");
  await release();
  await finishes(run, example.jobs);
  await expectPublished(example, 2);
  expect(await github.repository().file("main", "articles/late.md")).toBe("Late\n");
});

test("gh-pages.yml: the site is built from the newest sources, not from those of the event", {
  timeout: 180_000,
}, async () => {
  const example = exampleOf("gh-pages.yml");
  const release = await holdByOther(example.lease);
  const run = start(example);
  await run.seen("Waiting for");
  await github.commit("main", { "README.md": "A newer blog\n" }, "Newer");
  await release();
  await finishes(run, example.jobs);
  expect(await github.repository().file("gh-pages", "README.md")).toBe("A newer blog\n");
});

test("spanning-jobs.yml: the lease is released also when the work fails", async () => {
  const example = exampleOf("spanning-jobs.yml");
  github.protect({ ref: "refs/heads/main", rule: "GH013" });
  await finishes(start(example), { acquire: ["success"], write: ["failure"], release: ["success"] });
  expect(await leaseOf(example)).toMatchObject({ state: "released", token: 1 });
});

test("gh-pages.yml leaves one commit, whatever was there before", { timeout: 180_000 }, async () => {
  const example = exampleOf("gh-pages.yml");
  await finishes(start(example), example.jobs);
  await finishes(start(example), example.jobs);
  expect(await github.log("gh-pages")).toHaveLength(1);
  expect(await leaseOf(example)).toMatchObject({ state: "released", token: 2 });
});

test("app-token.yml: without the app the push is refused, and the lease is free again", async () => {
  const example = exampleOf("app-token.yml");
  github.protect({ ref: "refs/heads/main", rule: "GH013" });
  const before = await github.tip("main");
  await finishes(start(example), { publish: ["failure"] });
  expect(await github.tip("main")).toBe(before);
  expect(await leaseOf(example)).toMatchObject({ state: "released", token: 1 });
});

function exampleOf(file: string): Example {
  const found = examples.find((example) => example.file === file);
  if (!found) throw new Error(`no example ${file}`);
  return found;
}

function start({ file, event }: Example): RunHandle {
  return runWorkflow({
    file: join(root, "examples", file),
    event,
    repository: github.cloneUrl(),
    actions: { "fencepost/fencepost": root },
    github: {
      repository: "octo/blog",
      run_id: String(us),
      server_url: github.url,
      api_url: github.apiUrl,
      graphql_url: github.graphqlUrl,
    },
    vars: { APP_CLIENT_ID: "Iv1.0123456789abcdef" },
    secrets: { APP_PRIVATE_KEY: "a private key" },
    mintToken,
  });
}

function mintToken({ for: what, permissions }: TokenRequest): string {
  const levels = typeof permissions === "object" ? permissions : {};
  return github.token({ ...levels, kind: what === "app" ? "app" : "GITHUB_TOKEN", label: what });
}

async function finishes(run: RunHandle, jobs: Record<string, Conclusion[]>): Promise<void> {
  const result = await run.done;
  const log = result.jobs.flatMap((job) => job.steps.flatMap((step) => step.log)).join("\n");
  const found = Object.keys(jobs).map((id) => [id, result.legs(id).map(({ conclusion }) => conclusion)]);
  expect(Object.fromEntries(found), log).toEqual(jobs);
  expect(result.jobs.map(({ id }) => id).filter((id) => !(id in jobs))).toEqual([]);
}

async function expectPublished(example: Example, token: number): Promise<void> {
  for (const [branch, files] of Object.entries(example.published))
    for (const [path, content] of Object.entries(files))
      expect(await github.repository().file(branch, path), `${branch}:${path}`).toMatch(content);
  expect(await leaseOf(example)).toMatchObject({ state: "released", token, holder: { runId: String(us) } });
}

/** Another run of the same repository, still in progress, has acquired the lease. */
/** Returns what gives it back: a waiting run sees that sooner than the end of a run that did not release. */
async function holdByOther(lease: string): Promise<() => Promise<void>> {
  github.addRun({ id: other });
  const decision = acquire(null, {
    lease,
    claim: { id: "another-run", repository: "octo/blog", runId: String(other), runAttempt: 1, job: "write" },
    ttl: 3_600_000,
    now: github.clock.now(),
    skew: 0,
    nonce: "the-first-nonce",
  });
  if (decision.outcome !== "grant") throw new Error("a new lease is always granted");
  const { record } = decision.write;
  const oid = await github.commit(leaseRef(lease), {}, leaseMessage(record));
  return async () => {
    const owner = { token: record.token, claim: record.holder };
    const seen = { record, oid, writtenAt: github.clock.now() };
    const write = succeed(seen, owner, { event: "released", nonce: "the-second-nonce" });
    if (write === null) throw new Error("a holder may always release");
    await github.commit(leaseRef(lease), {}, leaseMessage(write.record));
    github.finishRun(other);
  };
}

async function leaseOf({ lease }: Example): Promise<LeaseRecord | null> {
  const [tip] = await github.log(leaseRef(lease));
  if (!tip) return null;
  const { oid, parents, message, committer } = tip;
  const name = leaseRecordName(lease);
  return readLease({ name, oid, parents, message, writtenAt: committer.seconds * 1000 })?.record ?? null;
}

async function tips({ published }: Example): Promise<Record<string, string | null>> {
  const found = Object.keys(published).map(async (branch) => [branch, await github.tip(branch)]);
  return Object.fromEntries(await Promise.all(found));
}

function leaseRef(lease: string): string {
  return refOf("fencepost", leaseRecordName(lease));
}
