// Options that several commands share, read strictly and once.
import { Command, Option } from "commander";
import { type DurationRange, formatDuration, parseDuration } from "../protocol/duration.js";
import { defaultPrefix } from "../protocol/names.js";
import { UsageError } from "./exit.js";

/** TTLs from 2 s (heartbeats every 0.7 s) to a week, in milliseconds. */
export const ttlRange = { least: 2000, most: 7 * 86_400_000 };
export const waitRange = { least: 0, most: 7 * 86_400_000 };

export const parseWait = (given: string) => parseDuration("--wait", given, waitRange);
export const parseSkew = (given: string) => parseDuration("--skew", given, waitRange);

/** An option that takes a duration; its default reads as people write it. */
export function durationOption(name: string, text: string, range: DurationRange, usual: number): Option {
  return new Option(`${name} <duration>`, text)
    .argParser((given) => parseDuration(name, given, range))
    .default(usual, formatDuration(usual));
}

export const ttlOption = (text: string) => durationOption("--ttl", text, ttlRange, 900_000);

/** A command with the options that say where the leases are. */
export function placed(name: string): Command {
  return new Command(name)
    .option(
      "--store <where>",
      "where the leases live: a remote of this clone, a URL, or a path (default: origin)",
    )
    .addOption(refPrefixOption())
    .option("-C, --directory <folder>", "work as if started there", process.cwd());
}

function refPrefixOption(): Option {
  return new Option("--ref-prefix <prefix>", "branches that hold the records begin with this")
    .default(defaultPrefix)
    .env("FENCEPOST_REF_PREFIX");
}

export const json = () =>
  new Option("--json", "print one JSON object on standard output, and nothing else there");

export interface PushOptions {
  onMoved: "rebase" | "regenerate" | "fail";
  tag: string[];
  ref: string[];
  attempts: number;
}

/** Options of everything that pushes behind the fence. */
export function pushing(command: Command): Command {
  const many = (value: string, before: string[]) => [...before, value];
  return command
    .addOption(
      new Option(
        "--on-moved <how>",
        "when the branch moved meanwhile: rebase, regenerate (run COMMAND on the new tip), or fail",
      )
        .choices(["rebase", "regenerate", "fail"])
        .default("rebase"),
    )
    .option("--tag <name>", "push this tag in the same transaction (repeatable)", many, [] as string[])
    .option(
      "--ref <src:dst>",
      "push a further ref in the same transaction, as SRC:refs/… (repeatable)",
      many,
      [] as string[],
    )
    .option(
      "--attempts <n>",
      "rounds at the most, when the branch keeps moving",
      wholeNumber("--attempts", 1, 20),
      5,
    );
}

export function wholeNumber(option: string, least: number, most: number): (given: string) => number {
  return (given) => {
    const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new UsageError(
      `${option}: ${JSON.stringify(given.slice(0, 40))} is not a whole number from ${least} to ${most}.`,
    );
  };
}
