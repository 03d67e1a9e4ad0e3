// Which paths a sweep means: globs, and globs with `!` for what it does not.
import picomatch from "picomatch";
import { quote } from "../protocol/names.js";

/** A list of globs that cannot match anything. */
export class GlobsInvalid extends Error {
  override name = "GlobsInvalid";
}

/**
 * Whether a path from the repository's root, with `/`, is meant: one glob matches, and none of those with `!` does.
 * @throws GlobsInvalid
 */
export function globMatcher(globs: readonly string[]): (path: string) => boolean {
  const wanted = globs.map((glob) => glob.replace(/^\.?\//, "")).filter((glob) => glob !== "");
  const kept = wanted.filter((glob) => !glob.startsWith("!"));
  const left = wanted.filter((glob) => glob.startsWith("!")).map((glob) => glob.slice(1));
  if (kept.length === 0)
    throw new GlobsInvalid(
      `The drafts ${quote(globs.join(" "))} name no file to look at. A good one: posts/**/*.md`,
    );
  // A path may have any character, a line break too, and means the same on every machine.
  const options = { windows: false, flags: "su", nonegate: true } as picomatch.PicomatchOptions;
  const matches = picomatch(kept, options);
  const leaves = left.length > 0 ? picomatch(left, { ...options, dot: true }) : () => false;
  return (path) => matches(path) && !leaves(path);
}
