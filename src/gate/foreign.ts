// A destination that is not the lease's own repository: its fence is sealed first, and moves with each push.
import type { Chance } from "../chance.js";
import type { Ports } from "../lease/lease.js";
import { type Claim, describeClaim } from "../protocol/claim.js";
import { type DraftHolding, readDraftRecord, type SeenDraft } from "../protocol/draft.js";
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
import {
  type Holding,
  type Ownership,
  readLease,
  type SeenLease,
  TokenRegressed,
} from "../protocol/lease.js";
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

/** A token that is held, with what it is for. */
export type HeldToken = { of: Fence["of"]; name: string } & Sealer;

/** What a run holds, as the fences of another repository know it. */
export function tokensFor(
  lease: Holding | null | undefined,
  draft: DraftHolding | null | undefined,
): HeldToken[] {
  const held: HeldToken[] = [];
  if (lease) held.push({ of: "lease", name: lease.lease, token: lease.token, claim: lease.claim });
  if (draft) {
    const { draft: name, token, claim, record } = draft;
    held.push({ of: "draft", name, token, claim, fingerprint: record.fingerprint });
  }
  return held;
}

/**
 * Seals the fences of everything that is held, in order.
 * @returns the first that is not sealed, or null when all are.
 */
export async function sealAll(
  ports: Ports,
  held: readonly HeldToken[],
  options: CallOptions = {},
): Promise<Exclude<Sealed, { outcome: "sealed" }> | null> {
  for (const { of, name, ...sealer } of held) {
    const sealed = await sealDestination(ports, { of, name }, sealer, options);
    if (sealed.outcome !== "sealed") return sealed;
  }
  return null;
}

export type HeldHere =
  | { held: HeldToken[]; draft: DraftHolding | undefined }
  /** Something is not held any more. `why`: in a sentence or two, the first without its capital. */
  | { why: string };

/**
 * What is held, by the word of its own store: the tokens for another repository. That it is held still is no guard, for
 * the fence there is one; it finds out earlier, and says it better.
 * @throws RecordInvalid, TokenRegressed, StoreUnavailable
 */
export async function heldHere(
  store: Store,
  fences: readonly Fence[],
  options: CallOptions = {},
): Promise<HeldHere> {
  const { now, records } = await store.read(
    fences.map(({ record }) => record),
    options,
  );
  const found: { held: HeldToken[]; draft: DraftHolding | undefined } = { held: [], draft: undefined };
  for (const [i, fence] of fences.entries()) {
    const seen = records[i] ?? null;
    fence.check(seen);
    if (!fence.isMine(seen)) return { why: fence.lost(seen, now) };
    const { name, token } = fence;
    if (fence.of === "lease") {
      const claim = (readLease(seen) as SeenLease).record.holder;
      found.held.push({ of: "lease", name, token, claim });
    } else {
      const draft = readDraftRecord(seen) as SeenDraft;
      const { holder, fingerprint } = draft.record;
      const claim = holder as Claim;
      found.held.push({ of: "draft", name, token, claim, fingerprint });
      found.draft = { draft: name, token, claim, ...draft };
    }
  }
  return found;
}

/** What must move with the branch in another repository. At least one token is held. */
export function destinationFences(held: readonly HeldToken[], chance: Chance): [Fence, ...Fence[]] {
  return held.map(({ of, name, ...owner }) => destinationFence({ of, name }, owner, chance)) as [
    Fence,
    ...Fence[],
  ];
}

/** What a push to another repository put there, by the fence that went with it. */
export function acceptedIn(written: readonly Versioned[]): Record<string, Oid> {
  const fence = written.find(({ name }) => name.startsWith("fence/"));
  return (fence && readFence(fence)?.record.accepted?.published) ?? {};
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
export function destinationFence(
  guarded: Guarded & { of: Fence["of"] },
  owner: Ownership,
  chance: Chance,
): Fence {
  const { name } = guarded;
  const { token } = owner;
  return {
    record: fenceRecordName(guarded),
    of: guarded.of,
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
