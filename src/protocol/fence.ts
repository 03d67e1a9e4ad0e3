// The fence of a destination that is not the lease's own repository: the highest token that it has sealed or accepted.
import * as v from "valibot";
import { type Claim, claimSchema, describeClaim, oneLine, sameClaim } from "./claim.js";
import { longestChain } from "./lease.js";
import { type RecordName, recordName } from "./names.js";
import { decodeRecord, encodeRecord, envelope, format, type Oid, type Versioned } from "./record.js";

/** What a token was given for: each has a fence of its own. */
export interface Guarded {
  of: "lease" | "draft" | "resource";
  /** The lease, the path of the draft, or the name of the resource. */
  name: string;
}

const oid = v.pipe(v.string(), v.regex(/^[0-9a-f]{40,64}$/));

const fenceSchema = v.looseObject({
  ...envelope,
  kind: v.literal("fence"),
  event: v.picklist(["sealed", "accepted"]),
  /** The highest token that was sealed or accepted here. It never falls. */
  token: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  holder: claimSchema,
  /** The draft's blob that the token is for. */
  fingerprint: v.optional(oid),
  /** The last write that was accepted: under which token, of which content, and what it put where. */
  accepted: v.optional(
    v.looseObject({
      token: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
      fingerprint: v.optional(oid),
      published: v.record(v.string(), v.string()),
    }),
  ),
});

export type FenceRecord = v.InferOutput<typeof fenceSchema>;

export interface SeenFence {
  record: FenceRecord;
  oid: Oid;
}

/** A write that the rules allow, to be made only if `expected` is still the tip. */
export interface FenceWrite {
  record: FenceRecord;
  expected: Oid | null;
  /** Begin a new root commit, to keep the history short. */
  root: boolean;
}

/** No lease can have an empty part in its name, so drafts and resources never meet one. */
function fenceName({ of, name }: Guarded): string {
  return of === "lease" ? name : `${of}s//${name}`;
}

/** Whether a fence is a draft's. */
export function isDraftFence(seen: SeenFence | null): boolean {
  return seen?.record.name.startsWith("drafts//") ?? false;
}

export function fenceRecordName(guarded: Guarded): RecordName {
  return recordName("fence", fenceName(guarded));
}

/** @throws RecordInvalid */
export function readFence(seen: Versioned | null): SeenFence | null {
  return seen && { record: decodeRecord("fence", fenceSchema, seen), oid: seen.oid };
}

/** @throws ValiError for a record that its readers would refuse. */
export function fenceMessage(record: FenceRecord): string {
  const { name, token, event, holder, accepted } = record;
  const what = event === "sealed" ? "sealed for" : `accepted ${words(accepted?.published ?? {})}from`;
  const sentence = oneLine(`fence ${name} #${token} ${what} ${describeClaim(holder)}`);
  return encodeRecord(sentence, v.parse(fenceSchema, record));
}

function words(published: Record<string, Oid>): string {
  const parts = Object.entries(published).map(
    ([ref, commit]) => `${ref.replace(/^refs\/(heads|tags)\//, "")} ${commit.slice(0, 10)} `,
  );
  return parts.slice(0, 4).join("");
}

/** Who writes: a token, and the claim that it was given to. */
export interface Sealer {
  token: number;
  claim: Claim;
  /** Of the draft's content, where the token is for a draft. */
  fingerprint?: Oid | undefined;
}

export type SealDecision =
  | { outcome: "seal"; write: FenceWrite }
  /** It is ours already. */
  | { outcome: "sealed"; seen: SeenFence }
  /** This very content of the draft was accepted before, by whatever claim, and nobody wrote that down. */
  | { outcome: "published"; seen: SeenFence; published: Record<string, Oid> }
  | { outcome: "superseded"; seen: SeenFence };

/**
 * Puts a new holder's token on the fence, before it reads the destination: from then on no older token is accepted.
 * Tokens never fall, and the same token belongs to one claim.
 */
export function seal(
  seen: SeenFence | null,
  guarded: Guarded,
  { token, claim, fingerprint }: Sealer,
  { nonce, keepChain = false }: { nonce: string; keepChain?: boolean },
): SealDecision {
  if (seen !== null && seen.record.token > token) return { outcome: "superseded", seen };
  const accepted = seen?.record.accepted;
  if (seen && accepted && guarded.of === "draft" && fingerprint && accepted.fingerprint === fingerprint)
    return { outcome: "published", seen, published: accepted.published };
  if (seen !== null && seen.record.token === token)
    return sameClaim(seen.record.holder, claim)
      ? { outcome: "sealed", seen }
      : { outcome: "superseded", seen };
  const root = seen === null || (seen.record.depth >= longestChain && !keepChain);
  const record: FenceRecord = {
    fencepost: format,
    kind: "fence",
    name: fenceName(guarded),
    event: "sealed",
    token,
    holder: claim,
    ...(fingerprint ? { fingerprint } : {}),
    ...(accepted ? { accepted } : {}),
    previous: seen?.oid ?? null,
    depth: root ? 1 : seen.record.depth + 1,
    nonce,
  };
  return { outcome: "seal", write: { record, expected: seen?.oid ?? null, root } };
}

/**
 * Whether a write under this token may still be accepted: the fence has this very token and claim, and, except for a
 * lease, nothing was accepted under it yet.
 */
export function isOpen(
  seen: SeenFence | null,
  guarded: Guarded,
  owner: { token: number; claim: Pick<Claim, "id"> },
): seen is SeenFence {
  return (
    seen !== null &&
    seen.record.token === owner.token &&
    sameClaim(seen.record.holder, owner.claim) &&
    (guarded.of === "lease" || seen.record.event === "sealed")
  );
}

/** The record that goes with an accepted write, over a fence that is open for it. */
export function acceptance(seen: SeenFence, published: Record<string, Oid>, nonce: string): FenceWrite {
  const { fingerprint, token } = seen.record;
  const record: FenceRecord = {
    ...seen.record,
    event: "accepted",
    accepted: { token, ...(fingerprint ? { fingerprint } : {}), published },
    previous: seen.oid,
    depth: seen.record.depth + 1,
    nonce,
  };
  return { record, expected: seen.oid, root: false };
}
