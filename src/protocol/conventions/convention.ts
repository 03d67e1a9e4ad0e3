// A convention: how one tool's files say that they are not published yet, and when they are due.
import { DueInvalid, parseDue } from "../due.js";
import { type FrontMatter, FrontMatterInvalid, readFrontMatter } from "../front-matter.js";
import { quote } from "../names.js";
import type { Instant } from "../record.js";

export interface DraftFile {
  /** From the repository's root, with `/`. */
  path: string;
  fields: FrontMatter;
}

export interface Convention {
  name: string;
  /** The zone of dates that name none, where the tool itself fixes it. It comes before the user's `timezone`. */
  timezone?: string;
  /** Whether the file says that it is not published. @throws DraftUnreadable when it does not say so clearly. */
  isPending(file: DraftFile): boolean;
  /** The due date as it is written; undefined, null or empty for none. */
  due(file: DraftFile): unknown;
}

/** A draft whose file says something that cannot be understood. It is that draft's failure, and nobody else's. */
export class DraftUnreadable extends Error {
  override name = "DraftUnreadable";
}

/** What a draft's file says. `due` is null where it gives no date. */
export type DraftReading =
  | { state: "pending"; due: Instant | null }
  | { state: "not_pending" }
  | { state: "unreadable"; reason: string };

/**
 * What a file says under a convention. Only its front matter is read, and no draft makes it throw.
 * @param timezone the zone of dates that name none.
 * @throws TimezoneInvalid when `timezone` is not a zone: that is the workflow's fault, not a draft's.
 */
export function readDraft(
  convention: Convention,
  file: { path: string; text: string },
  timezone?: string,
): DraftReading {
  try {
    const draft = { path: file.path, fields: readFrontMatter(file.text) };
    if (!convention.isPending(draft)) return { state: "not_pending" };
    return { state: "pending", due: parseDue(convention.due(draft), convention.timezone ?? timezone) };
  } catch (error) {
    if (
      error instanceof FrontMatterInvalid ||
      error instanceof DraftUnreadable ||
      error instanceof DueInvalid
    )
      return { state: "unreadable", reason: error.message };
    throw error;
  }
}

/**
 * A yes or no of the front matter, or undefined where it is absent or empty.
 * The words of YAML 1.1 count too (`no`, `off`), because Jekyll and Hugo read them so.
 * @throws DraftUnreadable
 */
export function flag(fields: FrontMatter, key: string): boolean | undefined {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value === "boolean") return value;
  const word = typeof value === "string" ? value.trim().toLowerCase() : "";
  if (word === "true" || word === "yes" || word === "on") return true;
  if (word === "false" || word === "no" || word === "off") return false;
  throw new DraftUnreadable(`${key}: ${quote(String(JSON.stringify(value)))} is neither true nor false`);
}

/** The first of these fields that says something. */
export function firstOf(fields: FrontMatter, ...keys: string[]): unknown {
  return keys
    .filter((key) => Object.hasOwn(fields, key))
    .map((key) => fields[key])
    .find((value) => value !== null && value !== undefined && value !== "");
}

/** Whether a path has a folder of this name. */
export function isBelow(path: string, folder: string): boolean {
  return `/${path}`.includes(`/${folder}/`);
}
