// `fencepost doctor`: the safety rules checked on live records, each finding with what to do.
import type { Command as Commander } from "commander";
import { systemClock } from "../clock.js";
import { globMatcher } from "../draft/glob.js";
import { planOnStore } from "../draft/sweep.js";
import { adviseTtl, describeAdvice } from "../lease/advice.js";
import { readDraftRecord } from "../protocol/draft.js";
import { floorRecordName, readFloor } from "../protocol/floor.js";
import {
  checkChain,
  checkExpiry,
  checkHeadings,
  checkStats,
  type Finding,
  unreadable,
} from "../protocol/health.js";
import { defaultSkew, readLease, type SeenLease } from "../protocol/lease.js";
import { branchRef } from "../protocol/names.js";
import { RecordInvalid, type Versioned } from "../protocol/record.js";
import type { Store } from "../store/store.js";
import { finder, type RuleOptions, ruled, rulesOf } from "./draft-rules.js";
import { exit } from "./exit.js";
import { gradeOf, printGrade } from "./grade.js";
import { json, placed } from "./options.js";
import { findPlace, type Place, type PlaceOptions } from "./place.js";
import { onOut } from "./speak.js";

interface Options extends PlaceOptions, RuleOptions {
  drafts?: string[];
  branch: string;
  json: boolean;
}

export function doctorCommand(finish: (code: number) => void): Commander {
  const command = placed("doctor")
    .description("check the safety rules on the records as they are, and say what to do")
    .option("--drafts <globs...>", "check these drafts too, with --convention")
    .option("--branch <branch>", "the branch whose tip says what is pending, and that is graded", "main")
    .addOption(json().default(false));
  ruled(command).action(async (options: Options) => finish(await doctor(options)));
  return command.addHelpText(
    "after",
    "\nExit codes: 0 all is well, 1 something was found; 64 usage, 69 store unavailable, 78 configuration.",
  );
}

/** Writes of one chain that are looked at. */
const depth = 600;
/** Drafts whose whole chain is looked at, since each is a fetch of its own; of the others only the tip is. */
const mostChains = 100;

interface Diagnosis {
  findings: Finding[];
  advice: { lease: string; advice: string }[];
  checked: { leases: number; drafts: number; stats: number };
  /** Where the store is on GitHub: how firmly its rules close the branch to pushes past the fence. */
  grade?: Awaited<ReturnType<typeof gradeOf>>;
}

async function doctor(options: Options): Promise<number> {
  const place = await findPlace(options);
  try {
    const found = await examine(place.ports.store, place.ports.clock.read().wall);
    const branch = branchRef(options.branch, place.prefix);
    found.grade = await gradeOf(place.remote.label, branch, place.prefix, process.env);
    for (const problem of found.grade?.obstacles ?? [])
      found.findings.push({
        check: "rules",
        what: place.remote.label,
        problem,
        advice: exclude(place.prefix),
      });
    if (options.drafts) found.findings.push(...(await headings(place, options, options.drafts)));
    if (options.json) {
      const outcome = found.findings.length === 0 ? "well" : "findings";
      process.stdout.write(`${JSON.stringify({ outcome, store: place.ports.store.label, ...found })}\n`);
    } else print(found);
    return found.findings.length === 0 ? exit.ok : exit.failed;
  } finally {
    await place.ports.store.close();
  }
}

const exclude = (prefix: string) =>
  `Exclude ${prefix}/**/* from its target branches, or let the app that publishes bypass it.`;

async function examine(store: Store, now: number): Promise<Diagnosis> {
  const found: Diagnosis = { findings: [], advice: [], checked: { leases: 0, drafts: 0, stats: 0 } };
  for await (const tip of store.list("lease/")) {
    found.checked.leases++;
    const chain = await store.history(tip.name, depth);
    found.findings.push(...checkChain(chain), ...expiry(tip, now));
    const leases = readable(chain);
    const advice = adviseTtl(leases);
    if (advice) found.advice.push({ lease: leases[0]?.record.name ?? "", advice: describeAdvice(advice) });
  }
  for await (const tip of store.list("draft/")) {
    const chain = ++found.checked.drafts <= mostChains ? await store.history(tip.name, depth) : [tip];
    found.findings.push(...checkChain(chain), ...expiry(tip, now));
  }
  for await (const tip of store.list("stats/")) {
    found.checked.stats++;
    found.findings.push(...checkStats(await store.history(tip.name, depth)));
  }
  await fences(store, found);
  return found;
}

/** The floor under the drafts' tokens, and what this repository has accepted from leases of others. */
async function fences(store: Store, found: Diagnosis): Promise<void> {
  for await (const tip of store.list("fence/")) {
    if (tip.name === floorRecordName) found.findings.push(...floor(tip));
    else found.findings.push(...checkChain(await store.history(tip.name, depth)));
  }
}

function floor(tip: Versioned): Finding[] {
  try {
    readFloor(tip);
    return [];
  } catch (error) {
    if (error instanceof RecordInvalid) return [unreadable(tip.name, error)];
    throw error;
  }
}

/** A record that cannot be read is the chain's finding. */
function expiry(tip: Versioned, now: number): Finding[] {
  try {
    const seen = tip.name.startsWith("lease/") ? readLease(tip) : readDraftRecord(tip);
    return seen ? checkExpiry(seen, now, defaultSkew(seen.record.ttl ?? 0)) : [];
  } catch (error) {
    if (error instanceof RecordInvalid) return [];
    throw error;
  }
}

export function readable(chain: readonly Versioned[]): SeenLease[] {
  return chain.flatMap((versioned) => {
    try {
      return readLease(versioned) ?? [];
    } catch (error) {
      if (error instanceof RecordInvalid) return [];
      throw error;
    }
  });
}

async function headings(place: Place, options: Options, globs: string[]): Promise<Finding[]> {
  const rules = rulesOf(options);
  const matches = globMatcher(globs);
  const eyes = finder(place, branchRef(options.branch, place.prefix), rules);
  try {
    const plan = await planOnStore(place.ports.store, {
      find: () => eyes.find(matches),
      matches,
      trigger: "clock",
      maxStart: 0,
      maxAttempts: rules.maxAttempts,
      requireDue: rules.requireDue,
      skew: 30_000,
      remember: false,
    });
    return checkHeadings(plan);
  } finally {
    await eyes.close();
  }
}

function print({ findings, advice, checked, grade }: Diagnosis): void {
  for (const { check, what, problem, advice: next } of findings)
    process.stdout.write(`${onOut.red(check)}  ${onOut.bold(what)}: ${problem}. ${next}\n`);
  for (const each of advice)
    process.stdout.write(`${onOut.dim("ttl")}  ${onOut.bold(each.lease)}: ${each.advice}\n`);
  if (grade) printGrade(grade);
  const { leases, drafts, stats } = checked;
  const verdict = findings.length === 0 ? "all is well" : `${findings.length} findings`;
  process.stdout.write(
    `${verdict}: ${leases} leases, ${drafts} drafts and ${stats} counters were checked by ${new Date(systemClock.read().wall).toISOString().slice(0, 19)}Z.\n`,
  );
}
