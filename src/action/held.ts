// What the main step leaves behind for the post step, and the heartbeat's folder between them.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beatOf } from "../lease/beat-line.js";
import type { Beat, LostBeat } from "../lease/heartbeat.js";
import type { Slot } from "../protocol/catch-up.js";
import type { Claim } from "../protocol/claim.js";
import type { Reading } from "../protocol/doubt.js";
import type { DraftHolding } from "../protocol/draft.js";
import type { Holding } from "../protocol/lease.js";
import type { Instant, Oid } from "../protocol/record.js";
import type { DoneSlots } from "../protocol/slots.js";
import type { SeenStats } from "../protocol/stats.js";
import type { PushInputs } from "./inputs.js";
import type { LeaseInputs } from "./lease-inputs.js";

/** Kept in a file of the runner, so it has no token in it. */
export interface HeldState {
  claim: Claim;
  /** Of the lease, if there is one; else of the draft. */
  token: number;
  /** Of the lease; null where a draft is all that is held. */
  holding: Holding | null;
  draft: { holding: DraftHolding; attempt: number } | null;
  /** What the lease's record shall say when the slots of this run have succeeded. */
  slots: { done: DoneSlots; run: Slot[]; dropped: number } | null;
  /** The store's time, and when by our clocks it was that. */
  storeNow: Instant;
  storeNowAt: Reading;
  /** Where the heartbeat writes what it saw. */
  folder: string;
  heartbeatPid: number | null;
  /** The branch as it was when the lease was acquired, for a replacement. */
  replaces: Oid | null | undefined;
  /** HEAD when the lease was acquired. */
  start: Oid | null;
  /** The lease's counters as they were, for the summary. */
  stats: SeenStats | null;
  /** Inputs as the main step read them: expressions in them may have other values by now. */
  inputs: KeptInputs;
}

/** The inputs without their secrets, which the post step reads again. */
export type KeptInputs = Omit<LeaseInputs, "token" | "push"> & { push: Omit<PushInputs, "pushToken"> | null };

export function withoutSecrets({ token: _, push, ...kept }: LeaseInputs): KeptInputs {
  if (push === null) return { ...kept, push };
  const { pushToken: __, ...open } = push;
  return { ...kept, push: open };
}

/** Environment variable with the store's time less this machine's monotonic clock, both in milliseconds. */
export const clockVariable = "FENCEPOST_CLOCK";

/** A beat, and of what. */
export type HeldBeat = ({ of: "lease" } & Beat<Holding>) | ({ of: "draft" } & Beat<DraftHolding>);

export interface Seen {
  holding: Holding | null;
  draft: DraftHolding | null;
  /** The first loss. */
  lost: ({ of: "lease" | "draft" } & LostBeat) | null;
  /** The last failure, if no renewal has succeeded since. */
  failing: string | null;
  /** When the last renewal that succeeded was sent, of either of them. */
  renewedAt: Reading | null;
}

export const beatsFile = (folder: string) => join(folder, "beats");
export const stopFile = (folder: string) => join(folder, "stop");
export const endFile = (folder: string) => join(folder, "ended");

/** What the heartbeat saw. */
export async function readBeats(held: Pick<HeldState, "folder" | "holding" | "draft">): Promise<Seen> {
  const seen: Seen = {
    holding: held.holding,
    draft: held.draft?.holding ?? null,
    lost: null,
    failing: null,
    renewedAt: null,
  };
  const text = await readFile(beatsFile(held.folder), "utf8").catch((error: NodeJS.ErrnoException) => {
    // The fence still decides about a push, so the end of the job does not hang on this file.
    if (error.code !== "ENOENT") seen.failing = `what it saw could not be read (${error.message})`;
    return "";
  });
  for (const line of text.split("\n")) {
    // A line may be cut off: by a disk that was full, or in the middle of writing.
    const beat = beatOf<HeldBeat>(line);
    if (beat === null || (beat.of !== "lease" && beat.of !== "draft")) continue;
    if (beat.event === "lost") seen.lost ??= beat;
    else if (beat.event === "failing") seen.failing = beat.why;
    else if (beat.event === "renewed") {
      seen.failing = null;
      seen.renewedAt = beat.sentAt;
      if (beat.of === "lease") seen.holding = beat.holding;
      else seen.draft = beat.holding;
    }
  }
  return seen;
}
