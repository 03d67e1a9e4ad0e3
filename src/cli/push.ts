// `fencepost push`: a fenced push under a lease that is held already, for instance from inside `fencepost run`.
import type { Command as Commander } from "commander";
import { systemClock } from "../clock.js";
import { draftFence, type Fence, leaseFence } from "../gate/fence.js";
import { acceptedIn, destinationFences, heldHere, sealAll } from "../gate/foreign.js";
import { keepCommits } from "../gate/push.js";
import { regenerating } from "../gate/regenerate.js";
import { describeRescue } from "../gate/rescue.js";
import { type Ports, readOne } from "../lease/lease.js";
import { limit } from "../limit.js";
import { type DraftHolding, defaultMaxAttempts } from "../protocol/draft.js";
import { checkWitness, type Ownership } from "../protocol/lease.js";
import { branchRef, leaseName } from "../protocol/names.js";
import { defaultBackoff } from "../protocol/settle.js";
import { settleDraftOf } from "./draft.js";
import { exit, UsageError } from "./exit.js";
import { Interrupt } from "./interrupt.js";
import { json, type PushOptions, placed, pushing, wholeNumber } from "./options.js";
import { closePlace, findPlace, type Place, type PlaceOptions } from "./place.js";
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
  tell,
} from "./publish.js";
import { type Voice, voice } from "./speak.js";

interface Options extends PlaceOptions, PushOptions {
  lease?: string;
  token?: number;
  head: string;
  replace?: string;
  json: boolean;
}

export function pushCommand(finish: (code: number) => void): Commander {
  const command = placed("push")
    .description("push behind the fence, under a lease that is held already")
    .usage("BRANCH [options] [-- COMMAND…]")
    .argument("<branch>", "the branch to publish on")
    .argument("[command...]", "for --on-moved regenerate: the command that makes the commits again")
    .option("--lease <name>", "the lease (default: FENCEPOST_LEASE)")
    .option(
      "--token <n>",
      "the token under which it is held (default: FENCEPOST_TOKEN)",
      wholeNumber("--token", 1, Number.MAX_SAFE_INTEGER),
    )
    .option(
      "--remote <where>",
      "push to this repository: a remote, a URL, or a path (default: FENCEPOST_REMOTE, or the store's)",
    )
    .option("--head <revision>", "the commit to publish", "HEAD")
    .option(
      "--replace <oid>",
      'replace the branch if it is still at this full oid ("none": if it does not exist)',
    )
    .addOption(json().default(false));
  return pushing(command).action(async (branch: string, words: string[], options: Options) =>
    finish(await push(branch, words, options)),
  );
}

async function push(branchName: string, words: string[], options: Options): Promise<number> {
  const { FENCEPOST_STORE, FENCEPOST_REMOTE } = process.env;
  if (options.onMoved === "regenerate" && words.length === 0)
    throw new UsageError("--on-moved regenerate needs the command that makes the commits again, after --.");
  const replaces = options.replace === undefined ? undefined : replacedOid(options.replace);
  const store = options.store ?? FENCEPOST_STORE;
  const remote = options.remote ?? FENCEPOST_REMOTE;
  const where = { ...(store === undefined ? {} : { store }), ...(remote === undefined ? {} : { remote }) };
  const place = await findPlace({ ...options, ...where });
  const say = voice(systemClock);
  const interrupt = new Interrupt();
  try {
    const branch = branchRef(branchName, place.prefix);
    const named = namedRefs(options, place.prefix);
    requireClone(place);
    const head = await commitOf(place.folder, options.head);
    const further = await resolveRefs(place.folder, named);
    const own = await fencesOf(place, options);
    const { destination } = place;
    const reached = destination && (await reach(place, destination.ports, own, interrupt.signal));
    const publication: Publication = {
      fences: reached && "held" in reached ? destinationFences(reached.held, place.ports.chance) : own,
      branch,
      head,
      further,
      replaces,
      attempts: options.attempts,
      onMoved: regenerating(options.onMoved, words, process.env, options.json),
      interrupt: interrupt.signal,
    };
    if (reached && "code" in reached) {
      const { outcome, why, code } = reached;
      const rescue =
        outcome === "superseded" ? await keepCommits(requestOf(place, publication, say), null) : undefined;
      const kept = rescue ? ` ${describeRescue(rescue)}` : "";
      if (outcome === "unchanged") say.warn(`unchanged: ${why}. Nothing was pushed.`);
      else say.bad(`superseded: ${why} Nothing was pushed.${kept}`);
      const told = { token: own[0].token, outcome, why, ...(rescue ? { rescue } : {}) };
      if (options.json) process.stdout.write(`${JSON.stringify(told)}\n`);
      return code;
    }
    const result = await publish(place, publication, say);
    const told = report(result, publication, place);
    tell(result, told.text, say);
    if (reached?.draft && result.outcome === "pushed")
      await notePublished(place, reached.draft, acceptedIn(result.written), say);
    const [{ token }] = own;
    const held = Object.fromEntries(own.map((f) => [f.record.slice(0, f.record.indexOf("/")), f.name]));
    if (options.json) process.stdout.write(`${JSON.stringify({ ...held, token, ...pushJson(result) })}\n`);
    return told.code;
  } finally {
    interrupt.dispose();
    await closePlace(place);
  }
}

/** What is held, sealed at another repository; or why nothing is to be pushed there. */
async function reach(place: Place, ports: Ports, own: readonly Fence[], interrupt: AbortSignal) {
  const signal = limit(60_000, interrupt);
  const held = await heldHere(place.ports.store, own, { signal });
  if ("why" in held) return { outcome: "superseded", code: exit.superseded, why: held.why } as const;
  const stopped = await sealAll(ports, held.held, { signal });
  if (stopped === null) return held;
  if (stopped.outcome === "superseded")
    return { outcome: "superseded", code: exit.superseded, why: `${stopped.why}.` } as const;
  if (held.draft) await notePublished(place, held.draft, stopped.published, voice(systemClock));
  const why = `the destination has this content of the draft already, from token ${stopped.seen.record.accepted?.token}`;
  return { outcome: "unchanged", code: exit.ok, why } as const;
}

/** The draft's own repository is another one than the push's, so that its record takes a write of its own. */
async function notePublished(
  place: Place,
  draft: DraftHolding,
  published: Record<string, string>,
  say: Voice,
) {
  const rules = { maxAttempts: defaultMaxAttempts, backoff: defaultBackoff };
  await settleDraftOf(place, draft, { result: "published", published }, rules, say);
}

/** What holds here: the lease of the options or the environment, and the draft that a run above works on. */
async function fencesOf(place: Place, options: Options): Promise<[Fence, ...Fence[]]> {
  const { FENCEPOST_LEASE, FENCEPOST_TOKEN, FENCEPOST_CLAIM } = process.env;
  const { FENCEPOST_DRAFT, FENCEPOST_DRAFT_TOKEN } = process.env;
  const { chance } = place.ports;
  const drafts: Fence[] = [];
  if (FENCEPOST_DRAFT && FENCEPOST_DRAFT_TOKEN && FENCEPOST_CLAIM) {
    const token = wholeNumber("FENCEPOST_DRAFT_TOKEN", 1, Number.MAX_SAFE_INTEGER)(FENCEPOST_DRAFT_TOKEN);
    drafts.push(draftFence(FENCEPOST_DRAFT, { token, claim: { id: FENCEPOST_CLAIM } }, chance));
  }
  const [draft] = drafts;
  if (draft && options.lease === undefined && !FENCEPOST_LEASE) return [draft];
  const lease = leaseName(options.lease ?? FENCEPOST_LEASE ?? missing("--lease", "FENCEPOST_LEASE"));
  const given = FENCEPOST_TOKEN ?? "";
  const token =
    options.token ??
    wholeNumber(
      "FENCEPOST_TOKEN",
      1,
      Number.MAX_SAFE_INTEGER,
    )(given || missing("--token", "FENCEPOST_TOKEN"));
  const inherited =
    options.lease === undefined || options.lease === FENCEPOST_LEASE ? FENCEPOST_CLAIM : undefined;
  return [leaseFence(lease, await ownerOf(place, lease, token, inherited), chance), ...drafts];
}

/** The claim that holds under this token: handed down by the environment, or else read from the record itself. */
async function ownerOf(
  place: Place,
  lease: string,
  token: number,
  claim: string | undefined,
): Promise<Ownership> {
  if (claim) return { token, claim: { id: claim } };
  const seen = await readOne(place.ports.store, lease);
  checkWitness(lease, seen, token);
  // With another token in the record, the push itself finds out that this one is superseded.
  return { token, claim: { id: seen?.record.token === token ? seen.record.holder.id : "" } };
}

function replacedOid(given: string): string | null {
  if (given === "none") return null;
  if (/^[0-9a-f]{40}([0-9a-f]{24})?$/.test(given)) return given;
  throw new UsageError(
    `--replace: ${JSON.stringify(given.slice(0, 80))} is not a full commit id, nor "none".`,
  );
}

function missing(option: string, variable: string): never {
  throw new UsageError(
    `${option} is missing, and so is ${variable}. Give it, or push from inside \`fencepost run\` (exit code ${exit.usage}).`,
  );
}
