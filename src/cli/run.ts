// `fencepost run`: a command under a lease, for a draft or for the slots of a schedule, and what it made pushed behind the fence.
import { constants } from "node:os";
import type { Command as Commander } from "commander";
import { systemClock } from "../clock.js";
import { claimOf } from "../lease/identity.js";
import { branchRef, leaseName } from "../protocol/names.js";
import { finder, type RuleOptions, ruled, rulesOf } from "./draft-rules.js";
import { UsageError } from "./exit.js";
import { Interrupt } from "./interrupt.js";
import { type Job, underLease } from "./job.js";
import {
  json,
  type PushOptions,
  parseSkew,
  parseWait,
  placed,
  pushing,
  ttlOption,
  wholeNumber,
} from "./options.js";
import { closePlace, findPlace, type PlaceOptions } from "./place.js";
import { namedRefs, requireClone } from "./publish.js";
import { mostBackfill, type SlotOptions, slotsOf } from "./slots.js";
import { voice } from "./speak.js";

interface RunOptions extends PlaceOptions, PushOptions, RuleOptions, Omit<SlotOptions, "timezone"> {
  lease?: string;
  draft?: string;
  branch?: string;
  ttl: number;
  wait: number;
  skew?: number;
  push?: string;
  replace: boolean;
  heartbeat: boolean;
  json: boolean;
}

export function runCommand(finish: (code: number) => void): Commander {
  const command = placed("run")
    .description("run a command under a lease, and push what it made behind the fence")
    .usage("--lease NAME [options] -- COMMAND…")
    .argument("<command...>", "the command and its arguments, after --")
    .option("--lease <name>", "the lease: one per thing that must not be written twice at once")
    .addOption(ttlOption("how long the lease lasts without renewal"))
    .option(
      "--wait <duration>",
      "how long to wait when somebody else holds it (default: do not wait)",
      parseWait,
      0,
    )
    .option(
      "--skew <duration>",
      "allowance for clocks that differ (default: the smaller of 30s and a third of the TTL)",
      parseSkew,
    )
    .option("--push <branch>", "when the command succeeds, push HEAD to this branch")
    .option("--remote <where>", "push to this repository: a remote, a URL, or a path (default: the store's)")
    .option("--replace", "replace the branch, if it is still where it was when the lease was acquired", false)
    .option("--no-heartbeat", "do not renew; the command has two thirds of the TTL")
    .option("--draft <path>", "work on this draft, if it is pending at the tip; --lease is optional then")
    .option("--branch <branch>", "where the draft is (default: the branch of --push, or main)")
    .option("--schedule <cron>", "run once for each slot of this schedule that is due, the oldest first")
    .option(
      "--max-backfill <n>",
      "missed slots that still run, the newest ones; the rest are dropped and counted (default: 1)",
      wholeNumber("--max-backfill", 1, mostBackfill),
    )
    .addOption(json().default(false));
  ruled(pushing(command)).action(async (words: string[], options: RunOptions) =>
    finish(await run(words, options)),
  );
  return command.addHelpText(
    "after",
    `
COMMAND runs in a process group of its own with FENCEPOST_LEASE, FENCEPOST_TOKEN, FENCEPOST_CLAIM and FENCEPOST_STORE,
with FENCEPOST_DRAFT for a draft, and with FENCEPOST_SLOT (the slot's key, the same whoever runs it) for a schedule.
When the lease is lost, the group gets SIGTERM, ten seconds, and SIGKILL. Signals sent to fencepost reach it.

A draft that has nothing to be done for it ends with 0 and the outcome not_pending, nothing_due, backing_off or dead;
one that somebody else holds with 75. With --push, a command that leaves nothing to push has failed (exit code 1).

Exit codes: the command's own; 64 usage, 69 store unavailable, 73 the branch moved, 75 skipped_overlap,
76 superseded or lost, 77 refused, 78 configuration.

Examples: fencepost run --lease blog-main --ttl 15m --push main -- ./publish.sh
          fencepost run --draft posts/hello.md --convention hugo --push main -- ./publish.sh
          fencepost run --lease billing --schedule "0 * * * *" --max-backfill 10 -- ./bill.sh`,
  );
}

async function run(words: string[], options: RunOptions): Promise<number> {
  const say = voice(systemClock);
  const slots = slotsOf(options);
  const { draft: path } = options;
  if (options.lease === undefined && path === undefined)
    throw new UsageError(
      "--lease is missing: name what must not be written twice at once, such as blog-main.",
    );
  if (slots && (path !== undefined || options.lease === undefined))
    throw new UsageError("--schedule keeps its last success in a lease. Give --lease NAME, and no --draft.");
  const lease = options.lease === undefined ? undefined : leaseName(options.lease);
  const rules = path === undefined ? undefined : rulesOf(options);
  const place = await findPlace(options);
  const interrupt = new Interrupt();
  let job: Job | undefined;
  try {
    const push = options.push === undefined ? undefined : branchRef(options.push, place.prefix);
    const further = namedRefs(options, place.prefix);
    if (push !== undefined) requireClone(place);
    if (push === undefined && (options.replace || further.length > 0))
      throw new UsageError("--replace, --tag and --ref go with --push BRANCH. Add it, or leave them out.");
    const branch = branchRef(options.branch ?? options.push ?? "main", place.prefix);
    const draft =
      path === undefined || rules === undefined
        ? undefined
        : {
            path: path.replace(/^\.\//, ""),
            branch,
            rules,
            finder: finder(place, branch, rules, interrupt.signal),
          };
    const claim = claimOf(process.env, place.ports.chance);
    job = { words, options, place, claim, lease, push, draft, slots, interrupt, say };
    const { code, body } = await underLease(job);
    const names = { ...(lease === undefined ? {} : { lease }), ...(draft ? { draft: draft.path } : {}) };
    if (options.json) process.stdout.write(`${JSON.stringify({ ...names, ...body })}\n`);
    return code;
  } catch (error) {
    if (interrupt.name === undefined) throw error;
    return 128 + constants.signals[interrupt.name];
  } finally {
    interrupt.dispose();
    await job?.draft?.finder.close();
    await closePlace(place);
  }
}
