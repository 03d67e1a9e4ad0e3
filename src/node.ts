// The library for Node: all of it, and besides the store on any git server and the fenced push from a clone.
import { systemChance } from "./chance.js";
import { systemClock } from "./clock.js";
import { bundleFolder } from "./gate/bundle-folder.js";
import { leaseFence, pushedHolding } from "./gate/fence.js";
import { fencedPush } from "./gate/push.js";
import { describePush } from "./gate/report.js";
import { describeRescue } from "./gate/rescue.js";
import { findClone } from "./git/clone.js";
import * as program from "./git/program.js";
import { gitOutput } from "./git/program.js";
import * as remotes from "./git/remote.js";
import { findRemote, type Remote } from "./git/remote.js";
import type { Holding as Inner } from "./protocol/lease.js";
import { branchRef, defaultPrefix, fullRef, refPrefix } from "./protocol/names.js";
import { gitStore as storeOn } from "./store/git.js";
import type { ErrorClass, GitStoreOptions, Holding, PushRequest, PushResult, Store } from "./types.js";

export * from "./index.js";

/** A store or remote that was named and does not exist. */
export const RemoteUnknown: ErrorClass = remotes.RemoteUnknown;
/** git said no to something that was asked of the clone. */
export const GitFailed: ErrorClass = program.GitFailed;

const places = new WeakMap<Store, { remote: Remote; prefix: string }>();

/**
 * Records in branches on any git server, or in a bare repository on this machine. Close it when done: it has a temporary folder.
 * @throws RemoteUnknown when there is no such remote, URL or path; NameInvalid for a prefix that cannot be used
 */
export async function gitStore({
  at,
  directory = process.cwd(),
  prefix = defaultPrefix,
}: GitStoreOptions): Promise<Store> {
  const clone = await findClone(directory);
  const remote = await findRemote(at, clone, directory);
  const parts = { clock: systemClock, chance: systemChance, prefix: refPrefix(prefix) };
  const format = clone ? { objectFormat: clone.objectFormat } : {};
  const store = storeOn({ remote, ...parts, ...format }) as unknown as Store;
  places.set(store, { remote, prefix });
  return store;
}

/**
 * Pushes a commit of a clone and moves the lease in the same atomic push, so that the server itself refuses a holder that
 * was superseded. What is not pushed is kept on a branch `fencepost/rescue/…`, or in a bundle.
 * @param store made by `gitStore`; its repository is the one that is pushed to
 * @throws NameInvalid, TypeError, and GitFailed for a revision or tag that does not exist, all before anything is written
 */
export async function push(store: Store, holding: Holding, request: PushRequest): Promise<PushResult> {
  const place = places.get(store);
  if (place === undefined)
    throw new TypeError("push pushes with git: give it a store that gitStore has made.");
  const { directory = process.cwd(), head = "HEAD", tags = [], attempts = 5, say = () => {} } = request;
  if (!Number.isInteger(attempts) || attempts < 1 || attempts > 20)
    throw new TypeError(`attempts is ${attempts}, and takes 1 to 20.`);
  const clone = await findClone(directory);
  if (clone === null)
    throw new TypeError(`${directory} is not in a git clone, so there is nothing to push from.`);
  const resolve = async (revision: string) =>
    (
      await gitOutput({ cwd: directory, args: ["rev-parse", "--verify", "--end-of-options", revision] })
    ).trim();
  const further = tags.map((tag) => fullRef(`refs/tags/${tag}`, place.prefix));
  const asked = {
    ...place,
    clone,
    fences: [leaseFence(holding.lease, holding as unknown as Inner, systemChance)] as const,
    branch: branchRef(request.branch, place.prefix),
    head: await resolve(`${head}^{commit}`),
    further: await Promise.all(further.map(async (ref) => ({ ref, oid: await resolve(ref) }))),
    replaces: request.replaces,
    onMoved: { how: request.onMoved ?? "rebase" },
    attempts,
    clock: systemClock,
    chance: systemChance,
    now: () => systemClock.read().wall,
    bundleFolder: bundleFolder(process.env),
    say,
    ...(request.signal ? { signal: request.signal } : {}),
  };
  const result = await fencedPush(asked);
  if (result.outcome === "unchanged") return result;
  if (result.outcome === "pushed") {
    const now = (pushedHolding(result.written) ?? holding) as unknown as Holding;
    return { outcome: "pushed", commit: result.commit, holding: now, rebased: result.replayed };
  }
  const why = describePush(result, { ...asked, where: place.remote.label, now: asked.now() });
  return { outcome: result.outcome, why, kept: describeRescue(result.rescue) };
}
