/** Commits, trees and blobs: reading them as values, and writing them with git plumbing. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type GitObject, git, ObjectReader } from "./git.js";

export const EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

export interface Identity {
  name: string;
  email: string;
  /** Seconds since the epoch. */
  seconds: number;
  /** As git writes it: `+0000`. */
  zone: string;
}

export interface Commit {
  oid: string;
  tree: string;
  parents: string[];
  author: Identity;
  committer: Identity;
  /** The armoured signature, where there is one. */
  signature: string | null;
  /** What was signed: the commit without its signature. */
  payload: string;
  message: string;
}

export interface TreeEntry {
  mode: string;
  name: string;
  type: "blob" | "tree" | "commit";
  oid: string;
}

export interface NewCommit {
  tree: string;
  parents: readonly string[];
  author: Identity;
  committer: Identity;
  message: string;
  signature?: string | undefined;
}

/** One path to set, or to remove where the content is null. */
export interface PathChange {
  path: string;
  mode: string;
  oid: string | null;
}

export class Objects {
  readonly #reader: ObjectReader;

  constructor(readonly dir: string) {
    this.#reader = new ObjectReader(dir);
  }

  read(expression: string): Promise<GitObject | null> {
    return this.#reader.read(expression);
  }

  async commit(oid: string): Promise<Commit | null> {
    const object = await this.read(oid);
    return object?.type === "commit" ? parseCommit(object.oid, object.content.toString()) : null;
  }

  async tree(oid: string): Promise<TreeEntry[] | null> {
    const object = await this.read(oid);
    return object?.type === "tree" ? parseTree(object.content) : null;
  }

  /** Every file below a tree, with its full path. */
  async files(tree: string, prefix = ""): Promise<(TreeEntry & { path: string })[]> {
    const found: (TreeEntry & { path: string })[] = [];
    for (const entry of (await this.tree(tree)) ?? []) {
      const path = prefix + entry.name;
      found.push({ ...entry, path });
      if (entry.type === "tree") found.push(...(await this.files(entry.oid, `${path}/`)));
    }
    return found;
  }

  async write(type: "commit" | "tree" | "blob", content: string | Buffer): Promise<string> {
    return oidOf(await git(this.dir, ["hash-object", "-t", type, "-w", "--stdin"], { input: content }));
  }

  writeCommit(commit: NewCommit): Promise<string> {
    const signed =
      commit.signature === undefined ? "" : `gpgsig ${commit.signature.replaceAll("\n", "\n ")}\n`;
    const head =
      `tree ${commit.tree}\n${commit.parents.map((oid) => `parent ${oid}\n`).join("")}` +
      `author ${identity(commit.author)}\ncommitter ${identity(commit.committer)}\n${signed}\n`;
    return this.write("commit", head + commit.message);
  }

  /** The tree that results from changes to another, made in an index of its own. */
  async changeTree(base: string | null, changes: readonly PathChange[]): Promise<string> {
    const index = join(this.dir, `index-${randomUUID()}`);
    const env = { GIT_INDEX_FILE: index };
    try {
      if (base !== null) await git(this.dir, ["read-tree", base], { env });
      const lines = changes.map(({ path, mode, oid }) =>
        oid === null ? `0 ${"0".repeat(40)}\t${path}` : `${mode} ${oid}\t${path}`,
      );
      await git(this.dir, ["update-index", "-z", "--index-info"], { env, input: `${lines.join("\0")}\0` });
      return oidOf(await git(this.dir, ["write-tree"], { env }));
    } finally {
      await rm(index, { force: true });
    }
  }

  close(): void {
    this.#reader.close();
  }
}

function oidOf(output: Buffer): string {
  return output.toString().trim();
}

function identity(who: Identity): string {
  return `${who.name} <${who.email}> ${who.seconds} ${who.zone}`;
}

function parseIdentity(line: string): Identity {
  const found = /^(.*?) ?<([^>]*)> (\d+) ([+-]\d{4})$/.exec(line);
  if (found === null) throw new Error(`not an identity: ${line}`);
  return {
    name: found[1] ?? "",
    email: found[2] ?? "",
    seconds: Number(found[3]),
    zone: found[4] ?? "+0000",
  };
}

export function parseCommit(oid: string, text: string): Commit {
  const split = text.indexOf("\n\n");
  const headers = new Map<string, string[]>();
  let last = "";
  for (const line of text.slice(0, split).split("\n")) {
    const values = headers.get(last);
    if (line.startsWith(" ") && values !== undefined) values[values.length - 1] += `\n${line.slice(1)}`;
    else {
      last = line.slice(0, line.indexOf(" "));
      headers.set(last, [...(headers.get(last) ?? []), line.slice(last.length + 1)]);
    }
  }
  return {
    oid,
    tree: headers.get("tree")?.[0] ?? "",
    parents: headers.get("parent") ?? [],
    author: parseIdentity(headers.get("author")?.[0] ?? ""),
    committer: parseIdentity(headers.get("committer")?.[0] ?? ""),
    signature: headers.get("gpgsig")?.[0] ?? null,
    payload: text.replace(/^gpgsig .*\n(?: .*\n)*/m, ""),
    message: text.slice(split + 2),
  };
}

function parseTree(content: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(32, at);
    const end = content.indexOf(0, space);
    const mode = content.subarray(at, space).toString().padStart(6, "0");
    const type = mode === "040000" ? "tree" : mode === "160000" ? "commit" : "blob";
    const oid = content.subarray(end + 1, end + 21).toString("hex");
    entries.push({ mode, name: content.subarray(space + 1, end).toString(), type, oid });
    at = end + 21;
  }
  return entries;
}
