/** Milliseconds since the epoch. */
export type Instant = number;
/** The id of a git object: 40 or 64 hexadecimal digits. */
export type Oid = string;
/** Who holds: one attempt of one piece of work, never a person or a machine. */
export interface Claim {
    /** Random, 8 to 64 letters, digits or `-`. The only thing that makes two claims the same. */
    id: string;
    /** Where it runs, for people; at most 300 characters. */
    host?: string | undefined;
    pid?: number | undefined;
    repository?: string | undefined;
    runId?: string | undefined;
    runAttempt?: number | undefined;
    job?: string | undefined;
    /** Where a person can watch it. */
    url?: string | undefined;
}
/**
 * A lease that is held. A plain value: it may be kept as JSON and used in another process. What it proves is decided by
 * the store each time, never by having it.
 */
export interface Holding {
    readonly lease: string;
    /** The fencing token: an integer that rises each time the lease changes hands. */
    readonly token: number;
    readonly claim: Claim;
    /** The last known write of the lease's record. */
    readonly oid: Oid;
    /** When that was written, on the store's clock. */
    readonly writtenAt: Instant;
    /** The record itself. */
    readonly record: Readonly<Record<string, unknown>>;
}
/** A record as a store has it. */
export interface Versioned {
    name: string;
    oid: Oid;
    /** The store's time of the write. */
    writtenAt: Instant;
    parents: Oid[];
    /** The whole text of the record. */
    message: string;
}
/** One write of a swap, made only if the record is still at `expected` (null: absent). */
export interface Change {
    name: string;
    expected: Oid | null;
    /** The new text; null removes the record. `root` starts a new history instead of a child of `expected`. */
    next: {
        message: string;
        root?: boolean;
    } | null;
}
export interface CallOptions {
    signal?: AbortSignal | undefined;
}
/**
 * Where records live. A store decides nothing: it compares and swaps. For one of your own, the rules that it has to keep
 * are those of `docs/protocol.md`, "The store".
 */
export interface Store {
    /** For people: where this is, without credentials. */
    readonly label: string;
    /** Whether `writtenAt` and `now` are the store's own clock. If not, they are the clocks of the writers. */
    readonly stamps: boolean;
    /** Several records at once, with the store's time of the read. Absent records are null. */
    read(names: readonly string[], options?: CallOptions): Promise<{
        now: Instant;
        records: (Versioned | null)[];
    }>;
    /** Every record whose name starts with the prefix, for instance `lease/`. */
    list(prefix: string, options?: CallOptions): AsyncIterable<Versioned>;
    /** The chain of one record, newest first, at most `limit` writes. */
    history(name: string, limit: number, options?: CallOptions): Promise<Versioned[]>;
    /** All changes or none. A lost reply is resolved in here; what stays unknown is thrown as `StoreUnavailable`. */
    swap(changes: readonly Change[], options?: CallOptions): Promise<{
        outcome: "applied";
        written: (Versioned | null)[];
    } | {
        outcome: "conflict";
    }>;
    /** Whether the record is still at this write, asked in a way that costs nothing while it is. */
    unchanged?(seen: {
        name: string;
        oid: Oid;
    }, options?: CallOptions): Promise<boolean>;
    /** Frees what the store holds on this machine. */
    close(): Promise<void>;
}
export interface GithubStoreOptions {
    /** Needs `contents: write`. */
    token: string;
    /** `owner/name` */
    repository: string;
    /** The branches that hold the records begin with this. Default: `fencepost`. */
    prefix?: string;
    /** Default: `https://api.github.com`. On GitHub Enterprise Server `https://HOST/api/v3`. */
    apiUrl?: string;
    /** Default: `https://api.github.com/graphql`. On GitHub Enterprise Server `https://HOST/api/graphql`. */
    graphqlUrl?: string;
    /** What a person should know and nothing fails for, such as a wait for a rate limit. Default: nobody is told. */
    warn?: (text: string) => void;
}
export interface AcquireOptions extends CallOptions {
    /** One name for one thing that must not be written twice at once: 1 to 200 characters. */
    lease: string;
    /** How long it lasts without renewal: such as `15m`, or milliseconds. 2 s to 7 d. Default: 15 minutes. */
    ttl?: string | number;
    /** How long to wait while somebody else holds it: such as `10m`, or milliseconds. Default: not at all. */
    wait?: string | number;
    /** Who asks, for people: such as `worker publish`. */
    holder?: string;
    /** The whole claim, where `holder` is not enough. Without an id it gets one. */
    claim?: Partial<Claim>;
    /** Told at the first refusal, and again every half minute while it waits. */
    onHeld?: (held: Held) => void;
}
/** A lease that somebody else holds. */
export interface Held {
    token: number;
    /** In words. */
    holder: string;
    claim: Claim;
    /** When it ends without renewal, on the store's clock. */
    expiresAt: Date;
}
export type AcquireResult = {
    outcome: "acquired";
    holding: Holding;
    /** Why it was free. */
    reason: "new" | "released" | "expired" | "finished" | "retried";
} | ({
    outcome: "skipped_overlap";
} & Held);
/** `why`: in a sentence. Whatever this claim still publishes is refused. */
export type Superseded = {
    outcome: "superseded";
    why: string;
};
export interface KeepOptions {
    /** The lease is lost, for good: stop the work. `doubt`: no renewal succeeded for two thirds of the TTL. */
    onLost?: (lost: {
        why: "superseded" | "doubt" | "regressed";
        detail: string;
    }) => void;
    /** A renewal failed; the next one is tried soon. */
    onFailing?: (why: string) => void;
}
export interface Keeping {
    /** The holding as it was last renewed. */
    holding(): Holding;
    /** Whether it is lost. */
    lost(): boolean;
    /** Ends the renewals, and resolves when none is under way. Releases nothing. */
    stop(): Promise<void>;
}
export interface LeaseStatus {
    lease: string;
    token: number;
    state: "held" | "expired" | "released";
    holder: string;
    claim: Claim;
    /** When it began. */
    since: Date;
    /** When it ends, or ended, without renewal. */
    expiresAt: Date;
}
/** A plain file, a program, or a symbolic link. */
export type FileMode = "100644" | "100755" | "120000";
/** Text, bytes, or null: the file is removed. */
export type FileContent = string | Uint8Array | null | {
    content: string | Uint8Array;
    mode?: FileMode;
};
export interface PublishRequest extends CallOptions {
    /** `main`, or a full ref. It is made if it does not exist. */
    branch: string;
    message: string;
    /** By path from the top of the repository, what is laid over the branch's tree. */
    files?: Readonly<Record<string, FileContent>>;
    /** Instead of `files`: the id of a whole tree, which replaces the branch's. */
    tree?: Oid;
    /** The tip of the branch that the files or the tree were made from (null: no branch). With another one there it is `moved`. */
    base?: Oid | null;
    /** Default: the token's owner, whose commits GitHub signs if that is an app. */
    author?: {
        name: string;
        email: string;
    };
    /** When the branch has moved: lay the files over the new tip (default with `files`), or give up (default with `tree`). */
    onMoved?: "rebuild" | "fail";
    /** Rounds at the most, each of which may meet a branch that moved or a lost reply. 1 to 20. Default: 5. */
    attempts?: number;
}
export type PublishResult = 
/** Branch and lease moved together. `holding`: the lease as the publish has renewed it. */
{
    outcome: "pushed";
    commit: Oid;
    holding: Holding;
    rebuilt: boolean;
}
/** The branch has all of it already. */
 | {
    outcome: "unchanged";
    commit: Oid;
}
/** The lease is somebody else's. Final. */
 | {
    outcome: "superseded";
    why: string;
    commit: Oid | null;
}
/** `commit`: what was made and is on no branch, if anything. `unavailable`: whether it was published is not known. */
 | {
    outcome: "moved" | "refused" | "broken" | "unavailable";
    why: string;
    commit: Oid | null;
};
export interface GitStoreOptions {
    /** A remote of the clone in `directory`, a URL, or a path. */
    at: string;
    /** Default: the process's own. */
    directory?: string;
    /** The branches that hold the records begin with this. Default: `fencepost`. */
    prefix?: string;
}
export interface PushRequest extends CallOptions {
    /** The clone to push from. Default: the process's own folder. */
    directory?: string;
    /** `main`, or a full ref. */
    branch: string;
    /** A revision of the clone. Default: `HEAD`. */
    head?: string;
    /** Names of tags that move in the same push. */
    tags?: readonly string[];
    /** Replace the branch, whatever its history, if it is still at this commit (null: absent). */
    replaces?: Oid | null;
    /** When the branch has moved: rebase on it (default), or give up. */
    onMoved?: "rebase" | "fail";
    /** Rounds at the most, 1 to 20. Default: 5. */
    attempts?: number;
    /** Told what is under way. Default: nobody. */
    say?: (text: string) => void;
}
export type PushResult = 
/** `rebased`: another commit than `head`, on a tip that had moved. */
{
    outcome: "pushed";
    commit: Oid;
    holding: Holding;
    rebased: boolean;
} | {
    outcome: "unchanged";
    commit: Oid;
}
/** `kept`: where the commits are now, in a sentence. */
 | {
    outcome: "superseded" | "moved" | "refused" | "broken" | "unavailable";
    why: string;
    kept: string;
};
export type Accepted<T> = {
    outcome: "accepted";
    value: T;
}
/** The fence has this token already, or a higher one: the one that it has. */
 | {
    outcome: "superseded";
    token: number;
    holder: string;
    why: string;
};
/** For `instanceof`. The message is a sentence for people. */
export interface ErrorClass {
    new (...args: never[]): Error;
    readonly prototype: Error;
}
