// The records of drafts in a store: read all at once, each one's fault its own.
import {
  type DraftWrite,
  draftMessage,
  draftRecordName,
  readDraftRecord,
  type SeenDraft,
} from "../protocol/draft.js";
import type { RecordName } from "../protocol/names.js";
import { RecordInvalid, type Versioned } from "../protocol/record.js";
import type { CallOptions, Change, Store } from "../store/store.js";

export interface DraftRecords {
  /** By the draft's path. */
  records: Map<string, SeenDraft>;
  /** Records that cannot be read do not tell whose they are; their names do, to who knows the path. */
  broken: Map<RecordName, RecordInvalid>;
}

export async function listDraftRecords(store: Store, options: CallOptions = {}): Promise<DraftRecords> {
  const found: DraftRecords = { records: new Map(), broken: new Map() };
  for await (const versioned of store.list("draft/", options)) {
    const seen = readOrBroken(versioned);
    if (seen instanceof RecordInvalid) found.broken.set(versioned.name, seen);
    else found.records.set(seen.record.name, seen);
  }
  return found;
}

function readOrBroken(versioned: Versioned): SeenDraft | RecordInvalid {
  try {
    return readDraftRecord(versioned) as SeenDraft;
  } catch (error) {
    if (error instanceof RecordInvalid) return error;
    throw error;
  }
}

/** The records of these drafts, and of further ones whose paths match. */
export function recordsOf(
  { records, broken }: DraftRecords,
  paths: readonly string[],
  matches: (path: string) => boolean,
): Map<string, SeenDraft | RecordInvalid> {
  const mine = new Map<string, SeenDraft | RecordInvalid>();
  for (const [path, seen] of records) if (matches(path)) mine.set(path, seen);
  if (broken.size > 0)
    for (const path of paths) {
      const error = broken.get(draftRecordName(path));
      if (error) mine.set(path, error);
    }
  return mine;
}

/** The write as a store takes it. */
export function changeOf({ record, expected, root }: DraftWrite): Change {
  return { name: draftRecordName(record.name), expected, next: { message: draftMessage(record), root } };
}
