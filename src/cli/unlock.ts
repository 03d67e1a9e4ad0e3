// `fencepost unlock`: frees a lease by force, for people. The token advances, so the old holder is fenced off.
import type { Command as Commander } from "commander";
import { systemClock } from "../clock.js";
import { unlockDraftOnStore } from "../draft/claim.js";
import { describeDraft } from "../draft/describe.js";
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
  draft: boolean;
  json: boolean;
}

export function unlockCommand(finish: (code: number) => void): Commander {
  return placed("unlock")
    .description("free a lease or a draft by force; what its holder pushes afterwards is refused")
    .argument("<name>", "the lease, or with --draft the path of a draft")
    .option("--draft", "free a draft: it is pending at once, and its attempt counts as lost", false)
    .requiredOption(
      "--token <n>",
      "the token that `fencepost status` shows, or for a draft `fencepost drafts`",
      wholeNumber("--token", 1, Number.MAX_SAFE_INTEGER),
    )
    .requiredOption("--reason <text>", "why, for the audit trail")
    .addOption(json().default(false))
    .action(async (name: string, options: Options) =>
      finish(
        await (options.draft
          ? unlockDraft(name.replace(/^\.\//, ""), options)
          : unlock(leaseName(name), options)),
      ),
    );
}

function reasonOf(options: Options): string {
  const reason = oneLine(options.reason).slice(0, 300);
  if (reason !== "") return reason;
  throw new UsageError('--reason is empty. Say why, for the audit trail: --reason "runner was lost"');
}

async function unlockDraft(draft: string, options: Options): Promise<number> {
  const reason = reasonOf(options);
  const place = await findPlace(options);
  const say = voice(systemClock);
  const name = JSON.stringify(draft);
  try {
    const { token } = options;
    const result = await unlockDraftOnStore(place.ports, { draft, token, by: person(place), reason });
    const now = systemClock.read().wall;
    const outcome = result.outcome === "unlocked" ? "pending" : "refused";
    if (options.json) process.stdout.write(`${JSON.stringify({ draft, outcome, why: result.outcome })}\n`);
    switch (result.outcome) {
      case "unlocked":
        say.good(
          `unlocked the draft ${name}: it is pending again. It was ${describeDraft(result.was, now)}; whatever that run still pushes is refused.`,
        );
        return exit.ok;
      case "unknown":
        throw new ConfigurationError(
          `The draft ${name} was never claimed in ${place.remote.label}. \`fencepost drafts\` lists those that were.`,
        );
      default:
        say.bad(
          `refused: token ${token} does not hold the draft ${name}. It is ${describeDraft(result.seen, now)}, and its token is ${result.seen.record.token}.`,
        );
        return exit.refused;
    }
  } finally {
    await place.ports.store.close();
  }
}

async function unlock(lease: string, options: Options): Promise<number> {
  const reason = reasonOf(options);
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
