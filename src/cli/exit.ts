// Exit codes, and what each failure says to a person.
import { CommanderError } from "commander";
import { GlobsInvalid } from "../draft/glob.js";
import { GitFailed, GitMissing, redact } from "../git/program.js";
import { RemoteUnknown } from "../git/remote.js";
import { DurationInvalid } from "../protocol/duration.js";
import { TokenRegressed } from "../protocol/lease.js";
import { NameInvalid } from "../protocol/names.js";
import { PredicateInvalid } from "../protocol/predicate.js";
import { RecordInvalid } from "../protocol/record.js";
import { ScheduleInvalid } from "../protocol/schedule.js";
import { TimezoneInvalid } from "../protocol/zone.js";
import { StoreMisconfigured, StoreRefused, StoreUnavailable } from "../store/store.js";

/** After sysexits(3), where it has a word for it. */
export const exit = {
  ok: 0,
  /** Nothing came out of what was to make something, or a check found something. */
  failed: 1,
  usage: 64,
  unavailable: 69,
  moved: 73,
  skipped_overlap: 75,
  superseded: 76,
  lost: 76,
  refused: 77,
  configuration: 78,
} as const;

/** Options that cannot be used together, or a value that cannot be read. */
export class UsageError extends Error {
  override name = "UsageError";
}

/** The place or set-up that a command needs is not there. */
export class ConfigurationError extends Error {
  override name = "ConfigurationError";
}

export interface Failure {
  code: number;
  /** The outcome word for `--json`. */
  outcome: "usage" | "unavailable" | "refused" | "configuration" | "internal";
  message: string;
}

export function explain(error: unknown): Failure {
  const message = redact(error instanceof Error ? error.message : String(error));
  if (error instanceof CommanderError) return { code: exit.usage, outcome: "usage", message };
  const misused = [
    UsageError,
    NameInvalid,
    DurationInvalid,
    PredicateInvalid,
    ScheduleInvalid,
    TimezoneInvalid,
    GlobsInvalid,
  ];
  if (misused.some((kind) => error instanceof kind)) return { code: exit.usage, outcome: "usage", message };
  if (error instanceof StoreUnavailable) return { code: exit.unavailable, outcome: "unavailable", message };
  if (error instanceof StoreRefused) return { code: exit.refused, outcome: "refused", message };
  const misconfigured = [
    ConfigurationError,
    RemoteUnknown,
    StoreMisconfigured,
    RecordInvalid,
    TokenRegressed,
    GitMissing,
  ];
  if (misconfigured.some((kind) => error instanceof kind))
    return { code: exit.configuration, outcome: "configuration", message };
  if (error instanceof GitFailed) return { code: exit.unavailable, outcome: "unavailable", message };
  const stack = error instanceof Error && error.stack ? redact(error.stack) : message;
  return {
    code: 70,
    outcome: "internal",
    message: `This is a fault of Fencepost itself, please report it: ${stack}`,
  };
}
