// For tests of the sweep: workflows that sweep a blog on the local GitHub, and drafts that are claimed and settled there.
import { systemChance } from "../../src/chance.js";
import { systemClock } from "../../src/clock.js";
import { type ClaimResult, claimOnStore, redriveOnStore, settleOnStore } from "../../src/draft/claim.js";
import { githubClient } from "../../src/github/client.js";
import { draftRecordName } from "../../src/protocol/draft.js";
import { refOf } from "../../src/protocol/names.js";
import { headings } from "../../src/protocol/sweep.js";
import { githubStore } from "../../src/store/github.js";
import type { Hub, StartOptions } from "../support/hub.js";
import { stepOf } from "../support/runner/index.js";

export const minute = 60_000;

export interface Sweeping extends StartOptions {
  inputs?: Record<string, string | number>;
  permissions?: string;
  /** Whether the schedule brought it here; default: a push. */
  schedule?: boolean;
}

export interface SweepDone {
  conclusion: string;
  started: string[];
  outputs: Record<string, string>;
  headings: Headings;
  summary: string;
  log: string;
  warnings: string[];
  errors: string[];
}

export function sweeper(inputs: Record<string, string | number> = {}, permissions?: string): string {
  const all = { drafts: "posts/*.md", convention: "hugo", ...inputs };
  const given = Object.entries(all).map(
    ([name, value]) => `          ${name}: ${JSON.stringify(String(value))}`,
  );
  return `
name: sweep
on: [schedule, release, push]
permissions:
  ${permissions ?? "contents: write\n  actions: write\n  issues: write"}
jobs:
  sweep:
    runs-on: ubuntu-latest
    steps:
      - uses: fencepost/fencepost/sweep@v1
        id: sweep
        with:
${given.join("\n")}
`;
}

export async function runSweep(
  on: Hub,
  { inputs, permissions, schedule, ...rest }: Sweeping = {},
): Promise<SweepDone> {
  const event = { name: schedule ? "schedule" : "push" };
  const run = await on.run(sweeper(inputs, permissions), { event, ...rest });
  const step = stepOf(run.job("sweep"), "sweep");
  const said = (level: string) => step.annotations.filter((a) => a.level === level).map((a) => a.message);
  return {
    conclusion: run.conclusion,
    started: JSON.parse(step.outputs.drafts ?? "null"),
    outputs: step.outputs,
    headings: headingsOf(step.outputs),
    summary: run.job("sweep").summary,
    log: step.log.join("\n"),
    warnings: said("warning"),
    errors: said("error"),
  };
}

export const post = (title: string, more = "") =>
  `---\ntitle: ${title}\ndraft: true\n${more}---\nThe text.\n`;

/** Drafts that came long ago, one commit each, `01` first. */
export async function seedDrafts(on: Hub, names: readonly string[], more: (i: number) => string = () => "") {
  const files = Object.fromEntries(names.map((name, i) => [`posts/${name}.md`, post(name, more(i))]));
  on.github.clock.advance(-60 * minute);
  await on.github.commit("main", { "posts/1.md": null, ...files }, "drafts");
  on.github.clock.advance(60 * minute);
}

export const recordRef = (path: string) => refOf("fencepost", draftRecordName(path));

/** Works on drafts as a run of another job would. */
export function worker(on: Hub) {
  const token = on.github.token({ contents: "write", label: "worker" });
  const { apiUrl, graphqlUrl } = on.github;
  const octokit = githubClient({ token, apiUrl, graphqlUrl, userAgent: "test" });
  const parts = { clock: systemClock, chance: systemChance };
  const store = githubStore({
    octokit,
    repository: "octo/blog",
    prefix: "fencepost",
    warn: () => undefined,
    ...parts,
  });
  const ports = { store, ...parts };

  async function claim(path: string, runId?: number): Promise<ClaimResult> {
    const tip = await on.github.tip("refs/heads/main");
    const blob = (await on.github.repository().objects.read(`refs/heads/main:${path}`))?.oid ?? "";
    const draft = { path, blob, reading: { state: "pending", due: null } as const, age: null };
    const id = systemChance.nonce();
    const run = runId === undefined ? {} : { repository: "octo/blog", runId: String(runId), runAttempt: 1 };
    const look = async () => ({ draft, tip });
    const rules = { ttl: 15 * minute, skew: 0, maxAttempts: 3, look };
    return claimOnStore(ports, {
      draft: path,
      claim: { id, ...run, url: "https://example.org/run" },
      ...rules,
    });
  }

  async function fail(path: string, reason: string): Promise<void> {
    const claimed = await claim(path);
    if (claimed.outcome !== "acquired") throw new Error(JSON.stringify(claimed));
    // The store's time is in whole seconds.
    const now = on.github.clock.seconds() * 1000;
    const options = { maxAttempts: 3, now, backoff: { first: 0, most: 0 } };
    await settleOnStore(ports, claimed.holding, { result: "failed", reason }, options);
  }

  return {
    claim,
    fail,
    async kill(path: string, reason = "the generator gave nothing") {
      for (let i = 0; i < 3; i++) await fail(path, reason);
    },
    redrive: (draft: string) => redriveOnStore(ports, { draft, by: "mona", reason: "put right" }),
  };
}

export type Headings = Record<string, number>;

/** Those that are not 0. */
export function headingsOf(outputs: Record<string, string>): Headings {
  const found: Headings = {};
  for (const heading of headings) {
    const value = Number(outputs[heading.replaceAll("_", "-")]);
    if (value !== 0) found[heading] = value;
  }
  return found;
}

export const sum = (counts: Headings) => Object.values(counts).reduce((a, b) => a + b, 0);
