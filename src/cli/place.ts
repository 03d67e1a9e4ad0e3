// Where a command works: the clone it stands in, the remote it means, and the store there.
import { systemChance } from "../chance.js";
import { systemClock } from "../clock.js";
import { type Clone, findClone } from "../git/clone.js";
import { gitOutput } from "../git/program.js";
import { findRemote, type Remote } from "../git/remote.js";
import type { Ports } from "../lease/lease.js";
import { refPrefix } from "../protocol/names.js";
import { gitStore } from "../store/git.js";
import { ConfigurationError } from "./exit.js";

export interface PlaceOptions {
  store?: string;
  refPrefix: string;
  directory: string;
}

export interface Place {
  folder: string;
  clone: Clone | null;
  remote: Remote;
  prefix: string;
  ports: Ports;
}

/** @throws ConfigurationError, RemoteUnknown, NameInvalid, GitMissing, before anything was written. */
export async function findPlace(options: PlaceOptions): Promise<Place> {
  const prefix = refPrefix(options.refPrefix);
  await checkGit();
  const clone = await findClone(options.directory);
  if (clone === null && options.store === undefined)
    throw new ConfigurationError(
      `${options.directory} is not in a git clone, so there is no remote "origin" to keep the lease in. Run this in a clone, or name a store with --store.`,
    );
  const remote = await findRemote(options.store ?? "origin", clone, options.directory);
  return {
    folder: options.directory,
    clone,
    remote,
    prefix,
    ports: openPorts(remote, prefix, clone?.objectFormat),
  };
}

export function openPorts(remote: Remote, prefix: string, objectFormat?: string): Ports {
  const parts = { clock: systemClock, chance: systemChance };
  return {
    ...parts,
    store: gitStore({ remote, prefix, ...parts, ...(objectFormat ? { objectFormat } : {}) }),
  };
}

async function checkGit(): Promise<void> {
  const version = await gitOutput({ args: ["version"] });
  const [major = 0, minor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number);
  if (major > 2 || (major === 2 && minor >= 31)) return;
  throw new ConfigurationError(
    `Fencepost needs git 2.31 or newer, and this is ${version.trim()}. Upgrade git.`,
  );
}
