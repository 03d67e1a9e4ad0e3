// `fencepost run`: a command under a lease, and what it made pushed behind the fence.
import { constants } from "node:os";
import type { Command as Commander } from "commander";
import { type Clock, systemClock } from "../clock.js";
import { keepCommits, type PushResult } from "../gate/push.js";
import { regenerating } from "../gate/regenerate.js";
import { describeRescue, type Rescue } from "../gate/rescue.js";
import { privateRepository, remoteTips } from "../git/private.js";
import { describeHolding } from "../lease/describe.js";
import type { LostBeat } from "../lease/heartbeat.js";
import { claimOf } from "../lease/identity.js";
import { type Acquired, type AcquireResult, acquireLease, succeedLease } from "../lease/lease.js";
import { describeClaim } from "../protocol/claim.js";
import { formatDuration } from "../protocol/duration.js";
import { defaultSkew, type Holding } from "../protocol/lease.js";
import { branchRef, leaseName } from "../protocol/names.js";
import { type Command, startCommand } from "./command.js";
import { ConfigurationError, exit, explain, UsageError } from "./exit.js";
import { type Pulse, startPulse } from "./heartbeat.js";
import { Interrupt } from "./interrupt.js";
import { json, type PushOptions, parseSkew, parseTtl, parseWait, placed, pushing } from "./options.js";
import { findPlace, type Place, type PlaceOptions } from "./place.js";
import {
  commitOf,
  namedRefs,
  type Publication,
  publish,
  pushJson,
  report,
  requestOf,
  requireClone,
  resolveRefs,
} from "./publish.js";
import { type Voice, voice } from "./speak.js";

interface RunOptions extends PlaceOptions, PushOptions {
  lease: string;
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
    .requiredOption("--lease <name>", "the lease: one per thing that must not be written twice at once")
    .option("--ttl <duration>", "how long the lease lasts without renewal", parseTtl, 900_000)
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
    .option(
      "--push <branch>",
      "when the command succeeds, push HEAD to this branch of the store's repository",
    )
    .option("--replace", "replace the branch, if it is still where it was when the lease was acquired", false)
    .option("--no-heartbeat", "do not renew; the command has two thirds of the TTL")
    .addOption(json().default(false));
  pushing(command).action(async (words: string[], options: RunOptions) => finish(await run(words, options)));
  return command.addHelpText(
    "after",
    `
COMMAND runs in a process group of its own with FENCEPOST_LEASE, FENCEPOST_TOKEN, FENCEPOST_CLAIM and FENCEPOST_STORE.
When the lease is lost, the group gets SIGTERM, ten seconds, and SIGKILL. Signals sent to fencepost reach it.

Exit codes: the command's own; 64 usage, 69 store unavailable, 73 the branch moved, 75 skipped_overlap,
76 superseded or lost, 77 refused, 78 configuration.

Example: fencepost run --lease blog-main --ttl 15m --push main -- ./publish.sh`,
  );
}

/** What a run ends with: its exit code and the object for `--json`. */
interface Ending {
  code: number;
  body: { outcome: string; [field: string]: unknown };
}

async function run(words: string[], options: RunOptions): Promise<number> {
  const lease = leaseName(options.lease);
  const say = voice(systemClock);
  const place = await findPlace(options);
  const interrupt = new Interrupt();
  try {
    // Everything that can be wrong with the input is found before anything is written.
    const branch = options.push === undefined ? undefined : branchRef(options.push, place.prefix);
    const further = namedRefs(options, place.prefix);
    if (branch !== undefined) requireClone(place);
    if (branch === undefined && (options.replace || further.length > 0))
      throw new UsageError("--replace, --tag and --ref go with --push BRANCH. Add it, or leave them out.");
    const acquired = await take(place, lease, options, say, interrupt);
    const ending =
      acquired.outcome === "acquired"
        ? await work(words, options, place, acquired, branch, say, interrupt)
        : skipped(acquired, say);
    if (options.json) process.stdout.write(`${JSON.stringify({ lease, ...ending.body })}\n`);
    return ending.code;
  } catch (error) {
    if (interrupt.name === undefined) throw error;
    return 128 + constants.signals[interrupt.name];
  } finally {
    interrupt.dispose();
    await place.ports.store.close();
  }
}

async function take(
  place: Place,
  lease: string,
  options: RunOptions,
  say: Voice,
  interrupt: Interrupt,
): Promise<AcquireResult> {
  const { ttl, wait } = options;
  const result = await acquireLease(place.ports, {
    lease,
    claim: claimOf(process.env, place.ports.chance),
    ttl,
    skew: options.skew ?? defaultSkew(ttl),
    wait,
    signal: interrupt.signal,
    onHeld: (held, waited) =>
      say.say(
        `waiting for ${JSON.stringify(lease)} for ${formatDuration(waited)} of ${formatDuration(wait)}: held by ${describeHolding(held.seen, held.now)}`,
      ),
  });
  if (result.outcome === "acquired") {
    const why = {
      new: "it was never held before",
      released: "it was free",
      expired: "it had expired",
      finished: "its holder had finished",
      retried: "its holder was an earlier attempt of this run",
    };
    say.good(
      `acquired ${JSON.stringify(lease)} with token ${result.holding.token} for ${formatDuration(ttl)} (${why[result.reason]})`,
    );
  }
  return result;
}

function skipped(result: Extract<AcquireResult, { outcome: "skipped_overlap" }>, say: Voice): Ending {
  const { record } = result.seen;
  const waited = result.waitedFor >= 1000 ? ` after waiting ${formatDuration(result.waitedFor)}` : "";
  say.warn(
    `skipped_overlap${waited}: ${JSON.stringify(record.name)} is held by ${describeHolding(result.seen, result.now)}. The command was not run.`,
  );
  const expires = new Date(result.expiresAt).toISOString();
  const body = {
    outcome: "skipped_overlap",
    token: record.token,
    holder: record.holder,
    since: record.since,
    expiresAt: expires,
  };
  return { code: exit.skipped_overlap, body };
}

async function work(
  words: string[],
  options: RunOptions,
  place: Place,
  { holding, sentAt }: Acquired,
  branch: string | undefined,
  say: Voice,
  interrupt: Interrupt,
): Promise<Ending> {
  const { clock } = place.ports;
  const { lease, token, claim } = holding;
  const pulse = startPulse({
    remote: place.remote,
    prefix: place.prefix,
    objectFormat: place.clone?.objectFormat,
    holding,
    sentAt,
    clock,
    renew: options.heartbeat,
    warn: (text) => say.warn(text),
  });
  let ending: Ending | undefined;
  let pushed: Holding | undefined;
  try {
    const start =
      branch === undefined ? undefined : await commitOf(place.folder, "HEAD").catch(() => undefined);
    const replaces = branch !== undefined && options.replace ? await tipOf(place, branch) : undefined;
    const env = {
      ...process.env,
      FENCEPOST_LEASE: lease,
      FENCEPOST_TOKEN: String(token),
      FENCEPOST_CLAIM: claim.id,
      FENCEPOST_REF_PREFIX: place.prefix,
      ...(options.store === undefined ? {} : { FENCEPOST_STORE: options.store }),
    };
    const command = startCommand({
      command: words,
      cwd: place.folder,
      env,
      outputAside: options.json,
      clock,
      complain: (text) => say.bad(text),
    });
    interrupt.forward = (name) => command.signal(name);
    const code = await outlive(command, pulse, clock);
    interrupt.forward = undefined;
    if (typeof code !== "number") {
      say.bad(`lost: ${code.detail}; ending the command`);
      await command.end();
      ending = await loss(code, place, lease, token, claim.id, branch, start, say);
      return ending;
    }
    const base = { token, holder: claim, commandExit: code };
    if (interrupt.name !== undefined) {
      say.warn(`${interrupt.name} was received: the command ended with exit code ${code}, nothing is pushed`);
      ending = {
        code: 128 + constants.signals[interrupt.name],
        body: { outcome: "acquired", ...base, signal: interrupt.name },
      };
    } else if (code !== 0) {
      say.bad(
        `the command failed with exit code ${code}${branch === undefined ? "" : "; nothing is pushed"}`,
      );
      ending = { code, body: { outcome: "acquired", ...base } };
    } else if (branch === undefined) {
      ending = { code: exit.ok, body: { outcome: "acquired", ...base } };
    } else {
      const publication: Publication = {
        lease,
        owner: { token, claim },
        branch,
        head: await commitOf(place.folder, "HEAD"),
        further: await resolveRefs(place.folder, namedRefs(options, place.prefix)),
        replaces,
        attempts: options.attempts,
        onMoved: regenerating(options.onMoved, words, env, options.json),
      };
      const result = await publish(place, publication, say);
      if (result.outcome === "pushed") pushed = result.holding;
      const told = report(result, publication, place);
      tell(result, told.text, say);
      ending = { code: told.code, body: { ...base, ...pushJson(result) } };
    }
    return ending;
  } finally {
    await pulse.stop();
    if (ending?.body.outcome !== "superseded") await release(place, newest(pulse.holding(), pushed), say);
  }
}

/** The command's exit code, or the beat by which the lease was lost before the command ended. */
async function outlive(command: Command, pulse: Pulse, clock: Clock): Promise<number | LostBeat> {
  const first = await Promise.race([command.done, pulse.lost]);
  if (typeof first === "number") return first;
  // After a pause both are true at once. Then the fence decides about the finished work, not our doubt.
  const late = await Promise.race([command.done, clock.sleep(50).then(() => undefined)]);
  return late ?? first;
}

/** The lease is lost. The command has ended; what it committed is kept for people. */
async function loss(
  beat: LostBeat,
  place: Place,
  lease: string,
  token: number,
  claim: string,
  branch: string | undefined,
  start: string | undefined,
  say: Voice,
): Promise<Ending> {
  const outcome = beat.why === "doubt" ? "lost" : "superseded";
  let kept: Rescue | undefined;
  const head = branch === undefined ? undefined : await commitOf(place.folder, "HEAD").catch(() => undefined);
  if (branch !== undefined && head !== undefined && head !== start) {
    const owner = { token, claim: { id: claim } };
    const publication: Publication = {
      lease,
      owner,
      branch,
      head,
      further: [],
      attempts: 1,
      onMoved: { how: "fail" },
    };
    kept = await keepCommits(requestOf(place, publication, say), start ?? null);
  }
  const nothing = branch === undefined ? "" : " Nothing was pushed.";
  say.bad(
    `${outcome}: ${beat.detail}. The command was ended.${nothing}${kept ? ` ${describeRescue(kept)}` : ""}`,
  );
  return {
    code: exit[outcome],
    body: { outcome, why: beat.detail, token, ...(kept ? { rescue: kept } : {}) },
  };
}

/** The branch as it is now that we hold the lease: what a replacement replaces. */
async function tipOf(place: Place, branch: string): Promise<string | null> {
  const repository = await privateRepository(place.remote, place.clone);
  try {
    const seen = await remoteTips(repository, [branch]);
    if ("tips" in seen) return seen.tips.get(branch) ?? null;
    throw new ConfigurationError(`The branch to replace could not be read: ${seen.failed.stderr.trim()}`);
  } finally {
    await repository.remove();
  }
}

/** Which of two holdings was written later; guessing wrong costs one read. */
function newest(renewed: Holding, pushed: Holding | undefined): Holding {
  return pushed && pushed.record.depth > renewed.record.depth ? pushed : renewed;
}

async function release(place: Place, holding: Holding, say: Voice): Promise<void> {
  const { lease, token } = holding;
  try {
    const result = await succeedLease(place.ports, holding, "released", {
      signal: AbortSignal.timeout(60_000),
    });
    if (result.outcome === "written") say.say(`released ${JSON.stringify(lease)} (token ${token})`);
    else
      say.warn(
        `${JSON.stringify(lease)} was not released, since token ${token} no longer holds it${result.seen ? `: ${describeClaim(result.seen.record.holder)} does` : ""}`,
      );
  } catch (error) {
    say.warn(
      `${JSON.stringify(lease)} could not be released (${explain(error).message}); it ends by itself after ${formatDuration(holding.record.ttl)}`,
    );
  }
}

export function tell(result: PushResult, text: string, say: Voice): void {
  if (result.outcome === "pushed") say.good(text);
  else if (result.outcome === "unchanged") say.say(text);
  else say.bad(text);
}
