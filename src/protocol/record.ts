// Records: one JSON document in a commit message, under a sentence for people.
import * as v from "valibot";
import { type Kind, quote, type RecordName, recordName } from "./names.js";

export type Oid = string;
/** Milliseconds since the epoch, on the store's clock unless said otherwise. */
export type Instant = number;

/** The format this code writes, and the newest that it reads. */
export const format = 1;

/** A record as a store has it: its text, and what the store knows about the write. */
export interface Versioned {
  name: RecordName;
  oid: Oid;
  /** The store's time of the write. On a plain git server this is the writer's clock. */
  writtenAt: Instant;
  parents: Oid[];
  /** The raw commit message. */
  message: string;
}

/** What every record carries, whatever its kind. */
export const envelope = {
  fencepost: v.literal(format),
  /** The full name, as its user gave it. */
  name: v.pipe(v.string(), v.minLength(1)),
  /** Why it was written. */
  event: v.string(),
  /** The tip that this write replaced. */
  previous: v.nullable(v.pipe(v.string(), v.regex(/^[0-9a-f]{40,64}$/))),
  /** Writes since the last root commit; 1 at a root. */
  depth: v.pipe(v.number(), v.integer(), v.minValue(1)),
  /** Fresh in every write. Without it two claimants can build the same commit, and both believe that they won. */
  nonce: v.pipe(v.string(), v.minLength(8)),
};

/** A record that exists but cannot be used. It is never "free". */
export class RecordInvalid extends Error {
  override name = "RecordInvalid";
  constructor(
    readonly record: RecordName,
    readonly problem: "newer" | "broken" | "misplaced" | "chain",
    /** What is wrong, without a full stop. */
    readonly why: string,
    /** What to do, a whole sentence. */
    readonly advice = "",
  ) {
    super(advice === "" ? why : `${why}. ${advice}`);
  }
}

/** The commit message of a record: the sentence, an empty line, the document. */
export function encodeRecord(sentence: string, body: object): string {
  return `${sentence}\n\n${innermostOnOneLine(JSON.stringify(body, null, 2))}\n`;
}

/** One day or one holder a line: shorter, and easier to read. Inside of a JSON string there are no line breaks. */
function innermostOnOneLine(document: string): string {
  return document.replace(
    /\{\n +([^{}[\]]*?)\n +\}/g,
    (_, inner: string) => `{ ${inner.replace(/\n +/g, " ")} }`,
  );
}

/**
 * Reads a record of one kind.
 * @throws RecordInvalid when it is no record, is of a newer format, belongs to another ref, or its chain is broken.
 */
export function decodeRecord<S extends v.GenericSchema<unknown, Envelope>>(
  kind: Kind,
  schema: S,
  seen: Versioned,
): v.InferOutput<S> {
  const where = `The record ${seen.name} (commit ${seen.oid.slice(0, 10)})`;
  const restore = "Put its branch back to its last good commit; deleting it would restart the token.";
  const body = parseBody(seen.message);
  if (isNewer(body))
    throw new RecordInvalid(
      seen.name,
      "newer",
      `${where} has format ${body.fencepost}, which is newer than the ${format} that this Fencepost reads`,
      "Upgrade Fencepost here.",
    );
  const parsed = v.safeParse(schema, body);
  if (!parsed.success)
    throw new RecordInvalid(
      seen.name,
      "broken",
      `${where} is not a Fencepost record: ${reason(body, parsed.issues)}`,
      restore,
    );
  const record = parsed.output;
  if (recordName(kind, record.name) !== seen.name)
    throw new RecordInvalid(
      seen.name,
      "misplaced",
      `${where} belongs to ${quote(record.name)}, not to this branch`,
      restore,
    );
  const parent = record.depth === 1 ? undefined : (record.previous ?? "none");
  if (seen.parents.length > 1 || seen.parents[0] !== parent)
    throw new RecordInvalid(
      seen.name,
      "chain",
      `${where} does not follow the commit that it says it replaced, so its history was rewritten`,
      restore,
    );
  return record;
}

type Envelope = { name: string; depth: number; previous: Oid | null };

function parseBody(message: string): unknown {
  const start = message.indexOf("\n\n");
  if (start < 0) return undefined;
  try {
    return JSON.parse(message.slice(start + 2));
  } catch {
    return undefined;
  }
}

function isNewer(body: unknown): body is { fencepost: number } {
  const found = (body as { fencepost?: unknown } | null | undefined)?.fencepost;
  return typeof found === "number" && found > format;
}

function reason(body: unknown, issues: readonly v.BaseIssue<unknown>[]): string {
  if (body === undefined) return "its commit message holds no JSON document";
  const issue = issues[0];
  return issue ? `${v.getDotPath(issue) ?? "document"}: ${issue.message}` : "unknown";
}
