// Records as commits with the empty tree: built, and read back.
import type { Instant, Oid } from "../protocol/record.js";
import type { PrivateRepository, RepositoryCall } from "./private.js";

export interface RawCommit {
  oid: Oid;
  parents: Oid[];
  /** Milliseconds; git keeps whole seconds. */
  committedAt: Instant;
  message: string;
}

/** Writes the empty tree, which every record's commit has. Its oid depends on the repository's object format. */
export async function writeEmptyTree(repository: PrivateRepository): Promise<Oid> {
  return (await repository.output(["mktree"])).trim();
}

/** Builds a record's commit. The committer date is the store's time of the write. */
export async function commitRecord(
  repository: PrivateRepository,
  tree: Oid,
  parent: Oid | null,
  message: string,
  at: Instant,
): Promise<RawCommit> {
  const seconds = Math.floor(at / 1000);
  const date = `@${seconds} +0000`;
  const identity = { NAME: "fencepost", EMAIL: "fencepost@localhost", DATE: date };
  const env = Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((role) =>
      Object.entries(identity).map(([part, value]) => [`GIT_${role}_${part}`, value]),
    ),
  );
  const parents = parent === null ? [] : [parent];
  const args = ["commit-tree", "--no-gpg-sign", tree, ...parents.flatMap((oid) => ["-p", oid]), "-F", "-"];
  const oid = (await repository.output(args, { env, input: message })).trim();
  return { oid, parents, committedAt: seconds * 1000, message };
}

/** The commits with these names (refs or oids), in order; null where there is none. */
export async function readCommits(
  repository: Pick<PrivateRepository, "run">,
  names: readonly string[],
  call: RepositoryCall = {},
): Promise<(RawCommit | null)[]> {
  const objects = await readObjects(repository, names, call);
  return objects.map((found) => (found?.type === "commit" ? parseCommit(found.oid, found.text) : null));
}

export interface RawObject {
  oid: Oid;
  type: string;
  text: string;
}

/** The objects with these names (refs or oids), in order; null where there is none. */
export async function readObjects(
  repository: Pick<PrivateRepository, "run">,
  names: readonly string[],
  call: RepositoryCall = {},
): Promise<(RawObject | null)[]> {
  if (names.length === 0) return [];
  // Raw objects, since formatted output hides the parents of a shallow commit.
  const reply = await repository.run(["cat-file", "--batch"], { ...call, input: `${names.join("\n")}\n` });
  const objects: (RawObject | null)[] = [];
  for (let at = 0; at < reply.stdout.length; ) {
    const lineEnd = reply.stdout.indexOf(0x0a, at);
    const [oid = "", type = "", size] = reply.stdout.toString("utf8", at, lineEnd).split(" ");
    at = lineEnd + 1;
    if (type === "missing" || size === undefined) {
      objects.push(null);
      continue;
    }
    objects.push({ oid, type, text: reply.stdout.toString("utf8", at, at + Number(size)) });
    at += Number(size) + 1;
  }
  if (reply.code !== 0 || objects.length !== names.length)
    throw new Error(`git cat-file read ${objects.length} of ${names.length} objects: ${reply.stderr.trim()}`);
  return objects;
}

export function parseCommit(oid: Oid, raw: string): RawCommit {
  const end = raw.indexOf("\n\n");
  const head = raw.slice(0, end).split("\n");
  const committer = head.find((line) => line.startsWith("committer ")) ?? "";
  return {
    oid,
    parents: head.filter((line) => line.startsWith("parent ")).map((line) => line.slice(7)),
    committedAt: Number(/ (-?\d+) [+-]\d{4}$/.exec(committer)?.[1] ?? 0) * 1000,
    message: raw.slice(end + 2),
  };
}
