import type { ErrorClass, GitStoreOptions, Holding, PushRequest, PushResult, Store } from "./types.js";
export * from "./index.js";
/** A store or remote that was named and does not exist. */
export declare const RemoteUnknown: ErrorClass;
/** git said no to something that was asked of the clone. */
export declare const GitFailed: ErrorClass;
/**
 * Records in branches on any git server, or in a bare repository on this machine. Close it when done: it has a temporary folder.
 * @throws RemoteUnknown when there is no such remote, URL or path; NameInvalid for a prefix that cannot be used
 */
export declare function gitStore({ at, directory, prefix, }: GitStoreOptions): Promise<Store>;
/**
 * Pushes a commit of a clone and moves the lease in the same atomic push, so that the server itself refuses a holder that
 * was superseded. What is not pushed is kept on a branch `fencepost/rescue/…`, or in a bundle.
 * @param store made by `gitStore`; its repository is the one that is pushed to
 * @throws NameInvalid, TypeError, and GitFailed for a revision or tag that does not exist, all before anything is written
 */
export declare function push(store: Store, holding: Holding, request: PushRequest): Promise<PushResult>;
