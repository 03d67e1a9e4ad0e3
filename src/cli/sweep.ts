// `fencepost sweep`: finds pending drafts that nobody works on, and starts or works at most so many of them.
import { constants } from "node:os";
import type { Command as Commander } from "commander";
import { systemClock } from "../clock.js";
import { globMatcher } from "../draft/glob.js";
import { type Swept, sweep } from "../draft/sweep.js";
import { defaultSkew } from "../protocol/lease.js";
import { branchRef } from "../protocol/names.js";
import { defaultStaleAfter } from "../protocol/sweep.js";
import { finder, type RuleOptions, ruled, rulesOf } from "./draft-rules.js";
import { draftRows, draftTable } from "./draft-table.js";
import { exit, UsageError } from "./exit.js";
import { Interrupt } from "./interrupt.js";
import {
  durationOption,
  json,
  type PushOptions,
  parseSkew,
  placed,
  pushing,
  ttlOption,
  wholeNumber,
} from "./options.js";
import { findPlace, type PlaceOptions } from "./place.js";
import { voice } from "./speak.js";
import { type Worked, workDrafts } from "./sweep-work.js";

export interface SweepOptions extends PlaceOptions, PushOptions, RuleOptions {
  drafts: string[];
  branch: string;
  staleAfter: number;
  maxStart: number;
  event: boolean;
  ttl: number;
  skew?: number;
  push?: string;
  heartbeat: boolean;
  json: boolean;
}

export function sweepCommand(finish: (code: number) => void): Commander {
  const command = placed("sweep")
    .description("find pending drafts that nobody works on, and start at most so many of them")
    .usage("--drafts GLOB… --convention NAME [options] [-- COMMAND…]")
    .argument("[command...]", "works one draft; it runs once for each draft that is started")
    .requiredOption("--drafts <globs...>", "which files are drafts; `!` before a glob leaves files out")
    .option("--branch <branch>", "the branch whose tip says what is pending", "main")
    .addOption(
      durationOption(
        "--stale-after",
        "leave drafts alone that are younger (their own event may be on the way), and starts that nobody claimed yet",
        { least: 0, most: 30 * 86_400_000 },
        defaultStaleAfter,
      ),
    )
    .option("--event", "an event brought us here: start drafts of any age", false)
    .option("--max-start <n>", "drafts to start at the most", wholeNumber("--max-start", 0, 10_000), 1)
    .addOption(ttlOption("how long the claim of a draft lasts without renewal"))
    .option(
      "--skew <duration>",
      "allowance for clocks that differ (default: the smaller of 30s and a third of the TTL)",
      parseSkew,
    )
    .option("--push <branch>", "where COMMAND's commits go (default: the branch)")
    .option("--no-heartbeat", "do not renew; the command has two thirds of the TTL")
    .addOption(json().default(false));
  ruled(pushing(command)).action(async (words: string[], options: SweepOptions) =>
    finish(await run(words, options)),
  );
  return command.addHelpText(
    "after",
    `
Without COMMAND it prints every draft under its heading, and the drafts that it started, for others to work on; it
remembers them, so that the next sweep does not start them again before --stale-after.

With COMMAND it works the started drafts itself, one after the other, each under its own claim: in a fresh checkout of
the branch's tip, with FENCEPOST_DRAFT (its path), FENCEPOST_DRAFT_TOKEN and FENCEPOST_CLONE (the folder where the sweep
was started). What COMMAND commits is pushed in one transaction with the record that says published. A draft that fails
waits (--backoff) and is tried again, and is dead after --max-attempts; it never stops the others.

Exit codes: 0, or 1 when a draft that was worked on was not published; 64 usage, 69 store unavailable, 77 refused,
78 configuration.

Example: fencepost sweep --drafts 'posts/**/*.md' --convention hugo --max-start 3 -- ./publish.sh`,
  );
}

async function run(words: string[], options: SweepOptions): Promise<number> {
  const rules = rulesOf(options);
  const matches = globMatcher(options.drafts);
  const say = voice(systemClock);
  const place = await findPlace(options);
  const interrupt = new Interrupt();
  const branch = branchRef(options.branch, place.prefix);
  const push = branchRef(options.push ?? options.branch, place.prefix);
  if (words.length === 0 && options.push !== undefined)
    throw new UsageError("--push goes with COMMAND. Give one after --, or leave this out.");
  const eyes = finder(place, branch, rules, interrupt.signal);
  try {
    const swept = await sweep(place.ports, {
      find: () => eyes.find(matches, options.event ? null : options.staleAfter),
      matches,
      trigger: options.event ? "event" : "clock",
      staleAfter: options.staleAfter,
      maxStart: options.maxStart,
      maxAttempts: options.maxAttempts,
      requireDue: options.requireDue,
      skew: options.skew ?? defaultSkew(options.ttl),
      remember: words.length === 0,
      signal: interrupt.signal,
    });
    for (const problem of swept.problems) say.warn(problem);
    if (swept.tip === null) say.warn(`the branch ${options.branch} does not exist in ${place.remote.label}`);
    for (const dead of swept.plan.deadLetters)
      say.warn(
        `dead: ${JSON.stringify(dead.path)} is set aside after ${dead.seen.record.attempts} attempts (${dead.seen.record.reason ?? "no reason given"}). Edit it, or: fencepost redrive ${JSON.stringify(dead.path)} --reason TEXT`,
      );
    for (const { path, standing } of swept.plan.report)
      if (standing.is === "unreadable") say.warn(`unreadable: ${JSON.stringify(path)}: ${standing.reason}`);
    if (!options.json) process.stdout.write(draftTable(draftRows(swept.plan, swept.now), swept.plan.counts));
    const worked =
      words.length === 0
        ? []
        : await workDrafts(
            { words, options, place, rules, push, branch, finder: eyes, interrupt, say },
            swept,
          );
    if (options.json) process.stdout.write(`${JSON.stringify(sweepJson(swept, worked))}\n`);
    else if (words.length === 0)
      for (const { path } of swept.started) say.good(`started ${JSON.stringify(path)}`);
    if (interrupt.name !== undefined) return 128 + constants.signals[interrupt.name];
    return worked.some(({ state }) => state !== "published" && state !== "skipped") ? exit.failed : exit.ok;
  } catch (error) {
    if (interrupt.name === undefined) throw error;
    return 128 + constants.signals[interrupt.name];
  } finally {
    interrupt.dispose();
    await eyes.close();
    await place.ports.store.close();
  }
}

function sweepJson(swept: Swept, worked: readonly Worked[]) {
  const { plan, now } = swept;
  return {
    outcome: "swept",
    tip: swept.tip,
    total: plan.total,
    counts: plan.counts,
    started: swept.started.map(({ path }) => path),
    drafts: draftRows(plan, now),
    worked,
    repaired: swept.repaired,
    pruned: swept.pruned,
    conflicts: swept.conflicts,
  };
}
