// `fencepost status`: who holds which lease, since when, until when.
import type { Command as Commander } from "commander";
import { systemClock } from "../clock.js";
import { adviseTtl, describeAdvice } from "../lease/advice.js";
import { describeHolding, leaseJson, leaseState } from "../lease/describe.js";
import { describeClaim } from "../protocol/claim.js";
import { leaseRecordName, readLease, type SeenLease } from "../protocol/lease.js";
import { leaseName } from "../protocol/names.js";
import { RecordInvalid, type Versioned } from "../protocol/record.js";
import { readable } from "./doctor.js";
import { exit } from "./exit.js";
import { json, placed } from "./options.js";
import { findPlace, type PlaceOptions } from "./place.js";
import { onOut, voice } from "./speak.js";

interface Options extends PlaceOptions {
  json: boolean;
}

export function statusCommand(finish: (code: number) => void): Commander {
  return placed("status")
    .description("show who holds a lease, or every lease")
    .argument("[name]", "one lease (default: all of them)")
    .addOption(json().default(false))
    .action(async (name: string | undefined, options: Options) => finish(await status(name, options)));
}

async function status(given: string | undefined, options: Options): Promise<number> {
  const name = given === undefined ? undefined : leaseName(given);
  const place = await findPlace(options);
  const { store } = place.ports;
  try {
    const found: (Versioned | null)[] = [];
    if (name !== undefined) found.push(...(await store.read([leaseRecordName(name)])).records);
    else for await (const record of store.list("lease/")) found.push(record);
    const now = systemClock.read().wall;
    const { leases, unreadable } = readAll(found);
    // For one lease only, since each history is a request of its own.
    const advice =
      name === undefined || leases.length === 0
        ? null
        : adviseTtl(readable(await store.history(leaseRecordName(name), 600)));
    if (options.json) {
      const shown = leases.map((seen) => leaseJson(seen, now));
      process.stdout.write(
        `${JSON.stringify({ store: store.label, leases: shown, unreadable: unreadable.map((e) => e.message), ...(advice ? { advice } : {}) })}\n`,
      );
    } else {
      for (const seen of leases) process.stdout.write(`${line(seen, now)}\n`);
      if (advice) process.stdout.write(`${onOut.dim(describeAdvice(advice))}\n`);
      if (leases.length === 0 && unreadable.length === 0)
        process.stdout.write(
          name === undefined
            ? `No lease was ever acquired in ${store.label}.\n`
            : `${JSON.stringify(name)} was never acquired in ${store.label}.\n`,
        );
      for (const error of unreadable) voice(systemClock).bad(error.message);
    }
    return unreadable.length > 0 ? exit.configuration : exit.ok;
  } finally {
    await store.close();
  }
}

/** One bad record does not hide the others. */
function readAll(found: readonly (Versioned | null)[]) {
  const leases: SeenLease[] = [];
  const unreadable: RecordInvalid[] = [];
  for (const record of found) {
    try {
      const seen = readLease(record);
      if (seen) leases.push(seen);
    } catch (error) {
      if (!(error instanceof RecordInvalid)) throw error;
      unreadable.push(error);
    }
  }
  return { leases, unreadable };
}

function line(seen: SeenLease, now: number): string {
  const state = leaseState(seen, now);
  const colour = { held: onOut.green, expired: onOut.yellow, released: onOut.dim }[state];
  const { record } = seen;
  const rest =
    state === "released"
      ? `token ${record.token}, last held ${record.unlock ? `until ${record.unlock.by} unlocked it: ${record.unlock.reason}` : `by ${describeClaim(record.holder)}`}`
      : describeHolding(seen, now);
  return `${onOut.bold(record.name)}  ${colour(state)}  ${rest}`;
}
