// Which record may follow which at the tip of a ref, as a server can judge it: by values alone, without a clock.
import { describeClaim, sameClaim } from "./claim.js";
import type { SeenDraft } from "./draft.js";
import type { SeenFence } from "./fence.js";
import type { SeenFloor } from "./floor.js";
import type { SeenLease } from "./lease.js";
import type { Oid } from "./record.js";

/** What every kind of record has, as far as succession is concerned. */
interface Seen {
  oid: Oid;
  record: { token: number; previous: Oid | null; depth: number; event: string };
}

/**
 * Why a lease's record may not replace the one that is there, or null when it may. Whether the time of a takeover had
 * come is not judged: a wrong guess about time costs a takeover, never a late write.
 */
export function leaseSuccession(there: SeenLease | null, next: SeenLease): string | null {
  if (there === null) return null;
  const [was, is] = [there.record, next.record];
  if (is.token < was.token)
    return `its token ${is.token} was superseded: the lease is at token ${was.token}, of ${describeClaim(was.holder)}`;
  const chain = chainProblem(there, next);
  if (chain) return chain;
  if (is.token > was.token) return takeoverProblem(there, next, ["acquired", "unlocked"]);
  if (is.event === "acquired" || is.event === "unlocked")
    return `a lease that changes hands has a new token, and this one keeps token ${is.token}`;
  if (was.state !== "held") return `token ${was.token} was released, and only a new claim can follow`;
  if (!sameClaim(was.holder, is.holder))
    return `token ${was.token} is held by ${describeClaim(was.holder)}, and this is another claim's record`;
  return null;
}

/** The same for the record of a draft. Sweeps may end an attempt of anybody's; nobody but its claim may publish it. */
export function draftSuccession(there: SeenDraft | null, next: SeenDraft): string | null {
  if (there === null) return null;
  const [was, is] = [there.record, next.record];
  if (is.token < was.token) return `its token ${is.token} was superseded: the draft is at token ${was.token}`;
  const chain = chainProblem(there, next);
  if (chain) return chain;
  if (was.state === "published" && is.fingerprint === was.fingerprint)
    return "what the draft says now was published already, and stays so";
  if (is.token > was.token) return takeoverProblem(there, next, ["claimed"]);
  if (is.event === "claimed") return `a claim has a new token, and this one keeps token ${is.token}`;
  if (is.state !== "held" && is.state !== "published") return null;
  if (was.state !== "held") return `the draft is ${was.state}, and only a new claim can follow`;
  if (!was.holder || !is.holder || !sameClaim(was.holder, is.holder))
    return `token ${was.token} is another claim's${was.holder ? `, of ${describeClaim(was.holder)}` : ""}`;
  return null;
}

/** Why a draft's record may not be removed, or null. `floor`: the highest token that no draft begins below, afterwards. */
export function draftRemoval(there: SeenDraft, floor: number): string | null {
  const { state, token } = there.record;
  if (state !== "published") return `the draft is ${state}, and only a published draft's record may go`;
  if (floor >= token) return null;
  return `the floor under the tokens of drafts is ${floor}, and must be raised to ${token} in the same push`;
}

/** The same for the fence of a destination: tokens never fall, and one claim alone has each. */
export function fenceSuccession(there: SeenFence | null, next: SeenFence): string | null {
  if (there === null) return null;
  const [was, is] = [there.record, next.record];
  if (is.token < was.token) return `its token ${is.token} was superseded: the fence is at token ${was.token}`;
  const chain = chainProblem(there, next);
  if (chain) return chain;
  if (is.token > was.token && is.event !== "sealed") return `token ${is.token} was never sealed here`;
  if (is.token === was.token && !sameClaim(was.holder, is.holder))
    return `token ${was.token} is ${describeClaim(was.holder)}'s, and this is another claim's record`;
  if (is.event === "accepted") {
    // Only a lease's token may publish more than once.
    const once = /^[a-z]+s\/\//.test(is.name);
    return once && was.event === "accepted" ? `token ${was.token} was accepted already` : null;
  }
  if (is.token === was.token) return `token ${was.token} was sealed already`;
  if (JSON.stringify(is.accepted) !== JSON.stringify(was.accepted))
    return "a seal keeps what was accepted before";
  const content = was.accepted?.fingerprint;
  if (content !== undefined && content === is.fingerprint) return "this very content was accepted already";
  return null;
}

/** Why the floor under the tokens of drafts may not become this, or null. */
export function floorSuccession(there: SeenFloor | null, next: SeenFloor): string | null {
  if (there === null) return null;
  if (next.record.token < there.record.token)
    return `the floor under the tokens of drafts never falls, and this is ${next.record.token} after ${there.record.token}`;
  return next.record.previous === there.oid ? null : notOnTop(next.record.previous, there.oid);
}

/** That a record names as its parent the one that it replaces is the reader's check; here, that this one is at the tip. */
function chainProblem(there: Seen, { record }: Seen): string | null {
  if (record.previous !== there.oid) return notOnTop(record.previous, there.oid);
  if (record.depth > 1 || record.token > there.record.token) return null;
  return "it begins a new history without a new token";
}

function takeoverProblem(there: Seen, { record }: Seen, events: readonly string[]): string | null {
  const due = there.record.token + 1;
  if (record.token !== due) return `a token rises by one, to ${due}, and this one says ${record.token}`;
  return events.includes(record.event) ? null : `"${record.event}" does not give a new token`;
}

function notOnTop(previous: Oid | null, tip: Oid): string {
  return `it replaces ${previous?.slice(0, 10) ?? "nothing"}, and ${tip.slice(0, 10)} is there`;
}
