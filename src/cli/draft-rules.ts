// Options that say what a draft is: the convention, its zone, its due date, its attempts.
import type { Command } from "commander";
import { type FindOptions, type Found, findDrafts } from "../draft/find.js";
import { type PrivateRepository, privateRepository } from "../git/private.js";
import { type Convention, conventions, custom } from "../protocol/conventions/index.js";
import { defaultMaxAttempts } from "../protocol/draft.js";
import { quote } from "../protocol/names.js";
import { type Backoff, defaultBackoff } from "../protocol/settle.js";
import { checkTimezone } from "../protocol/zone.js";
import { UsageError } from "./exit.js";
import { durationOption, wholeNumber } from "./options.js";
import type { Place } from "./place.js";

export interface RuleOptions {
  convention?: string;
  predicate?: string;
  dueField?: string;
  timezone?: string;
  requireDue: boolean;
  maxAttempts: number;
  backoff: number;
}

const names = [...conventions.keys(), "custom"].join(", ");

/** Options of everything that reads what drafts say. */
export function ruled(command: Command): Command {
  return command
    .option("--convention <name>", `how a file says that it is not published yet: ${names}`)
    .option(
      "--predicate <text>",
      'for the convention custom: what a pending draft says, such as: status == "ready"',
    )
    .option("--due-field <field>", "for the convention custom: the field with the due date")
    .option("--timezone <zone>", "the zone of dates and times that name none, such as Asia/Tokyo")
    .option("--require-due", "a draft without a due date is not due", false)
    .option(
      "--max-attempts <n>",
      "attempts before a draft is dead",
      wholeNumber("--max-attempts", 1, 100),
      defaultMaxAttempts,
    )
    .addOption(
      durationOption(
        "--backoff",
        "how long a draft waits after its first failure; it doubles with each one, up to 6h",
        { least: 0, most: 6 * 3_600_000 },
        defaultBackoff.first,
      ),
    );
}

export interface Rules {
  convention: Convention;
  timezone: string | undefined;
  requireDue: boolean;
  maxAttempts: number;
  backoff: Backoff;
}

/** @throws UsageError, PredicateInvalid, TimezoneInvalid */
export function rulesOf(options: RuleOptions): Rules {
  if (options.timezone !== undefined) checkTimezone(options.timezone);
  return {
    convention: conventionOf(options),
    timezone: options.timezone,
    requireDue: options.requireDue,
    maxAttempts: options.maxAttempts,
    backoff: { ...defaultBackoff, first: options.backoff },
  };
}

function conventionOf({ convention, predicate, dueField }: RuleOptions): Convention {
  const asked = convention ?? (predicate === undefined ? undefined : "custom");
  if (asked === undefined)
    throw new UsageError(
      `--convention is missing: how does a file say that it is not published yet? One of: ${names}.`,
    );
  if (asked === "custom") {
    if (predicate === undefined)
      throw new UsageError(
        `--convention custom needs --predicate. A good one: --predicate 'status == "ready"'`,
      );
    return custom(predicate, dueField);
  }
  if (predicate !== undefined || dueField !== undefined)
    throw new UsageError(
      "--predicate and --due-field go with --convention custom. Leave them out, or name it.",
    );
  const found = conventions.get(asked);
  if (found) return found;
  throw new UsageError(`--convention: ${quote(asked)} is not known. One of: ${names}.`);
}

/** Looks at the branch's tip, again and again, from one private repository. */
export interface Finder {
  find(paths: FindOptions["paths"], youngerThan?: number | null): Promise<Found>;
  repository(): Promise<PrivateRepository>;
  close(): Promise<void>;
}

export function finder(place: Place, branch: string, rules: Rules, signal?: AbortSignal): Finder {
  let opened: Promise<PrivateRepository> | undefined;
  const repository = () => {
    // A partial clone would fetch each blob that it lacks by itself, one by one.
    const partial = place.clone?.config.some(([key]) => key === "extensions.partialclone");
    opened ??= privateRepository(place.remote, partial ? null : place.clone, place.clone?.objectFormat);
    return opened;
  };
  return {
    repository,
    find: async (paths, youngerThan = null) =>
      findDrafts(await repository(), {
        where: place.remote.label,
        branch,
        paths,
        convention: rules.convention,
        timezone: rules.timezone,
        youngerThan,
        now: place.ports.clock.read().wall,
        signal,
      }),
    async close() {
      await (await opened?.catch(() => undefined))?.remove();
    },
  };
}
