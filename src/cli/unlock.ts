// `fencepost unlock`: frees a lease by force, for people. The token advances, so the old holder is fenced off.
import type { Command as Commander } from "commander";
import { systemClock } from "../clock.js";
import { describeHolding } from "../lease/describe.js";
import { unlockLease } from "../lease/lease.js";
import { oneLine } from "../protocol/claim.js";
import { leaseName } from "../protocol/names.js";
import { ConfigurationError, exit, UsageError } from "./exit.js";
import { json, placed, wholeNumber } from "./options.js";
import { person } from "./person.js";
import { findPlace, type PlaceOptions } from "./place.js";
import { voice } from "./speak.js";

interface Options extends PlaceOptions {
  token: number;
  reason: string;
  json: boolean;
}

export function unlockCommand(finish: (code: number) => void): Commander {
  return placed("unlock")
    .description("free a lease by force; what its holder pushes afterwards is refused")
    .argument("<name>", "the lease")
    .requiredOption(
      "--token <n>",
      "the token that `fencepost status` shows",
      wholeNumber("--token", 1, Number.MAX_SAFE_INTEGER),
    )
    .requiredOption("--reason <text>", "why, for the audit trail")
    .addOption(json().default(false))
    .action(async (name: string, options: Options) => finish(await unlock(leaseName(name), options)));
}

async function unlock(lease: string, options: Options): Promise<number> {
  const reason = oneLine(options.reason).slice(0, 300);
  if (reason === "")
    throw new UsageError('--reason is empty. Say why, for the audit trail: --reason "runner was lost"');
  const place = await findPlace(options);
  const say = voice(systemClock);
  try {
    const result = await unlockLease(place.ports, { lease, token: options.token, by: person(place), reason });
    const now = systemClock.read().wall;
    if (options.json)
      process.stdout.write(
        `${JSON.stringify({ lease, outcome: result.outcome === "unlocked" ? "released" : "refused", why: result.outcome, ...("token" in result ? { token: result.token } : {}) })}\n`,
      );
    switch (result.outcome) {
      case "unlocked":
        say.good(
          `unlocked ${JSON.stringify(lease)}: its token is now ${result.token}. It was held by ${describeHolding(result.was, now)}; whatever that run still pushes is refused.`,
        );
        return exit.ok;
      case "absent":
        throw new ConfigurationError(
          `${JSON.stringify(lease)} was never acquired in ${place.remote.label}. \`fencepost status\` lists the leases there.`,
        );
      case "free":
        say.bad(
          `refused: ${JSON.stringify(lease)} is not held, so there is nothing to unlock (token ${result.seen.record.token}).`,
        );
        return exit.refused;
      case "moved-on":
        say.bad(
          `refused: ${JSON.stringify(lease)} has moved on to token ${result.seen.record.token}, so token ${options.token} holds nothing any more. Now: ${describeHolding(result.seen, now)}. Look at \`fencepost status\` again.`,
        );
        return exit.refused;
    }
  } finally {
    await place.ports.store.close();
  }
}
