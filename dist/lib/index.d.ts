import type { Accepted, AcquireOptions, AcquireResult, CallOptions, Claim, ErrorClass, GithubStoreOptions, Holding, Keeping, KeepOptions, LeaseStatus, PublishRequest, PublishResult, Store, Superseded } from "./types.js";
export type * from "./types.js";
/** A name, prefix, branch or path that cannot be used. */
export declare const NameInvalid: ErrorClass;
/** A duration that cannot be read, or is out of range. */
export declare const DurationInvalid: ErrorClass;
/** A record that exists and cannot be used: rubbish, or of a newer format. It is never free. */
export declare const RecordInvalid: ErrorClass;
/** A record went backwards. The only safe thing is to stop. */
export declare const TokenRegressed: ErrorClass;
/** The store cannot be reached, or an outcome stayed unknown. Trying again later may work. */
export declare const StoreUnavailable: ErrorClass;
/** The store said no, definitely: rights or rules. */
export declare const StoreRefused: ErrorClass;
/** The store's address or set-up is wrong. */
export declare const StoreMisconfigured: ErrorClass;
/**
 * Records in branches of a repository on GitHub, written and dated by GitHub itself.
 * @throws StoreMisconfigured when the repository is not `owner/name`; NameInvalid for a prefix that cannot be used
 */
export declare function githubStore(options: GithubStoreOptions): Store;
/** Records in a map, for tests. They are gone with the process. */
export declare function memoryStore(): Store;
/**
 * Takes the lease, or says who holds it.
 * @throws NameInvalid for a name that cannot be used; StoreUnavailable, StoreRefused, RecordInvalid
 */
export declare function acquire(store: Store, options: AcquireOptions): Promise<AcquireResult>;
/**
 * Renews the lease, if it is still this claim's: to be done every third of the TTL. `keep` does it for you.
 * @throws StoreUnavailable, TokenRegressed
 */
export declare function renew(store: Store, holding: Holding, options?: CallOptions): Promise<{
    outcome: "renewed";
    holding: Holding;
} | Superseded>;
/**
 * Gives the lease back, if it is still this claim's. The token stays in its record, and rises with the next holder.
 * @throws StoreUnavailable, TokenRegressed
 */
export declare function release(store: Store, holding: Holding, options?: CallOptions): Promise<{
    outcome: "released";
} | Superseded>;
/**
 * Renews the lease every third of its TTL until it is stopped or lost. For runtimes that keep running: a Worker that
 * is put to sleep between requests renews by `renew` instead.
 */
export declare function keep(store: Store, holding: Holding, { onLost, onFailing }?: KeepOptions): Keeping;
/** The lease as it is, or null if it was never held. @throws RecordInvalid, StoreUnavailable */
export declare function status(store: Store, lease: string, options?: CallOptions): Promise<LeaseStatus | null>;
/**
 * Frees a lease by force, for people: `token` is the one that they saw, and it advances. What its holder still publishes
 * is refused.
 * @returns `free` or `moved_on` when nothing was done, since it is free, or has another token by now
 */
export declare function unlock(store: Store, ask: {
    lease: string;
    token: number;
    by: string;
    reason: string;
}): Promise<{
    outcome: "unlocked";
    token: number;
} | {
    outcome: "absent" | "free" | "moved_on";
}>;
/**
 * Publishes one commit without git: the branch and the lease move in one transaction of GitHub's, or neither does. So a
 * holder that was superseded cannot move the branch, whatever it believes and whenever it wakes up.
 *
 * Requests: 5 with text files; one more for each file of bytes that are no text.
 *
 * @param store made by `githubStore`
 * @throws NameInvalid for a branch or a path that cannot be used, TypeError for a request that makes no sense; both before anything is written
 */
export declare function publishCommit(store: Store, holding: Holding, request: PublishRequest): Promise<PublishResult>;
/**
 * Lets one write through for each token of a resource that is no branch: a row, a page behind an API. The fence, a
 * record in the store, advances to the token first; only then `commit` is called with it. A token that is not higher than
 * every one before it commits nothing, and a crash in between uses the token up.
 *
 * A commit that is under way when a higher token comes is not stopped by the fence. So the resource itself must compare
 * as well: `UPDATE … WHERE fence < $1`.
 *
 * @param resource one name for one thing that is written, 1 character or more
 * @param owner a holding, or any rising token with its claim
 * @throws StoreUnavailable, StoreRefused, RecordInvalid before `commit` was called; and whatever `commit` throws
 */
export declare function accept<T>(store: Store, resource: string, owner: {
    token: number;
    claim: Claim;
}, commit: (token: number) => Promise<T> | T, options?: CallOptions): Promise<Accepted<T>>;
