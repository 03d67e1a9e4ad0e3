// What a user's clone knows, read without touching it.
import { access, constants } from "node:fs/promises";
import { isAbsolute, resolve } from "node:path";
import { type ConfigEntry, git, gitOutput } from "./program.js";

export interface Clone {
  /** The folder that relative remote URLs are relative to. */
  top: string;
  objects: string;
  /** The file that marks where a shallow clone ends; need not exist. */
  shallow: string;
  objectFormat: string;
  /** Every setting that git sees there, includes and all, in order. */
  config: readonly ConfigEntry[];
}

/** The clone that a folder lies in, or null when it lies in none. */
export async function findClone(folder: string): Promise<Clone | null> {
  const reply = await git({
    cwd: folder,
    args: [
      "rev-parse",
      "--path-format=absolute",
      "--absolute-git-dir",
      "--git-path",
      "objects",
      "--git-path",
      "shallow",
      "--show-object-format",
      "--is-bare-repository",
      "--show-cdup",
    ],
  });
  if (reply.code !== 0) return null;
  const [gitDir = "", objects = "", shallow = "", objectFormat = "sha1", bare, up = ""] = reply.stdout
    .toString("utf8")
    .split("\n");
  const top = bare === "true" ? gitDir : resolve(folder, up);
  return { top, objects, shallow, objectFormat, config: await readConfig(folder) };
}

/** All settings that git sees in a folder, in order, with keys as git writes them. */
export async function readConfig(folder: string): Promise<ConfigEntry[]> {
  const listed = await gitOutput({ cwd: folder, args: ["config", "--list", "-z", "--includes"] });
  return parseConfig(listed);
}

export function parseConfig(listed: string): ConfigEntry[] {
  return listed
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => {
      const end = entry.indexOf("\n");
      return end < 0 ? [entry, "true"] : [entry.slice(0, end), entry.slice(end + 1)];
    });
}

/** The settings of one remote, by their last part: `url`, `pushurl`, `proxy`, … */
export function remoteSettings(config: readonly ConfigEntry[], remote: string): ConfigEntry[] {
  const start = `remote.${remote}.`;
  return config
    .filter(([key]) => key.startsWith(start))
    .map(([key, value]) => [key.slice(start.length), value]);
}

/** A remote URL as it reads from elsewhere: a relative path is made absolute, everything else stays. */
export function anchorUrl(url: string, top: string): string {
  return isPath(url) && !isAbsolute(url) ? resolve(top, url) : url;
}

/** Whether git takes this for a local path: no scheme, and no `host:` before the first slash. */
export function isPath(url: string): boolean {
  return !/^[a-z][a-z0-9+.-]*:\/\//i.test(url) && !/^[a-z0-9+.-]+::/i.test(url) && !/^[^/\\]{2,}:/.test(url);
}

export async function exists(path: string): Promise<boolean> {
  return access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
}
