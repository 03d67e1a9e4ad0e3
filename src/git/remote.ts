// A remote repository: how to name it, and how to reach it, for a repository that is not the user's.

import { resolve } from "node:path";
import { anchorUrl, type Clone, exists, isPath, parseConfig, remoteSettings } from "./clone.js";
import { type ConfigEntry, gitOutput, redact } from "./program.js";

/** The name under which every private repository knows its remote. */
export const destination = "destination";

export interface Remote {
  /** For people: the URL without credentials. */
  label: string;
  /** All that a private repository must be told, by environment, to reach it as `destination`. */
  config: ConfigEntry[];
}

/** A store or remote that was named and does not exist. */
export class RemoteUnknown extends Error {
  override name = "RemoteUnknown";
}

/**
 * The remote that a person named: a remote of their clone, a URL, or a path.
 * @throws RemoteUnknown
 */
export async function findRemote(given: string, clone: Clone | null, folder: string): Promise<Remote> {
  const settings = clone ? remoteSettings(clone.config, given) : [];
  // Of several, git reads from the first.
  const url = settings.find(([key]) => key === "url")?.[1];
  if (clone && url !== undefined) return describe(anchorUrl(url, clone.top), settings, clone, clone.top);
  if (given === "")
    throw new RemoteUnknown('The store is empty. Name a remote such as "origin", a URL, or a path.');
  if (!isPath(given)) return describe(given, [], clone, folder);
  const path = resolve(folder, given);
  if (await exists(path)) return describe(path, [], clone, folder);
  throw new RemoteUnknown(
    `There is no remote, URL or folder ${JSON.stringify(given)}${clone ? ` for the clone ${clone.top}` : ""}. ${
      clone
        ? "See `git remote -v`, or give a URL or an existing path."
        : "Outside a clone, give a URL or an existing path with --store."
    }`,
  );
}

/** A remote by its URL, reached by what a clone knows and by further settings, which come last and so win. */
export function remoteAt(url: string, clone: Clone | null, further: readonly ConfigEntry[]): Remote {
  const remote = describe(url, [], clone, clone?.top ?? "");
  return { ...remote, config: [...remote.config, ...further] };
}

function describe(url: string, settings: ConfigEntry[], clone: Clone | null, top: string): Remote {
  const passed = settings.filter(([key]) => /^(proxy|proxyauthmethod|uploadpack|receivepack|vcs)$/.test(key));
  const pushUrl = settings.findLast(([key]) => key === "pushurl")?.[1];
  const config: ConfigEntry[] = [
    ...passed.map(([key, value]): ConfigEntry => [`remote.${destination}.${key}`, value]),
    [`remote.${destination}.url`, url],
  ];
  if (pushUrl !== undefined) config.push([`remote.${destination}.pushurl`, anchorUrl(pushUrl, top)]);
  return { label: redact(url), config: [...(clone ? clone.config.filter(reaching) : []), ...config] };
}

/** What a clone knows about reaching remotes. */
function reaching([key]: ConfigEntry): boolean {
  return /^(credential|http|https|url|ssh|protocol|lfs(?!\.storage$))\.|^core\.(sshcommand|gitproxy|askpass)$/i.test(
    key,
  );
}

/**
 * Of the settings that a clone sees, those that a private repository does not see by itself. Settings with several
 * values (headers, helpers) would double if they were passed on twice.
 */
export async function settingsToPass(
  config: readonly ConfigEntry[],
  privateFolder: string,
): Promise<ConfigEntry[]> {
  const own = group(parseConfig(await gitOutput({ cwd: privateFolder, args: ["config", "--list", "-z"] })));
  const passed: ConfigEntry[] = [];
  for (const [key, values] of group(config)) {
    const seen = own.get(key) ?? [];
    const continues = seen.every((value, i) => values[i] === value);
    const rest = continues ? values.slice(seen.length) : resets(key) ? ["", ...values] : values;
    for (const value of rest) passed.push([key, value]);
  }
  return passed;
}

/** Settings whose list an empty value empties. For others it would be a value like any other. */
function resets(key: string): boolean {
  return /^credential\.(.*\.)?helper$|^http\.(.*\.)?extraheader$/i.test(key);
}

function group(config: readonly ConfigEntry[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [key, value] of config) groups.set(key, [...(groups.get(key) ?? []), value]);
  return groups;
}
