// `fencepost redrive`: takes a draft out of the dead letters, for people.
import type { Command as Commander } from "commander";
import { systemClock } from "../clock.js";
import { redriveOnStore } from "../draft/claim.js";
import { describeDraft } from "../draft/describe.js";
import { oneLine } from "../protocol/claim.js";
import { exit, UsageError } from "./exit.js";
import { json, placed } from "./options.js";
import { person } from "./person.js";
import { findPlace, type PlaceOptions } from "./place.js";
import { voice } from "./speak.js";

interface Options extends PlaceOptions {
  reason: string;
  json: boolean;
}

export function redriveCommand(finish: (code: number) => void): Commander {
  return placed("redrive")
    .description("make a dead draft pending again, with all its attempts")
    .argument("<draft>", "its path in the repository")
    .requiredOption("--reason <text>", "why, for the audit trail")
    .addOption(json().default(false))
    .action(async (draft: string, options: Options) => finish(await redrive(draft, options)));
}

async function redrive(given: string, options: Options): Promise<number> {
  const draft = given.replace(/^\.\//, "");
  const reason = oneLine(options.reason).slice(0, 300);
  if (reason === "")
    throw new UsageError('--reason is empty. Say why, for the audit trail: --reason "the API is back"');
  const place = await findPlace(options);
  const say = voice(systemClock);
  try {
    const result = await redriveOnStore(place.ports, { draft, by: person(place), reason });
    if (options.json) {
      const outcome = result.outcome === "redriven" ? "redriven" : "refused";
      process.stdout.write(`${JSON.stringify({ draft, outcome, why: result.outcome })}\n`);
    }
    const name = JSON.stringify(draft);
    switch (result.outcome) {
      case "redriven":
        say.good(`redriven: ${name} is pending again; the next sweep may start it.`);
        return exit.ok;
      case "unknown":
        say.bad(
          `refused: no draft ${name} was ever claimed in ${place.remote.label}, so there is nothing to redrive. \`fencepost drafts\` lists those that were.`,
        );
        return exit.refused;
      case "not_dead": {
        const now = systemClock.read().wall;
        say.bad(`refused: ${name} is not dead. It is ${describeDraft(result.seen, now)}.`);
        return exit.refused;
      }
    }
  } finally {
    await place.ports.store.close();
  }
}
