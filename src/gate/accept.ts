// Any other resource: the fence advances first, and then the write is made, at most once for each token.
import type { Ports } from "../lease/lease.js";
import type { Claim } from "../protocol/claim.js";
import { quote } from "../protocol/names.js";
import type { CallOptions } from "../store/store.js";
import { sealDestination } from "./foreign.js";

export type Accepted<T> =
  | { outcome: "accepted"; value: T }
  /** The fence has this token already, or a higher one: `token` and `holder` of the one that it has. */
  | { outcome: "superseded"; token: number; holder: Claim; why: string };

/**
 * Lets one write through for each token of a resource: a row, a page behind an API, anything that is not a git branch.
 * The fence, a record in `store`, is advanced to the token first, and only then `commit` is called. So a token that is
 * not higher than every one before it commits nothing, and a crash in between uses the token up: the write is made at
 * most once, and the next holder's higher token can make it.
 *
 * A write that is under way when a higher token advances the fence is no longer stopped by it. Where that matters, the
 * resource itself must compare the token that `commit` is given: `… WHERE fence < $1`.
 *
 * @param resource 1 character or more. One name for one thing that is written.
 * @throws RecordInvalid, StoreUnavailable, StoreRefused before `commit` was called; and whatever `commit` throws.
 */
export async function accept<T>(
  ports: Ports,
  resource: string,
  owner: { token: number; claim: Claim },
  commit: (token: number) => Promise<T> | T,
  options: CallOptions = {},
): Promise<Accepted<T>> {
  const sealed = await sealDestination(ports, { of: "resource", name: resource }, owner, options);
  const { token, holder } = sealed.seen.record;
  if (sealed.outcome === "sealed" && sealed.fresh)
    return { outcome: "accepted", value: await commit(owner.token) };
  const used = `token ${owner.token} was used for ${quote(resource)} already, and is good for one write`;
  const why = sealed.outcome === "superseded" ? sealed.why : used;
  return { outcome: "superseded", token, holder, why };
}
