// One run of a workflow for each started draft; a draft whose run could not be started is put back.
import { putBack } from "../draft/put-back.js";
import type { Swept } from "../draft/sweep.js";
import { type Dispatched, dispatchWorkflow } from "../github/dispatch.js";
import type { Ports } from "../lease/lease.js";
import { oneLine } from "../protocol/claim.js";
import type { Heading, SweepDraft } from "../protocol/sweep.js";
import { ownerAndName } from "../store/github-swap.js";
import type { Client } from "./place.js";
import { shortRef } from "./places.js";
import type { Workflow } from "./workflow.js";

export interface DispatchTarget {
  repository: string;
  /** The name of the workflow's file. */
  workflow: string;
  /** A full ref. */
  branch: string;
}

export interface DispatchReport {
  /** Why a draft was not started, by path. */
  failed: Map<string, string>;
  /** What the step fails for. */
  errors: string[];
}

/** Starts them one after the other. Those that fail leave `swept.started`, and stand under another heading. */
export async function dispatchDrafts(
  workflow: Workflow,
  ports: Ports,
  client: Client,
  target: DispatchTarget,
  swept: Swept,
): Promise<DispatchReport> {
  const report: DispatchReport = { failed: new Map(), errors: [] };
  const { owner, name: repo } = ownerAndName(target.repository);
  const wanted = [...swept.started];
  let stopped: string | null = null;
  for (const draft of wanted) {
    const request = { owner, repo, workflow: target.workflow, ref: shortRef(target.branch) };
    const inputs = { draft: draft.path };
    const result: Dispatched =
      stopped === null
        ? await send(client, { ...request, inputs })
        : { outcome: "failed", every: true, words: stopped };
    if (result.outcome === "sent") workflow.info(`started ${JSON.stringify(draft.path)}`);
    else if (result.outcome === "unsure")
      workflow.warning(
        `${result.words} ${JSON.stringify(draft.path)} counts as started. If no run claims it, a later sweep starts it again.`,
      );
    else {
      if (!result.every) workflow.warning(`${JSON.stringify(draft.path)}: ${result.words}`);
      else if (stopped === null) report.errors.push(result.words);
      if (result.every) stopped = result.words;
      report.failed.set(draft.path, firstLine(result.words));
      await takeBack(workflow, ports, swept, draft, firstLine(result.words));
    }
  }
  if (report.errors.length === 0 && wanted.length > 0 && report.failed.size === wanted.length)
    report.errors.push(
      `None of ${wanted.length} drafts could be started: ${[...report.failed.values()][0]} The drafts wait for the next sweep.`,
    );
  return report;
}

function send(client: Client, request: Parameters<typeof dispatchWorkflow>[1]): Promise<Dispatched> {
  return dispatchWorkflow(client, request, AbortSignal.timeout(30_000)).catch(
    (error): Dispatched => ({
      outcome: "unsure",
      words: `Whether the workflow was started is not known (${error instanceof Error ? error.message : error}).`,
    }),
  );
}

async function takeBack(
  workflow: Workflow,
  ports: Ports,
  swept: Swept,
  draft: SweepDraft,
  why: string,
): Promise<void> {
  let back = false;
  try {
    back = await putBack(ports, draft, why);
  } catch (error) {
    workflow.warning(
      `${JSON.stringify(draft.path)} could not be put back, and waits until its start is stale: ${error instanceof Error ? error.message : error}`,
    );
  }
  swept.started = swept.started.filter((other) => other !== draft);
  moveTo(swept, draft.path, back ? "over_cap" : "already_started");
}

/** The headings still add up. */
function moveTo({ plan }: Swept, path: string, heading: Heading): void {
  const each = plan.report.find((one) => one.path === path);
  if (each === undefined) return;
  plan.counts[each.heading]--;
  plan.counts[heading]++;
  each.heading = heading;
}

/** A record and a table cell have room for the sentence, and not for the YAML after it. */
function firstLine(words: string): string {
  return oneLine(words.split(" Give the job this")[0]?.split("\n")[0] ?? "");
}
