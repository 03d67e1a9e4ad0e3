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
  /** What is pushed to, where it is not the store's repository. */
  remote?: string;
}

export interface Place {
  folder: string;
  clone: Clone | null;
  remote: Remote;
  prefix: string;
  ports: Ports;
  /** What is pushed to, where it is another repository than the store's. */
  destination: { remote: Remote; ports: Ports } | null;
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
    destination: await findDestination(options, remote, clone, prefix),
  };
}

async function findDestination(
  { remote: given, directory }: PlaceOptions,
  store: Remote,
  clone: Clone | null,
  prefix: string,
): Promise<Place["destination"]> {
  if (given === undefined || given === "") return null;
  const remote = await findRemote(given, clone, directory);
  if (sameRemote(remote, store)) return null;
  return { remote, ports: openPorts(remote, prefix, clone?.objectFormat) };
}

/**
 * One address. Two of one repository count as two, which costs a fence and no safety; two repositories that counted as
 * one would be a push to the wrong one, and beside `blog` there may well be a `blog.git`.
 */
function sameRemote(a: Remote, b: Remote): boolean {
  const plain = ({ label }: Remote) => label.replace(/\/+$/, "");
  return plain(a) === plain(b);
}

export async function closePlace(place: Place): Promise<void> {
  await place.destination?.ports.store.close();
  await place.ports.store.close();
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
