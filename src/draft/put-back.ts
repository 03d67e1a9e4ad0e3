// Takes back a start that came to nothing, so that the next sweep may start the draft again.
import type { Ports } from "../lease/lease.js";
import { oneLine } from "../protocol/claim.js";
import { changeDraft } from "../protocol/draft.js";
import type { SweepDraft } from "../protocol/sweep.js";
import type { CallOptions } from "../store/store.js";
import { readDraftOn } from "./claim.js";
import { changeOf } from "./records.js";

/** Longest reason that is kept, in code points. */
const longest = 300;

/**
 * Makes the record say that nobody was started: only while it still says so of this very content. A run that claimed
 * meanwhile keeps its claim. Whether it was put back.
 */
export async function putBack(
  { store, chance }: Ports,
  { path, blob }: SweepDraft,
  reason: string,
  options: CallOptions = {},
): Promise<boolean> {
  const seen = await readDraftOn(store, path, options);
  if (seen === null || seen.record.event !== "started" || seen.record.fingerprint !== blob) return false;
  const why = [...oneLine(reason)].slice(0, longest).join("");
  const write = changeDraft(seen, chance.nonce(), { event: "released", reason: why });
  return (await store.swap([changeOf(write)], options)).outcome === "applied";
}
