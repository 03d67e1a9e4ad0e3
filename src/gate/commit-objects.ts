// The objects of a commit that is made from files by GitHub's API: blobs, a tree, and the commit itself.
import { type BranchTip, madeOid } from "../github/publish.js";
import { filePath } from "../protocol/paths.js";
import type { Oid } from "../protocol/record.js";
import type { Calls } from "../store/github-calls.js";
import { create } from "../store/github-commits.js";
import { StoreRefused } from "../store/store.js";

/** What a file shall be: text, bytes, or absent. */
export type FileContent = string | Uint8Array | null | { content: string | Uint8Array; mode?: FileMode };
/** A plain file, a program, or a symbolic link. */
export type FileMode = "100644" | "100755" | "120000";

export interface Content {
  message: string;
  /** By path, what is laid over the branch's tree; or the id of a whole tree that replaces it. */
  change: { files: Readonly<Record<string, FileContent>> } | { tree: Oid };
  /** Without it the token's owner is author, and GitHub signs the commits of an app. */
  author?: { name: string; email: string } | undefined;
}

const modes: readonly string[] = ["100644", "100755", "120000"] satisfies FileMode[];

/** @throws NameInvalid, TypeError */
export function checkFiles(files: Readonly<Record<string, FileContent>>): void {
  const all = Object.entries(files);
  if (all.length === 0) throw new TypeError("There are no files to publish. Name one at least.");
  for (const [path, file] of all) {
    filePath(path);
    const mode = typeof file === "object" && file !== null && "mode" in file ? file.mode : undefined;
    if (mode !== undefined && !modes.includes(mode))
      throw new TypeError(`The mode ${JSON.stringify(mode)} of ${path} is none of ${modes.join(", ")}.`);
  }
}

/** The user's commit on this tip, or `unchanged` where its tree is the tip's. */
export async function makeUserCommit(
  calls: Calls,
  { change, message, author }: Content,
  base: BranchTip | null,
): Promise<Oid | "unchanged"> {
  const tree = "tree" in change ? change.tree : await makeTree(calls, change.files, base);
  if (base !== null && tree === base.tree) return "unchanged";
  const body = { message, tree, parents: base === null ? [] : [base.oid], ...(author ? { author } : {}) };
  return must(await create(calls, "POST /repos/{owner}/{repo}/git/commits", body, madeOid), "the commit");
}

interface TreeEntry {
  path: string;
  mode: FileMode;
  type: "blob";
  content?: string;
  sha?: Oid | null;
}

async function makeTree(
  calls: Calls,
  files: Readonly<Record<string, FileContent>>,
  base: BranchTip | null,
): Promise<Oid> {
  const tree: TreeEntry[] = [];
  for (const [path, given] of Object.entries(files)) {
    const { content, mode = "100644" } =
      typeof given === "object" && given !== null && "content" in given ? given : { content: given };
    const entry = { path, mode, type: "blob" } as const;
    if (content === null) {
      if (base !== null) tree.push({ ...entry, sha: null });
    } else {
      const text = textOf(content);
      // Text goes along with the tree; a request for each file is only for bytes.
      tree.push(
        text === null
          ? { ...entry, sha: await makeBlob(calls, content as Uint8Array) }
          : { ...entry, content: text },
      );
    }
  }
  const body = { tree, ...(base === null ? {} : { base_tree: base.tree }) };
  return must(await create(calls, "POST /repos/{owner}/{repo}/git/trees", body, madeOid), "the tree");
}

/** The content as text that comes back as the same bytes, or null. */
function textOf(content: string | Uint8Array): string | null {
  if (typeof content === "string") {
    if (!content.isWellFormed())
      throw new TypeError("A file's text is not valid Unicode. Give its bytes instead.");
    return content;
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

async function makeBlob(calls: Calls, bytes: Uint8Array): Promise<Oid> {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  const body = { content: btoa(binary), encoding: "base64" };
  return must(await create(calls, "POST /repos/{owner}/{repo}/git/blobs", body, madeOid), "a file");
}

function must<T>(made: { value: T } | { code: string; words: string }, what: string): T {
  if ("value" in made) return made.value;
  if (made.code === "unknown")
    throw new Error(`GitHub did not make ${what} (${made.words}). Try again later.`);
  throw new StoreRefused(`GitHub would not make ${what}: ${made.words || made.code}.`);
}
