// Names that people give, and the refs that carry them.
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** Where a record lives, relative to the ref prefix: `lease/blog-main`. */
export type RecordName = string & { readonly recordName: unique symbol };

export const kinds = ["lease", "draft", "stats", "fence", "rescue"] as const;
export type Kind = (typeof kinds)[number];

export const defaultPrefix = "fencepost";

/** Longest lease name, in Unicode code points. */
export const longestLeaseName = 200;

/** A name, prefix or branch that cannot be used; the message says which rule it breaks. */
export class NameInvalid extends Error {
  override name = "NameInvalid";
}

/** The lease name as given, or `NameInvalid`: 1 to 200 characters, no control characters, no `..` or empty segments. */
export function leaseName(given: string): string {
  const problem = nameProblem(given, longestLeaseName);
  if (problem) throw new NameInvalid(`The lease name ${quote(given)} ${problem}. A good one: blog-main`);
  return given;
}

function nameProblem(given: string, longest: number): string | null {
  const length = [...given].length;
  if (given.trim() === "") return "is empty";
  if (length > longest) return `is ${length} characters long, and ${longest} is the most`;
  if (given !== given.trim()) return "begins or ends with a space";
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(given)) return "contains a control character";
  if (!given.isWellFormed()) return "is not valid Unicode";
  if (given.split("/").some((part) => part === "" || part === "." || part === ".."))
    return "has an empty, `.` or `..` segment between its slashes";
  return null;
}

/** The record of a lease or draft with this name. Injective, flat, legal for git, also where file names ignore case. */
export function recordName(kind: Kind, name: string): RecordName {
  return `${kind}/${encode(name)}` as RecordName;
}

/** The full ref of a record below a ref prefix. */
export function refOf(prefix: string, record: RecordName): string {
  return `refs/heads/${prefix}/${record}`;
}

/** The record that a full ref carries, or null when it is not below the prefix. */
export function recordOf(prefix: string, ref: string): RecordName | null {
  const start = `refs/heads/${prefix}/`;
  return ref.startsWith(start) ? (ref.slice(start.length) as RecordName) : null;
}

/** Where the commits of a refused push are kept. */
export function rescueRef(prefix: string, lease: string, token: number): string {
  return `refs/heads/${prefix}/rescue/${encode(lease)}/${token}`;
}

/**
 * Plain lower-case names stand as they are; every other name becomes a readable slug, `=`, and 96 bits of its
 * SHA-256. No plain name has a `=`, so the two kinds never meet.
 */
function encode(name: string): string {
  const plain = /^[a-z0-9][a-z0-9._-]{0,99}$/.test(name) && !/\.\.|\.$|\.lock$/.test(name);
  // Windows opens a device instead of a file of such a name.
  if (plain && !/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/.test(name)) return name;
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 40)
    .replace(/^-+|-+$/g, "");
  return `${slug}=${bytesToHex(sha256(utf8ToBytes(name))).slice(0, 24)}`;
}

/** The ref prefix as given, or `NameInvalid`: slash-separated parts of lower-case letters, digits, `_` and `-`. */
export function refPrefix(given: string): string {
  if (/^[a-z0-9][a-z0-9_-]*(\/[a-z0-9][a-z0-9_-]*)*$/.test(given) && given.length <= 100) return given;
  throw new NameInvalid(
    `The ref prefix ${quote(given)} cannot be used: it takes lower-case letters, digits, "_" and "-", with "/" between parts. A good one: ${defaultPrefix}`,
  );
}

/** The full ref of a branch given as `main` or `refs/heads/main`, or `NameInvalid` (rules of `git check-ref-format`, and no other full ref). */
export function branchRef(given: string, prefix: string): string {
  const ref = given.startsWith("refs/heads/") ? given : `refs/heads/${given}`;
  // Else `refs/tags/v1` would become a branch of that name.
  const other = given.startsWith("refs/") && ref !== given;
  const problem = other ? "is a full ref, and not of a branch" : refProblem(ref);
  if (problem) throw new NameInvalid(`The branch name ${quote(given)} ${problem}. A good one: main`);
  if (isOurs(prefix, ref))
    throw new NameInvalid(
      `The branch ${quote(given)} is one of Fencepost's own records. Push to another branch.`,
    );
  return ref;
}

/** A full ref (`refs/…`) as given, or `NameInvalid`. */
export function fullRef(given: string, prefix: string): string {
  const problem = given.startsWith("refs/") ? refProblem(given) : "is not a full ref";
  if (problem) throw new NameInvalid(`The ref ${quote(given)} ${problem}. A good one: refs/heads/main`);
  if (isOurs(prefix, given))
    throw new NameInvalid(`The ref ${quote(given)} is one of Fencepost's own records. Push to another ref.`);
  return given;
}

/** Whether a ref is a record, or stands where records must; a file system may ignore case. */
function isOurs(prefix: string, ref: string): boolean {
  const [ours, given] = [`refs/heads/${prefix}`, ref.toLowerCase()];
  return given === ours || given.startsWith(`${ours}/`);
}

/** The rules of `git check-ref-format`, as its manual page lists them. */
function refProblem(ref: string): string | null {
  const parts = ref.split("/");
  if (parts.length < 3 || parts.some((part) => part === "")) return "has an empty part";
  if (parts.some((part) => part.startsWith(".") || part.endsWith(".lock")))
    return 'has a part that begins with "." or ends with ".lock"';
  if (/\.\.|@\{|[\u0000-\u0020\u007f~^:?*[\\]/.test(ref) || ref.endsWith("."))
    return "has a character or a sequence that git does not allow";
  if (parts[2]?.startsWith("-")) return 'begins with "-"';
  return null;
}

/** A name for a message: quoted, on one line, and cut where it would fill the screen. */
export function quote(given: string): string {
  const points = [...given];
  const cut = JSON.stringify(points.length > 60 ? `${points.slice(0, 60).join("")}…` : given);
  return cut.replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
