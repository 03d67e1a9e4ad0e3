// `fencepost log`: the audit trail of a lease, newest first.
import type { Command as Commander } from "commander";
import { leaseJson } from "../lease/describe.js";
import { leaseRecordName, readLease } from "../protocol/lease.js";
import { leaseName } from "../protocol/names.js";
import { ConfigurationError, exit } from "./exit.js";
import { json, placed, wholeNumber } from "./options.js";
import { findPlace, type PlaceOptions } from "./place.js";
import { onOut } from "./speak.js";

interface Options extends PlaceOptions {
  limit: number;
  json: boolean;
}

export function logCommand(finish: (code: number) => void): Commander {
  return placed("log")
    .description("show what happened to a lease, newest first")
    .argument("<name>", "the lease")
    .option("--limit <n>", "writes to show at the most", wholeNumber("--limit", 1, 600), 50)
    .addOption(json().default(false))
    .action(async (name: string, options: Options) => finish(await log(leaseName(name), options)));
}

async function log(name: string, options: Options): Promise<number> {
  const place = await findPlace(options);
  const { store } = place.ports;
  try {
    const chain = await store.history(leaseRecordName(name), options.limit);
    if (chain.length === 0)
      throw new ConfigurationError(
        `${JSON.stringify(name)} was never acquired in ${store.label}. \`fencepost status\` lists the leases there.`,
      );
    if (options.json) {
      const entries = chain.map((seen) => readLease(seen)).filter((seen) => seen !== null);
      process.stdout.write(
        `${JSON.stringify({ lease: name, store: store.label, entries: entries.map((seen) => leaseJson(seen, seen.writtenAt)) })}\n`,
      );
    } else
      for (const seen of chain) {
        const time = new Date(seen.writtenAt).toISOString().slice(0, 19).replace("T", " ");
        process.stdout.write(
          `${onOut.dim(`${time}  ${seen.oid.slice(0, 10)}`)}  ${seen.message.split("\n", 1)[0]}\n`,
        );
      }
    return exit.ok;
  } finally {
    await store.close();
  }
}
