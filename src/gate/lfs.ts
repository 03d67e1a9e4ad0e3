// Uploads Git LFS objects before the push, since the hook that would do it does not run.

import { readFile, symlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { exists, parseConfig } from "../git/clone.js";
import type { PrivateRepository } from "../git/private.js";
import { lastWords } from "../git/program.js";
import type { Refusal } from "../git/refusal.js";
import { destination } from "../git/remote.js";
import type { Oid } from "../protocol/record.js";
import type { PushRequest } from "./push.js";

/** A pointer file is never larger (Git LFS specification, "The Pointer": less than 1024 bytes). */
const longestPointer = 1024;

/** Uploads what the range `base..head` points at. Null when all is well or there is nothing to do. */
export async function uploadLfs(
  repository: PrivateRepository,
  request: PushRequest,
  head: Oid,
  base: Oid | null,
  say: (progress: string) => void,
): Promise<Refusal | null> {
  if (!(await usesLfs(repository, request, head))) return null;
  const oids = await pointers(repository, head, base);
  if (oids.length === 0) return null;
  say(`uploading ${oids.length} Git LFS object${oids.length === 1 ? "" : "s"} first`);
  await lendStorage(repository, request);
  const config = await lfsConfig(repository, head);
  for (let at = 0; at < oids.length; at += 100) {
    const batch = oids.slice(at, at + 100);
    const reply = await repository.run(["lfs", "push", "--object-id", destination, ...batch], { config });
    if (reply.code === 0) continue;
    const missing = /is not a git command/.test(reply.stderr);
    return {
      kind: "unsupported",
      words: missing
        ? "the commits hold Git LFS pointers, and git-lfs is not installed here"
        : `git lfs push failed: ${lastWords(reply.stderr)}`,
      advice: missing
        ? "Install git-lfs, so that the files are uploaded before the branch moves."
        : "Nothing was pushed, since the branch would name files that the server does not have.",
    };
  }
  return null;
}

/**
 * Lets the private repository see the clone's LFS objects. Through a link, since the setting `lfs.storage` would also
 * hold for a destination that is a folder, which then would seem to have everything.
 */
async function lendStorage(repository: PrivateRepository, { clone }: PushRequest): Promise<void> {
  const gitDir = dirname(clone.objects);
  const setting = clone.config.findLast(([key]) => key === "lfs.storage")?.[1] ?? "lfs";
  const link = join(repository.folder, "lfs");
  if (!(await exists(link))) await symlink(resolve(gitDir, setting), link, "junction");
}

async function usesLfs(repository: PrivateRepository, request: PushRequest, head: Oid): Promise<boolean> {
  const info = join(dirname(request.clone.objects), "info", "attributes");
  const local = await readFile(info, "utf8").catch(() => "");
  if (/filter=lfs/.test(local)) return true;
  const paths = [":(top,glob)**/.gitattributes"];
  return (await repository.run(["grep", "-q", "filter=lfs", head, "--", ...paths])).code === 0;
}

/** The LFS oids that the new commits point at. */
async function pointers(repository: PrivateRepository, head: Oid, base: Oid | null): Promise<string[]> {
  const known = base !== null && (await repository.run(["cat-file", "-e", `${base}^{commit}`])).code === 0;
  const range = known ? [head, `^${base}`] : [head];
  const objects = await repository.output(["rev-list", "--objects", "--no-object-names", ...range, "--"]);
  const format = "--batch-check=%(objectname) %(objecttype) %(objectsize)";
  const small = (await repository.output(["cat-file", format], { input: objects }))
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, type, size]) => type === "blob" && Number(size) < longestPointer)
    .map(([oid]) => oid);
  if (small.length === 0) return [];
  const text = await repository.output(["cat-file", "--batch"], { input: `${small.join("\n")}\n` });
  const found = text.matchAll(
    /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:ext-.*\n)*oid sha256:([0-9a-f]{64})$/gm,
  );
  return [...new Set([...found].map((match) => match[1] as string))];
}

/** Where the repository itself says that its LFS server is. */
async function lfsConfig(repository: PrivateRepository, head: Oid) {
  const reply = await repository.run(["config", "--blob", `${head}:.lfsconfig`, "--list", "-z"]);
  return reply.code === 0
    ? parseConfig(reply.stdout.toString("utf8")).filter(([key]) => key === "lfs.url")
    : [];
}
