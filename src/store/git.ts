// The store on any git server: one atomic push with expected oids, from a private bare repository.
import type { Chance } from "../chance.js";
import type { Clock } from "../clock.js";
import { type PrivateRepository, privateRepository, remoteTips } from "../git/private.js";
import { type GitReply, lastWords } from "../git/program.js";
import { pushAtomically } from "../git/push.js";
import { commitRecord, type RawCommit, readCommits, writeEmptyTree } from "../git/records.js";
import { findRefusal, type Refusal } from "../git/refusal.js";
import { destination, type Remote } from "../git/remote.js";
import { type RecordName, recordOf, refOf } from "../protocol/names.js";
import type { Oid, Versioned } from "../protocol/record.js";
import {
  type CallOptions,
  type Change,
  type Store,
  StoreMisconfigured,
  StoreRefused,
  StoreUnavailable,
  type SwapResult,
} from "./store.js";

export interface GitStoreOptions {
  remote: Remote;
  prefix: string;
  clock: Clock;
  chance: Chance;
  objectFormat?: string;
}

/** Sends of the same commit before an outcome that stays unknown is thrown. */
const tries = 4;

export function gitStore({ remote, prefix, clock, chance, objectFormat }: GitStoreOptions): Store {
  let opened: Promise<PrivateRepository> | undefined;
  let emptyTree: Promise<Oid> | undefined;
  /** Commits that are here, and so can be parents. */
  const here = new Set<Oid>();
  const open = () => {
    opened ??= privateRepository(remote, null, objectFormat).catch((error) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };

  /**
   * Brings the tips of the refs that match the patterns here; a ref that is gone there goes here too. Null when no ref
   * matches: git fails a `--depth` fetch that finds nothing, and only a second look can tell that from a fault.
   */
  async function fetch(
    patterns: readonly string[],
    depth: number,
    options: CallOptions,
  ): Promise<PrivateRepository | null> {
    const repository = await open();
    const specs = patterns.map((pattern) => `+${pattern}:${pattern}`);
    const flags = ["--quiet", "--prune", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];
    const args = ["fetch", ...flags, `--depth=${depth}`, destination, ...specs];
    for (let attempt = 1; ; attempt++) {
      const reply = await repository.run(args, { signal: options.signal });
      if (reply.code === 0) return repository;
      const listed = await repository.run(["ls-remote", "--quiet", destination, ...patterns], {
        signal: options.signal,
      });
      if (listed.code === 0 && listed.stdout.length === 0) return null;
      const failed = listed.code === 0 ? reply : listed;
      const refusal = findRefusal(failed.stderr);
      // It may have come into being between the two, or the first reply was lost.
      if (refusal || attempt === tries) throw failure("read from", failed, refusal);
      await pause(attempt, options);
    }
  }

  function pause(attempt: number, options: CallOptions): Promise<void> {
    return clock.sleep(100 * 2 ** attempt * (0.5 + chance.random()), options.signal);
  }

  async function read(names: readonly RecordName[], options: CallOptions = {}) {
    // A pattern, since a plain refspec makes the fetch fail when the ref is absent; it may bring longer names too.
    const patterns = names.map((name) => `${refOf(prefix, name)}*`);
    const repository = await fetch(patterns, 1, options);
    const refs = names.map((name) => refOf(prefix, name));
    const commits = repository ? await readCommits(repository, refs, { signal: options.signal }) : [];
    const records = names.map((name, i) => remember(name, commits[i] ?? null));
    return { now: clock.read().wall, records };
  }

  function remember(name: RecordName, commit: RawCommit | null): Versioned | null {
    if (commit) here.add(commit.oid);
    return versioned(name, commit);
  }

  function failure(act: string, reply: GitReply, refusal: Refusal | null): Error {
    const what = `Could not ${act} the store ${remote.label}`;
    if (refusal === null)
      return new StoreUnavailable(`${what}: ${lastWords(reply.stderr)}. Try again when it can be reached.`);
    const Kind =
      refusal.kind === "missing" || refusal.kind === "unsupported" ? StoreMisconfigured : StoreRefused;
    return new Kind(`${what}: ${refusal.words}. ${refusal.advice}`);
  }

  async function commit(repository: PrivateRepository, change: Change): Promise<RawCommit | null> {
    if (change.next === null) return null;
    emptyTree ??= writeEmptyTree(repository).catch((error) => {
      emptyTree = undefined;
      throw error;
    });
    const parent = change.next.root ? null : change.expected;
    const made = await commitRecord(
      repository,
      await emptyTree,
      parent,
      change.next.message,
      clock.read().wall,
    );
    here.add(made.oid);
    return made;
  }

  async function swap(changes: readonly Change[], options: CallOptions = {}): Promise<SwapResult> {
    const repository = await open();
    const strangers = changes.filter((c) => c.expected !== null && !here.has(c.expected));
    if (strangers.length > 0) {
      const { records } = await read(
        strangers.map((c) => c.name),
        options,
      );
      if (strangers.some((change, i) => records[i]?.oid !== change.expected)) return { outcome: "conflict" };
    }
    const commits: (RawCommit | null)[] = [];
    for (const change of changes) commits.push(await commit(repository, change));
    const updates = changes.map((change, i) => ({
      ref: refOf(prefix, change.name),
      to: commits[i]?.oid ?? null,
      expected: change.expected,
    }));
    const applied: SwapResult = {
      outcome: "applied",
      written: changes.map((change, i) => versioned(change.name, commits[i] ?? null)),
    };
    for (let attempt = 1; ; attempt++) {
      const { reply, lines } = await pushAtomically(repository, updates, options.signal);
      if (reply.code === 0) return applied;
      const seen = await remoteTips(
        repository,
        updates.map((u) => u.ref),
        options.signal,
      );
      if ("tips" in seen) {
        const found = updates.map((u) => seen.tips.get(u.ref) ?? null);
        if (updates.every((u, i) => found[i] === u.to)) return applied;
        if (updates.some((u, i) => found[i] !== u.to && found[i] !== u.expected))
          return { outcome: "conflict" };
      }
      // Words of a refusal count when a look shows that nothing was written, or was refused as well.
      const settled = "tips" in seen || findRefusal(seen.failed.stderr) !== null;
      const refusal = settled ? findRefusal(reply.stderr, lines) : null;
      if (refusal || attempt === tries) throw failure("write to", reply, refusal);
      await pause(attempt, options);
    }
  }

  return {
    label: remote.label,
    stamps: false,
    read,
    async *list(start, options = {}) {
      const pattern = `refs/heads/${prefix}/${start}*`;
      const repository = await fetch([pattern], 1, options);
      if (repository === null) return;
      const listed = await repository.output([
        "for-each-ref",
        "--format=%(refname)",
        `refs/heads/${prefix}/`,
      ]);
      const refs = listed.split("\n").filter((ref) => ref.startsWith(pattern.slice(0, -1)));
      for (const [i, found] of (await readCommits(repository, refs, { signal: options.signal })).entries()) {
        const seen = remember(recordOf(prefix, refs[i] ?? "") as RecordName, found);
        if (seen) yield seen;
      }
    },
    async history(name, limit, options = {}) {
      const ref = refOf(prefix, name);
      const repository = await fetch([`${ref}*`], limit, options);
      if (repository === null) return [];
      const listed = await repository.run(["rev-list", `--max-count=${limit}`, ref, "--"]);
      const oids = listed.code === 0 ? listed.stdout.toString("utf8").split("\n").filter(Boolean) : [];
      const commits = await readCommits(repository, oids, { signal: options.signal });
      return commits.map((found) => versioned(name, found)).filter((seen) => seen !== null);
    },
    swap,
    async close() {
      await (await opened?.catch(() => undefined))?.remove();
    },
  };
}

function versioned(name: RecordName, commit: RawCommit | null): Versioned | null {
  if (commit === null) return null;
  return {
    name,
    oid: commit.oid,
    parents: commit.parents,
    message: commit.message,
    writtenAt: commit.committedAt,
  };
}
