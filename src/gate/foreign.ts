// A destination that is not the lease's own repository: its fence is sealed first, and moves with each push.
import type { Chance } from "../chance.js";
import type { Ports } from "../lease/lease.js";
import { describeClaim } from "../protocol/claim.js";
import {
  acceptance,
  type FenceWrite,
  fenceMessage,
  fenceRecordName,
  type Guarded,
  isOpen,
  readFence,
  type Sealer,
  type SeenFence,
  seal,
} from "../protocol/fence.js";
import { type Ownership, TokenRegressed } from "../protocol/lease.js";
import { quote } from "../protocol/names.js";
import type { Oid, Versioned } from "../protocol/record.js";
import { type CallOptions, type Store, StoreRefused, StoreUnavailable } from "../store/store.js";
import type { Fence } from "./fence.js";

export type Sealed =
  /** `fresh`: by this very call, and not by an earlier one of the same claim. */
  | { outcome: "sealed"; fresh: boolean; seen: SeenFence }
  /** This content of the draft was accepted before: there is nothing left but to write that down. */
  | { outcome: "published"; published: Record<string, Oid>; seen: SeenFence }
  /** A later holder was here. `why`: in a sentence without its capital. */
  | { outcome: "superseded"; why: string; seen: SeenFence };

/** Lost swaps in a row before the store counts as unavailable. */
const mostConflicts = 50;

/**
 * Puts the token on the destination's fence. To be done before the destination is read: a late holder can be accepted
 * until then, and what it wrote is then there to be read.
 * @throws RecordInvalid, StoreUnavailable, StoreRefused
 */
export async function sealDestination(
  { store, clock, chance }: Ports,
  guarded: Guarded,
  sealer: Sealer,
  options: CallOptions = {},
): Promise<Sealed> {
  const name = fenceRecordName(guarded);
  let keepChain = false;
  for (let conflicts = 0; conflicts < mostConflicts; conflicts++) {
    const { records } = await store.read([name], options);
    const decision = seal(readFence(records[0] ?? null), guarded, sealer, {
      nonce: chance.nonce(),
      keepChain,
    });
    if (decision.outcome === "superseded")
      return { ...decision, why: higher(guarded, sealer.token, decision.seen) };
    if (decision.outcome === "sealed") return { ...decision, fresh: false };
    if (decision.outcome !== "seal") return decision;
    const written = await swapFence(store, guarded, decision.write, options).catch((error) => {
      // A server may take fast-forwards only; then the history stays long.
      if (!(error instanceof StoreRefused) || !decision.write.root || decision.write.expected === null)
        throw error;
      keepChain = true;
      return null;
    });
    if (written) return { outcome: "sealed", fresh: true, seen: written };
    await clock.sleep(Math.min(20 * 2 ** conflicts, 1000) * (0.5 + chance.random()), options.signal);
  }
  throw new StoreUnavailable(
    `The fence of ${quote(guarded.name)} changed ${mostConflicts} times while it was being sealed. Try again later.`,
  );
}

/** What was written, or null when somebody was faster. */
async function swapFence(
  store: Store,
  guarded: Guarded,
  { record, expected, root }: FenceWrite,
  options: CallOptions,
): Promise<SeenFence | null> {
  const next = { message: fenceMessage(record), root };
  const result = await store.swap([{ name: fenceRecordName(guarded), expected, next }], options);
  const written = result.outcome === "applied" ? result.written[0] : null;
  return written ? { record, oid: written.oid } : null;
}

function higher({ of, name }: Guarded, token: number, { record }: SeenFence): string {
  const by = describeClaim(record.holder);
  return `token ${token} of the ${of} ${quote(name)} is too late: the fence of the destination has token ${record.token}, by ${by}`;
}

/** The fence of a destination as what must move with the branch there. It must have been sealed before. */
export function destinationFence(guarded: Guarded, owner: Ownership, chance: Chance): Fence {
  const { name } = guarded;
  const { token } = owner;
  return {
    record: fenceRecordName(guarded),
    name,
    token,
    check(seen) {
      const found = readFence(seen)?.record.token ?? 0;
      if (found >= token) return;
      throw new TokenRegressed(
        `The fence of ${quote(name)} in the destination went backwards: token ${token} was sealed, and now ${
          found === 0 ? "its record is gone" : `it says ${found}`
        }. Nothing was written. Put its branch back to its last good commit before anything runs again.`,
      );
    },
    isMine: (seen): seen is Versioned => isOpen(readFence(seen), guarded, owner),
    succeed(seen, published) {
      const found = readFence(seen);
      if (!isOpen(found, guarded, owner)) throw new Error("a fence that was open is not");
      return fenceMessage(acceptance(found, published, chance.nonce()).record);
    },
    lost(seen) {
      const found = readFence(seen);
      if (found === null) return `the fence of ${quote(name)} is gone from the destination.`;
      if (found.record.token === token && found.record.holder.id === owner.claim.id)
        return `token ${token} of the ${guarded.of} ${quote(name)} was accepted here already, and is good for one push.`;
      return `${higher(guarded, token, found)}.`;
    },
  };
}
