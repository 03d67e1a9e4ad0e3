// What a run holds while its command works, a lease or a draft or both, kept alive by one heartbeat each.
import { draftFence, type Fence, leaseFence, pushedHolding } from "../gate/fence.js";
import { destinationFences, type HeldToken, tokensFor } from "../gate/foreign.js";
import type { LostBeat } from "../lease/heartbeat.js";
import type { Reading } from "../protocol/doubt.js";
import type { DraftHolding } from "../protocol/draft.js";
import type { Holding } from "../protocol/lease.js";
import type { Versioned } from "../protocol/record.js";
import { type Pulse, startPulse } from "./heartbeat.js";
import type { Place } from "./place.js";
import type { Voice } from "./speak.js";

export interface Held {
  lease?: { holding: Holding; sentAt: Reading } | undefined;
  draft?: { holding: DraftHolding; sentAt: Reading } | undefined;
}

export interface Keeping {
  /** The token that stands for the run: the lease's, or the draft's. */
  token: number;
  /** Resolves when one of them is lost, and never otherwise. */
  lost: Promise<LostBeat>;
  /** What must move with a push. `slots`: what this push completes. */
  fences(slots?: Record<string, string>): [Fence, ...Fence[]];
  /** The same without the draft, which a push from inside the command has published; none where it was all. */
  rest(): Fence[];
  /** The last known holdings. */
  lease(): Holding | undefined;
  draft(): DraftHolding | undefined;
  /** The same for a destination that is another repository. */
  tokens: readonly HeldToken[];
  /** Records that a push of ours wrote. */
  wrote(written: readonly Versioned[]): void;
  /** Ends the heartbeats, and waits until they have ended. */
  stop(): Promise<void>;
}

export function keep(place: Place, held: Held, renew: boolean, say: Voice): Keeping {
  const { clock, chance } = place.ports;
  const common = {
    remote: place.remote,
    prefix: place.prefix,
    objectFormat: place.clone?.objectFormat,
    clock,
    renew,
    warn: (text: string) => say.warn(text),
  };
  const leasePulse: Pulse<Holding> | undefined = held.lease && startPulse({ ...common, ...held.lease });
  const draftPulse: Pulse<DraftHolding> | undefined = held.draft && startPulse({ ...common, ...held.draft });
  const pulses = [leasePulse, draftPulse].filter((pulse) => pulse !== undefined);
  let pushed: Holding | undefined;
  const tokens = tokensFor(held.lease?.holding, held.draft?.holding);
  return {
    token: held.lease?.holding.token ?? held.draft?.holding.token ?? 0,
    lost: Promise.race(pulses.map((pulse) => pulse.lost)),
    tokens,
    fences: (slots) => {
      const { lease, draft } = held;
      if (place.destination) return destinationFences(tokens, chance);
      const fences = [
        ...(lease ? [leaseFence(lease.holding.lease, lease.holding, chance, slots)] : []),
        ...(draft ? [draftFence(draft.holding.draft, draft.holding, chance)] : []),
      ];
      return fences as [Fence, ...Fence[]];
    },
    rest() {
      const { lease } = held;
      if (place.destination) return destinationFences(tokensFor(lease?.holding, null), chance);
      return lease ? [leaseFence(lease.holding.lease, lease.holding, chance)] : [];
    },
    lease() {
      const renewed = leasePulse?.holding();
      // Guessing wrong which was written later costs one read.
      return renewed && pushed && pushed.record.depth > renewed.record.depth ? pushed : renewed;
    },
    draft: () => draftPulse?.holding(),
    wrote: (written) => {
      pushed = pushedHolding(written) ?? pushed;
    },
    async stop() {
      await Promise.all(pulses.map((pulse) => pulse.stop()));
    },
  };
}
