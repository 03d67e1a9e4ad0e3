// Paths of files in a repository, given by a caller that has no checkout.
import { NameInvalid, quote } from "./names.js";

/**
 * A path from the top of a repository, or `NameInvalid`: what git refuses in a tree, and what would reach out of a
 * checkout on any system.
 */
export function filePath(given: string): string {
  const problem = pathProblem(given);
  if (problem) throw new NameInvalid(`The path ${quote(given)} ${problem}. A good one: posts/hello.md`);
  return given;
}

function pathProblem(given: string): string | null {
  if (given === "") return "is empty";
  if (!given.isWellFormed()) return "is not valid Unicode";
  if (given.length > 4000) return "is longer than 4000 characters";
  if (given.startsWith("/")) return "begins with a slash";
  if (/[\u0000-\u001f\u007f\\]/.test(given)) return "has a control character or a backslash";
  for (const part of given.split("/")) {
    if (part === "" || part === "." || part === "..")
      return "has an empty, `.` or `..` part between its slashes";
    // The names that git itself guards, with those that Windows and macOS take for the same.
    if (
      /^(\.git|git~1)[ .]*(:.*)?$/i.test(part.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, ""))
    )
      return "has a part that stands for git's own folder";
  }
  return null;
}
