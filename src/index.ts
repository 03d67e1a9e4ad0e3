// The library: leases, the publish without git, and the fence of any other resource. Runs wherever there is `fetch`.
import { accept as acceptOn } from "./gate/accept.js";
import { commitBehindFence } from "./gate/commit.js";
import { leaseFence, pushedHolding } from "./gate/fence.js";
import { githubClient } from "./github/client.js";
import { describeHolding } from "./lease/describe.js";
import { heartbeat } from "./lease/heartbeat.js";
import { acquireLease, type Ports, readOne, succeedLease, unlockLease } from "./lease/lease.js";
import { checkedClaim, describeClaim } from "./protocol/claim.js";
import * as durations from "./protocol/duration.js";
import { type DurationRange, parseDuration } from "./protocol/duration.js";
import * as leases from "./protocol/lease.js";
import { defaultSkew, expiresAt, type Holding as Inner, type SeenLease } from "./protocol/lease.js";
import * as names from "./protocol/names.js";
import { branchRef, defaultPrefix, leaseName, refPrefix } from "./protocol/names.js";
import * as records from "./protocol/record.js";
import { type GithubAccess, githubAccess, githubStoreOn } from "./store/github.js";
import { memoryStore as inMemory } from "./store/memory.js";
import type { Store as InnerStore } from "./store/store.js";
import * as stores from "./store/store.js";
import type {
  Accepted,
  AcquireOptions,
  AcquireResult,
  CallOptions,
  Claim,
  ErrorClass,
  GithubStoreOptions,
  Held,
  Holding,
  Keeping,
  KeepOptions,
  LeaseStatus,
  PublishRequest,
  PublishResult,
  Store,
  Superseded,
} from "./types.js";
import { webChance, webClock } from "./web.js";

export type * from "./types.js";
/** A name, prefix, branch or path that cannot be used. */
export const NameInvalid: ErrorClass = names.NameInvalid;
/** A duration that cannot be read, or is out of range. */
export const DurationInvalid: ErrorClass = durations.DurationInvalid;
/** A record that exists and cannot be used: rubbish, or of a newer format. It is never free. */
export const RecordInvalid: ErrorClass = records.RecordInvalid;
/** A record went backwards. The only safe thing is to stop. */
export const TokenRegressed: ErrorClass = leases.TokenRegressed;
/** The store cannot be reached, or an outcome stayed unknown. Trying again later may work. */
export const StoreUnavailable: ErrorClass = stores.StoreUnavailable;
/** The store said no, definitely: rights or rules. */
export const StoreRefused: ErrorClass = stores.StoreRefused;
/** The store's address or set-up is wrong. */
export const StoreMisconfigured: ErrorClass = stores.StoreMisconfigured;

const ttlRange: DurationRange = { least: 2000, most: 7 * 86_400_000 };
const waitRange: DurationRange = { least: 0, most: 7 * 86_400_000 };

const ports = (store: Store): Ports => ({ store: store as InnerStore, clock: webClock, chance: webChance });
const inner = (holding: Holding) => holding as unknown as Inner;
const outer = (holding: Inner) => holding as unknown as Holding;

const accesses = new WeakMap<Store, GithubAccess>();

/**
 * Records in branches of a repository on GitHub, written and dated by GitHub itself.
 * @throws StoreMisconfigured when the repository is not `owner/name`; NameInvalid for a prefix that cannot be used
 */
export function githubStore(options: GithubStoreOptions): Store {
  const { token, repository, prefix = defaultPrefix, warn = () => {} } = options;
  const { apiUrl = "https://api.github.com", graphqlUrl = "https://api.github.com/graphql" } = options;
  const octokit = githubClient({ token, apiUrl, graphqlUrl, userAgent: "fencepost" });
  const clock = webClock;
  const chance = webChance;
  const access = githubAccess({ octokit, repository, prefix: refPrefix(prefix), clock, chance, warn });
  const store = githubStoreOn(access) as unknown as Store;
  accesses.set(store, access);
  return store;
}

/** Records in a map, for tests. They are gone with the process. */
export function memoryStore(): Store {
  return inMemory({ now: () => Date.now() }) as unknown as Store;
}

/**
 * Takes the lease, or says who holds it.
 * @throws NameInvalid for a name that cannot be used; StoreUnavailable, StoreRefused, RecordInvalid
 */
export async function acquire(store: Store, options: AcquireOptions): Promise<AcquireResult> {
  const ttl = duration("ttl", options.ttl ?? 900_000, ttlRange);
  const result = await acquireLease(ports(store), {
    lease: leaseName(options.lease),
    claim: claimOf(options),
    ttl,
    skew: defaultSkew(ttl),
    wait: duration("wait", options.wait ?? 0, waitRange),
    signal: options.signal,
    onHeld: ({ seen }) => options.onHeld?.(heldOf(seen)),
  });
  if (result.outcome === "acquired")
    return { outcome: "acquired", holding: outer(result.holding), reason: result.reason };
  return { outcome: "skipped_overlap", ...heldOf(result.seen) };
}

/**
 * Renews the lease, if it is still this claim's: to be done every third of the TTL. `keep` does it for you.
 * @throws StoreUnavailable, TokenRegressed
 */
export function renew(
  store: Store,
  holding: Holding,
  options: CallOptions = {},
): Promise<{ outcome: "renewed"; holding: Holding } | Superseded> {
  return next(store, holding, "renewed", options);
}

/**
 * Gives the lease back, if it is still this claim's. The token stays in its record, and rises with the next holder.
 * @throws StoreUnavailable, TokenRegressed
 */
export async function release(
  store: Store,
  holding: Holding,
  options: CallOptions = {},
): Promise<{ outcome: "released" } | Superseded> {
  const result = await next(store, holding, "released", options);
  return result.outcome === "superseded" ? result : { outcome: "released" };
}

async function next<E extends "renewed" | "released">(
  store: Store,
  holding: Holding,
  event: E,
  options: CallOptions,
) {
  const result = await succeedLease(ports(store), inner(holding), event, options);
  if (result.outcome === "written") return { outcome: event, holding: outer(result.holding) };
  const by = result.seen ? `it is now: ${describeHolding(result.seen, Date.now())}` : "its record is gone";
  return {
    outcome: "superseded" as const,
    why: `Token ${holding.token} no longer holds the lease ${JSON.stringify(holding.lease)}; ${by}.`,
  };
}

/**
 * Renews the lease every third of its TTL until it is stopped or lost. For runtimes that keep running: a Worker that
 * is put to sleep between requests renews by `renew` instead.
 */
export function keep(store: Store, holding: Holding, { onLost, onFailing }: KeepOptions = {}): Keeping {
  const end = new AbortController();
  let current = holding;
  let lost = false;
  const { wall, monotonic } = webClock.read();
  // A holding may be older than this call. Then it is renewed at once, and counts as lost that much sooner.
  const age = Math.min(Math.max(wall - holding.writtenAt, 0), inner(holding).record.ttl / 3);
  const done = heartbeat({
    ...ports(store),
    holding: inner(holding),
    sentAt: { wall: wall - age, monotonic: monotonic - age },
    signal: end.signal,
    onBeat(beat) {
      if (beat.event === "renewed") current = outer(beat.holding);
      else if (beat.event === "failing") onFailing?.(beat.why);
      else if (beat.event === "lost") {
        lost = true;
        onLost?.({ why: beat.why, detail: beat.detail });
      }
    },
  });
  return {
    holding: () => current,
    lost: () => lost,
    async stop() {
      end.abort();
      await done;
    },
  };
}

/** The lease as it is, or null if it was never held. @throws RecordInvalid, StoreUnavailable */
export async function status(
  store: Store,
  lease: string,
  options: CallOptions = {},
): Promise<LeaseStatus | null> {
  const { now } = await store.read([], options);
  const seen = await readOne(store as InnerStore, leaseName(lease), options);
  if (seen === null) return null;
  const { record } = seen;
  const state = record.state === "released" ? "released" : expiresAt(seen) <= now ? "expired" : "held";
  const { token, holder, expiresAt: ends } = { ...heldOf(seen) };
  return {
    lease,
    token,
    state,
    holder,
    claim: record.holder as Claim,
    since: new Date(record.since),
    expiresAt: ends,
  };
}

/**
 * Frees a lease by force, for people: `token` is the one that they saw, and it advances. What its holder still publishes
 * is refused.
 * @returns `free` or `moved_on` when nothing was done, since it is free, or has another token by now
 */
export async function unlock(
  store: Store,
  ask: { lease: string; token: number; by: string; reason: string },
): Promise<{ outcome: "unlocked"; token: number } | { outcome: "absent" | "free" | "moved_on" }> {
  const result = await unlockLease(ports(store), { ...ask, lease: leaseName(ask.lease) });
  if (result.outcome === "unlocked") return { outcome: "unlocked", token: result.token };
  return { outcome: result.outcome === "moved-on" ? "moved_on" : result.outcome };
}

/**
 * Publishes one commit without git: the branch and the lease move in one transaction of GitHub's, or neither does. So a
 * holder that was superseded cannot move the branch, whatever it believes and whenever it wakes up.
 *
 * Requests: 5 with text files; one more for each file of bytes that are no text.
 *
 * @param store made by `githubStore`
 * @throws NameInvalid for a branch or a path that cannot be used, TypeError for a request that makes no sense; both before anything is written
 */
export async function publishCommit(
  store: Store,
  holding: Holding,
  request: PublishRequest,
): Promise<PublishResult> {
  const access = accesses.get(store);
  if (access === undefined)
    throw new TypeError("publishCommit publishes to GitHub: give it a store that githubStore has made.");
  const { files, tree, message, author, attempts = 5, signal } = request;
  if ((files === undefined) === (tree === undefined))
    throw new TypeError("publishCommit takes either files or tree: give one of them.");
  if (message.trim() === "") throw new TypeError("publishCommit needs a message for the commit.");
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > 20)
    throw new TypeError(`attempts is ${attempts}, and takes 1 to 20.`);
  const result = await commitBehindFence(access, {
    fences: [leaseFence(holding.lease, inner(holding), webChance)],
    branch: branchRef(request.branch, access.setup.place.prefix),
    message,
    change: files === undefined ? { tree: tree as string } : { files },
    base: request.base,
    author,
    onMoved: request.onMoved ?? (files === undefined ? "fail" : "rebuild"),
    attempts,
    signal,
  });
  switch (result.outcome) {
    case "pushed": {
      const { commit, written, rebuilt } = result;
      return { outcome: "pushed", commit, holding: outer(pushedHolding(written) ?? inner(holding)), rebuilt };
    }
    case "unchanged":
      return result;
    case "superseded":
      return { outcome: "superseded", why: result.why, commit: result.commit };
    default:
      return result;
  }
}

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
export async function accept<T>(
  store: Store,
  resource: string,
  owner: { token: number; claim: Claim },
  commit: (token: number) => Promise<T> | T,
  options: CallOptions = {},
): Promise<Accepted<T>> {
  if (resource === "") throw new TypeError("accept needs the name of a resource.");
  const { token, claim } = owner;
  if (!Number.isSafeInteger(token) || token < 1)
    throw new TypeError(`The token ${token} is not an integer from 1.`);
  const result = await acceptOn(
    ports(store),
    resource,
    { token, claim: checkedClaim(claim) },
    commit,
    options,
  );
  if (result.outcome === "accepted") return result;
  return { ...result, holder: describeClaim(result.holder) };
}

function claimOf({ claim, holder }: AcquireOptions) {
  const host = holder ? { host: holder.slice(0, 300) } : {};
  return checkedClaim({ ...host, ...claim, id: claim?.id ?? webChance.nonce() });
}

function heldOf(seen: SeenLease): Held {
  const { token, holder } = seen.record;
  return {
    token,
    holder: describeClaim(holder),
    claim: holder as Claim,
    expiresAt: new Date(expiresAt(seen)),
  };
}

function duration(name: string, given: string | number, range: DurationRange): number {
  return parseDuration(name, typeof given === "number" ? `${given}ms` : given, range);
}
