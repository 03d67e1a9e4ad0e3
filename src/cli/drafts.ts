// `fencepost drafts`: every draft, its heading, and why.
import type { Command as Commander } from "commander";
import { describeDraft } from "../draft/describe.js";
import { globMatcher } from "../draft/glob.js";
import { listDraftRecords } from "../draft/records.js";
import { planOnStore } from "../draft/sweep.js";
import { defaultSkew } from "../protocol/lease.js";
import { branchRef } from "../protocol/names.js";
import { defaultStaleAfter } from "../protocol/sweep.js";
import { finder, type RuleOptions, ruled, rulesOf } from "./draft-rules.js";
import { type DraftRow, draftRows, draftTable } from "./draft-table.js";
import { exit } from "./exit.js";
import { json, placed } from "./options.js";
import { findPlace, type Place, type PlaceOptions } from "./place.js";

interface Options extends PlaceOptions, RuleOptions {
  drafts?: string[];
  branch: string;
  json: boolean;
}

export function draftsCommand(finish: (code: number) => void): Commander {
  const command = placed("drafts")
    .description("show every draft, its heading, why, its attempts and its next try; changes nothing")
    .option("--drafts <globs...>", "which files are drafts (default: those that were claimed once)")
    .option("--branch <branch>", "the branch whose tip says what is pending", "main")
    .addOption(json().default(false));
  ruled(command).action(async (options: Options) => finish(await show(options)));
  return command.addHelpText(
    "after",
    "\nExample: fencepost drafts --drafts 'posts/**/*.md' --convention hugo",
  );
}

async function show(options: Options): Promise<number> {
  const place = await findPlace(options);
  try {
    const rows = options.drafts ? await atTip(place, options, options.drafts) : await onRecord(place);
    const counts: Record<string, number> = {};
    for (const { heading } of rows) counts[heading] = (counts[heading] ?? 0) + 1;
    if (options.json) {
      const store = place.ports.store.label;
      process.stdout.write(`${JSON.stringify({ store, total: rows.length, counts, drafts: rows })}\n`);
    } else process.stdout.write(draftTable(rows, counts));
    return exit.ok;
  } finally {
    await place.ports.store.close();
  }
}

/** As a sweep by the clock would find them that may start nothing: what it could start is pending. */
async function atTip(place: Place, options: Options, globs: string[]): Promise<DraftRow[]> {
  const rules = rulesOf(options);
  const matches = globMatcher(globs);
  const eyes = finder(place, branchRef(options.branch, place.prefix), rules);
  try {
    const plan = await planOnStore(place.ports.store, {
      find: () => eyes.find(matches, defaultStaleAfter),
      matches,
      trigger: "clock",
      maxStart: 0,
      maxAttempts: rules.maxAttempts,
      requireDue: rules.requireDue,
      skew: 30_000,
      remember: false,
    });
    return draftRows(plan, plan.now).map((row) =>
      row.heading === "over_cap" ? { ...row, heading: "pending" } : row,
    );
  } finally {
    await eyes.close();
  }
}

/** Without a convention nobody can tell what a file says; the records still say what was tried. */
async function onRecord(place: Place): Promise<DraftRow[]> {
  const { store, clock } = place.ports;
  const { records, broken } = await listDraftRecords(store);
  const now = clock.read().wall;
  const rows = [...records].map(([path, seen]): DraftRow => {
    const { state, attempts, notBefore, ttl } = seen.record;
    const waits = state === "pending" && notBefore !== undefined && Date.parse(notBefore) > now;
    const started = state === "pending" && seen.record.event === "started";
    const expired = state === "held" && now >= seen.writtenAt + (ttl ?? 0) + defaultSkew(ttl ?? 0);
    return {
      draft: path,
      heading: waits ? "backing_off" : started ? "already_started" : expired ? "pending" : state,
      why: describeDraft(seen, now),
      attempts,
      next: waits ? notBefore : null,
    };
  });
  const unreadable = [...broken].map(
    ([name, error]): DraftRow => ({
      draft: name,
      heading: "unreadable",
      why: error.message,
      attempts: 0,
      next: null,
    }),
  );
  return [...rows, ...unreadable];
}
