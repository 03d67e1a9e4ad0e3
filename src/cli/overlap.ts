// Counts a run that found what it asked for in somebody else's hands.
import { countOverlap, type Overlap } from "../lease/stats.js";
import { explain } from "./exit.js";
import type { Place } from "./place.js";
import type { Voice } from "./speak.js";

/** A count that cannot be written is said, and changes nothing else. */
export async function count(place: Place, overlap: Overlap, say: Voice): Promise<void> {
  try {
    await countOverlap(place.ports, overlap, { signal: AbortSignal.timeout(30_000) });
  } catch (error) {
    say.warn(`the skip could not be counted (${explain(error).message})`);
  }
}
