// `fencepost push`: a fenced push under a lease that is held already, for instance from inside `fencepost run`.
import type { Command as Commander } from "commander";
import { systemClock } from "../clock.js";
import { draftFence, type Fence, leaseFence } from "../gate/fence.js";
import { regenerating } from "../gate/regenerate.js";
import { readOne } from "../lease/lease.js";
import { checkWitness, type Ownership } from "../protocol/lease.js";
import { branchRef, leaseName } from "../protocol/names.js";
import { exit, UsageError } from "./exit.js";
import { Interrupt } from "./interrupt.js";
import { json, type PushOptions, placed, pushing, wholeNumber } from "./options.js";
import { findPlace, type Place, type PlaceOptions } from "./place.js";
import {
  commitOf,
  namedRefs,
  type Publication,
  publish,
  pushJson,
  report,
  requireClone,
  resolveRefs,
  tell,
} from "./publish.js";
import { voice } from "./speak.js";

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
    .argument("<branch>", "the branch to publish on, in the repository of the lease")
    .argument("[command...]", "for --on-moved regenerate: the command that makes the commits again")
    .option("--lease <name>", "the lease (default: FENCEPOST_LEASE)")
    .option(
      "--token <n>",
      "the token under which it is held (default: FENCEPOST_TOKEN)",
      wholeNumber("--token", 1, Number.MAX_SAFE_INTEGER),
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
  const { FENCEPOST_STORE } = process.env;
  if (options.onMoved === "regenerate" && words.length === 0)
    throw new UsageError("--on-moved regenerate needs the command that makes the commits again, after --.");
  const replaces = options.replace === undefined ? undefined : replacedOid(options.replace);
  const store = options.store ?? FENCEPOST_STORE;
  const place = await findPlace({ ...options, ...(store === undefined ? {} : { store }) });
  const say = voice(systemClock);
  const interrupt = new Interrupt();
  try {
    const branch = branchRef(branchName, place.prefix);
    const named = namedRefs(options, place.prefix);
    requireClone(place);
    const head = await commitOf(place.folder, options.head);
    const fences = await fencesOf(place, options);
    const publication: Publication = {
      fences,
      branch,
      head,
      further: await resolveRefs(place.folder, named),
      replaces,
      attempts: options.attempts,
      onMoved: regenerating(options.onMoved, words, process.env, options.json),
      interrupt: interrupt.signal,
    };
    const result = await publish(place, publication, say);
    const told = report(result, publication, place);
    tell(result, told.text, say);
    const [{ token }] = fences;
    const held = Object.fromEntries(fences.map((f) => [f.record.slice(0, f.record.indexOf("/")), f.name]));
    if (options.json) process.stdout.write(`${JSON.stringify({ ...held, token, ...pushJson(result) })}\n`);
    return told.code;
  } finally {
    interrupt.dispose();
    await place.ports.store.close();
  }
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
