#!/usr/bin/env node
// The gate as a server's hook: `reference-transaction` enforces, `pre-receive` explains; each judges alone where the other cannot be.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import manifest from "../../../package.json" with { type: "json" };
import { systemClock } from "../../clock.js";
import { redact } from "../../git/program.js";
import { parseCommit } from "../../git/records.js";
import { record } from "../../protocol/bench.js";
import { oneLine } from "../../protocol/claim.js";
import { concerns, judge, type RefChange, type Refused, toRead, toReadThen } from "../../protocol/gate.js";
import { leaseRecordName, readLease, type SeenLease } from "../../protocol/lease.js";
import { refOf } from "../../protocol/names.js";
import { type Oid, RecordInvalid, type Versioned } from "../../protocol/record.js";
import { askedReason, forget, handOver, line, pusher, recordAllowed, takeAllowed } from "./escape.js";
import { versionQuestion } from "./hook.js";
import { gitFolder, isLoose, objectsHere, packedRefs, removing, settingsHere } from "./repository.js";
import type { Settings } from "./settings.js";
import { refusalLines } from "./words.js";

interface Judged {
  refused: Refused[];
  leases: Map<string, SeenLease | null>;
}

const words = [basename(process.argv[1] ?? ""), ...process.argv.slice(2)];
try {
  process.exitCode = await main(words);
} catch (error) {
  // What cannot be judged does not pass.
  const why = error instanceof Error ? error.message : String(error);
  tell([`this push could not be judged, so it is refused: ${redact(why)}`]);
  process.exitCode = 1;
}

async function main([name = "", ...args]: string[]): Promise<number> {
  const isHook = (word = "") => word === "pre-receive" || word === "reference-transaction";
  const [hook = "", phase] = isHook(args[0]) || !isHook(name) ? args : [name, ...args];
  if (phase === versionQuestion) {
    process.stdout.write(`${manifest.version}\n`);
    return 0;
  }
  if (hook === "pre-receive") return preReceive(readLines(true));
  if (hook === "reference-transaction")
    return phase === "prepared" ? referenceTransaction(readLines(false)) : 0;
  throw new Error(
    `it was called as ${words.join(" ")}, and is a hook named pre-receive or reference-transaction`,
  );
}

async function preReceive(changes: RefChange[]): Promise<number> {
  const folder = gitFolder();
  forget(folder);
  const settings = await settingsHere();
  const { refused, leases } = await judged(settings, changes, (all) => all);
  if (refused.length === 0) return 0;
  const now = systemClock.read().wall;
  const reason = askedReason(process.env);
  if (reason === null) return refuse(refusalLines(refused, leases, now));
  const who = pusher(process.env);
  if (!settings.allow.some((name) => name === "*" || name === who))
    return refuse([...refusalLines(refused, leases, now), `${who} is not among fencepost.allow.`]);
  if (reason === "") return refuse(['The escape needs a reason: git push -o fencepost-allow="REASON" …']);
  const allowed = refused.map((each) => each.change);
  const when = new Date(now).toISOString();
  const log = recordAllowed(folder, { when, who, reason, changes: allowed });
  handOver(folder, allowed, now);
  tell([
    `${allowed.map((each) => each.ref).join(", ")}: allowed to ${who}, and recorded in ${basename(log)}.`,
  ]);
  return 0;
}

async function referenceTransaction(changes: RefChange[]): Promise<number> {
  const settings = await settingsHere();
  const { refused, leases } = await judged(settings, changes, real);
  if (refused.length === 0) return 0;
  const allowed = takeAllowed(
    gitFolder(),
    refused.map((each) => each.change),
  );
  const left = refused.filter((each) => !allowed.has(line(each.change)));
  if (left.length === 0) return 0;
  return refuse(refusalLines(left, leases, systemClock.read().wall));
}

type Sift = (changes: readonly RefChange[], tips: ReadonlyMap<string, Oid>) => readonly RefChange[];

async function judged(settings: Settings, given: readonly RefChange[], sift: Sift): Promise<Judged> {
  const { prefix, ruleOf } = settings;
  const ours = given.filter((change) => concerns({ prefix, ruleOf }, change.ref));
  if (ours.length === 0) return { refused: [], leases: new Map() };
  const { refs, oids } = toRead({ changes: ours, prefix, ruleOf });
  const tips = new Map<string, Oid>();
  const commits = new Map<Oid, Commit>();
  await read(refs, oids, tips, commits);
  const asked = { changes: sift(ours, tips), prefix, ruleOf, tips, commits };
  await read(toReadThen(asked), [], tips, commits);
  const refused = judge(asked);
  const leases = new Map<string, SeenLease | null>();
  for (const { lease } of refused) if (lease !== undefined) leases.set(lease, leaseNow(lease));
  return { refused, leases };

  function leaseNow(lease: string): SeenLease | null {
    const ref = refOf(prefix, leaseRecordName(lease));
    try {
      return readLease(record({ prefix, commits }, ref, tips.get(ref) ?? null));
    } catch (error) {
      if (error instanceof RecordInvalid) return null;
      throw error;
    }
  }
}

type Commit = Pick<Versioned, "parents" | "message" | "writtenAt">;

/** Adds the tips of these refs, and the commits there and at these oids. */
async function read(
  refs: readonly string[],
  oids: readonly Oid[],
  tips: Map<string, Oid>,
  commits: Map<Oid, Commit>,
): Promise<void> {
  for (const [i, object] of (await objectsHere([...refs, ...oids])).entries()) {
    if (object === null) continue;
    const { oid, type, text } = object;
    const ref = refs[i];
    if (ref !== undefined) tips.set(ref, oid);
    if (type !== "commit") continue;
    const { parents, message, committedAt } = parseCommit(oid, text);
    commits.set(oid, { parents, message, writtenAt: committedAt });
  }
}

/** Without what `git pack-refs` and `verify` show the hook, and what changes nothing. */
function real(changes: readonly RefChange[], tips: ReadonlyMap<string, Oid>): RefChange[] {
  const folder = gitFolder();
  const there = (change: RefChange) => change.from === undefined && tips.get(change.ref) === change.to;
  const remains = removing(folder);
  if (!changes.some((change) => there(change) || (change.to === null && !remains))) return [...changes];
  const packed = packedRefs(folder);
  return changes.filter((change) => {
    const { ref, from, to } = change;
    if (to === null) return remains || !packed.has(`${from} ${ref}`);
    // For a ref that is absent git may answer with something else, such as the commit that `v1-g0123456` names.
    return !(there(change) && (isLoose(folder, ref) || packed.has(`${to} ${ref}`)));
  });
}

/** The lines `<old> <new> <ref>` on standard input. `stated`: zeros for the old value mean that the ref must be absent. */
function readLines(stated: boolean): RefChange[] {
  const changes: RefChange[] = [];
  for (const text of readFileSync(0, "utf8").split("\n")) {
    if (text === "") continue;
    // A ref may have anything in its name that is no ASCII space, so also what JavaScript takes for the end of a line.
    const [, old = "", next = "", ref = ""] = /^(\S+) (\S+) (.+)$/s.exec(text) ?? [];
    if (ref === "") throw new Error(`git said ${JSON.stringify(text)}, which is no change of a ref`);
    // HEAD and its like are names for other refs, which have lines of their own.
    if (!ref.startsWith("refs/")) continue;
    const none = /^0+$/;
    const from = none.test(old) ? (stated ? { from: null } : {}) : { from: old };
    changes.push({ ref, ...from, to: none.test(next) ? null : next });
  }
  return changes;
}

function refuse(lines: readonly string[]): number {
  tell(lines);
  return 1;
}

function tell(lines: readonly string[]): void {
  process.stderr.write(lines.map((text) => `fencepost: ${oneLine(text)}\n`).join(""));
}
