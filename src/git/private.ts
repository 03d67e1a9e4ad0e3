// A private bare repository: the only place that Fencepost fetches into and pushes from.
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anchorUrl, type Clone, exists, remoteSettings } from "./clone.js";
import { type ConfigEntry, type GitCall, type GitReply, git, gitOutput } from "./program.js";
import { destination, type Remote, settingsToPass } from "./remote.js";

/** A call inside one repository. */
export type RepositoryCall = {
  input?: string;
  /** Further settings, by environment. */
  config?: readonly ConfigEntry[];
  env?: Record<string, string>;
  signal?: AbortSignal | undefined;
  cwd?: string;
  onOutput?: (chunk: Buffer) => void;
};

export interface PrivateRepository {
  folder: string;
  run(args: readonly string[], call?: RepositoryCall): Promise<GitReply>;
  output(args: readonly string[], call?: RepositoryCall): Promise<string>;
  /** The settings that reach the remote, for a program that is started beside git. */
  config: readonly ConfigEntry[];
  remove(): Promise<void>;
}

/** Keeps the user's global settings from changing what a fetch or push of ours does. */
const quiet: ConfigEntry[] = [
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["fetch.writeCommitGraph", "false"],
  ["fetch.unpackLimit", "1000"],
  ["push.followTags", "false"],
  ["push.gpgSign", "false"],
  ["push.recurseSubmodules", "no"],
  // An empty value empties the list.
  ["push.pushOption", ""],
  ["safe.bareRepository", "all"],
  ["rebase.autoSquash", "false"],
  ["rebase.autoStash", "false"],
  ["rebase.updateRefs", "false"],
  ["advice.detachedHead", "false"],
];

/**
 * Makes a private repository that reaches `remote`, and that sees the objects of `clone` when one is given:
 * through alternates, with its shallow boundary, and with its promisor if the clone is a partial one.
 */
export async function privateRepository(
  remote: Remote,
  clone: Clone | null,
  objectFormat = clone?.objectFormat ?? "sha1",
): Promise<PrivateRepository> {
  const folder = await mkdtemp(join(tmpdir(), "fencepost-"));
  const remove = () => removeFolder(folder);
  try {
    await gitOutput({
      cwd: folder,
      args: ["init", "--quiet", "--bare", "--template=", `--object-format=${objectFormat}`, "."],
    });
    await mkdir(join(folder, "no-hooks"));
    const promisor = clone ? await borrow(folder, clone) : [];
    const passed = await settingsToPass(remote.config, folder);
    const config = [...quiet, ["core.hooksPath", join(folder, "no-hooks")] as const, ...promisor, ...passed];
    const callOf = (args: readonly string[], call: RepositoryCall): GitCall => ({
      cwd: folder,
      args,
      ...call,
      config: [...config, ...(call.config ?? [])],
    });
    return {
      folder,
      config,
      run: (args, call = {}) => git(callOf(args, call)),
      output: (args, call = {}) => gitOutput(callOf(args, call)),
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The same repository, whose calls end with this signal unless they bring one of their own. */
export function bound(repository: PrivateRepository, signal: AbortSignal | undefined): PrivateRepository {
  const within = (call: RepositoryCall = {}) => ({ ...call, signal: call.signal ?? signal });
  return {
    ...repository,
    run: (args, call) => repository.run(args, within(call)),
    output: (args, call) => repository.output(args, within(call)),
  };
}

/** Removes a temporary folder as far as that goes: what is left there must not replace the outcome of the work. */
export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
}

async function borrow(folder: string, clone: Clone): Promise<ConfigEntry[]> {
  await mkdir(join(folder, "objects", "info"), { recursive: true });
  await writeFile(join(folder, "objects", "info", "alternates"), `${alternate(clone.objects)}\n`);
  if (await exists(clone.shallow)) await copyFile(clone.shallow, join(folder, "shallow"));
  const promisor = clone.config.findLast(([key]) => key === "extensions.partialclone")?.[1];
  if (promisor === undefined) return [];
  // git reads extensions from the repository's own file only; everything else goes by environment.
  await gitOutput({ cwd: folder, args: ["config", "core.repositoryFormatVersion", "1"] });
  await gitOutput({ cwd: folder, args: ["config", "extensions.partialClone", promisor] });
  return remoteSettings(clone.config, promisor)
    .filter(([key]) => /^(url|promisor|partialclonefilter|proxy)$/.test(key))
    .map(([key, value]) => [
      `remote.${promisor}.${key}`,
      key === "url" ? anchorUrl(value, clone.top) : value,
    ]);
}

/** A path as `objects/info/alternates` takes it: quoted in C style where it could be misread. */
function alternate(path: string): string {
  const slashes = path.replaceAll("\\", "/");
  return /["\n]|^#/.test(slashes) ? JSON.stringify(slashes) : slashes;
}

/** Oid by ref of the remote's refs among those asked for. */
export async function remoteTips(
  repository: PrivateRepository,
  refs: readonly string[],
  signal?: AbortSignal,
): Promise<{ tips: Map<string, string> } | { failed: GitReply }> {
  const reply = await repository.run(["ls-remote", "--quiet", destination, ...refs], { signal });
  if (reply.code !== 0) return { failed: reply };
  const wanted = new Set(refs);
  const tips = new Map<string, string>();
  for (const line of reply.stdout.toString("utf8").split("\n")) {
    const [oid, ref] = line.split("\t");
    // A pattern matches at the end of a ref, so `refs/heads/x/refs/heads/main` answers too.
    if (oid && ref && wanted.has(ref)) tips.set(ref, oid);
  }
  return { tips };
}
