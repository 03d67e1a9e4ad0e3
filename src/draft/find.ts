// Finds drafts at the tip of a branch of the store's repository, never in a checkout.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { PrivateRepository } from "../git/private.js";
import { type GitReply, lastWords } from "../git/program.js";
import { findRefusal } from "../git/refusal.js";
import { destination } from "../git/remote.js";
import { type Convention, readDraft } from "../protocol/conventions/index.js";
import type { Instant, Oid } from "../protocol/record.js";
import type { SweepDraft } from "../protocol/sweep.js";
import { StoreMisconfigured, StoreRefused, StoreUnavailable } from "../store/store.js";
import { readHeads } from "./heads.js";

export interface FindOptions {
  /** For people: where the branch is. */
  where: string;
  /** A full ref. */
  branch: string;
  /** One path, or every path that matches. */
  paths: string | ((path: string) => boolean);
  convention: Convention;
  timezone?: string | undefined;
  /** Look back this many milliseconds for the drafts' ages; null: nobody asks for ages. */
  youngerThan: number | null;
  /** By this machine's clock, as the committers' dates are by theirs. */
  now: Instant;
  signal?: AbortSignal | undefined;
}

export interface Found {
  /** Null where the branch does not exist. */
  tip: Oid | null;
  drafts: SweepDraft[];
}

/** A file this long is no draft that a person wrote. Bytes. */
const largest = 16_000_000;

const local = "refs/fencepost/drafts";
const flags = ["--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];

/** The drafts at the branch's tip as it is now. A file that cannot be read is a draft that cannot be read. */
export async function findDrafts(repository: PrivateRepository, options: FindOptions): Promise<Found> {
  const tip = await fetchTip(repository, options);
  if (tip === null) return { tip, drafts: [] };
  const files = await listFiles(repository, tip, options);
  const readable = files.filter((file) => file.problem === null).map((file) => file.blob);
  const heads = await readHeads(repository, readable, options.signal);
  const ages = options.youngerThan === null ? new Map() : await changes(repository, tip, options);
  const drafts = files.map(({ path, blob, problem }): SweepDraft => {
    const head = problem === null ? heads.get(blob) : { problem };
    const text = typeof head === "string" ? head : undefined;
    const reading =
      text === undefined
        ? ({ state: "unreadable", reason: (head as { problem: string } | undefined)?.problem ?? "" } as const)
        : readDraft(options.convention, { path, text }, options.timezone);
    const changed = ages.get(path);
    return { path, blob, reading, age: changed === undefined ? null : Math.max(0, options.now - changed) };
  });
  return { tip, drafts };
}

/** A commit dated this far ahead of our clock says nothing about an age. Milliseconds. */
const mostAhead = 10 * 60_000;

async function fetchTip(repository: PrivateRepository, options: FindOptions): Promise<Oid | null> {
  const { branch, youngerThan, signal } = options;
  const spec = `+${branch}:${local}`;
  const fetch = (...depth: string[]) =>
    repository.run(["fetch", ...flags, ...depth, destination, spec], { signal });
  if (youngerThan !== null) {
    const since = Math.floor((options.now - youngerThan - mostAhead) / 1000);
    // git fails when no commit is that young.
    const young = await fetch(`--shallow-since=@${since}`);
    // The oldest of these commits lacks its parent, and so cannot say what it changed: one more.
    if (young.code === 0) {
      await fetch("--deepen=1");
      return tipOf(repository);
    }
  }
  const reply = await fetch("--depth=1");
  if (reply.code === 0) return tipOf(repository);
  const listed = await repository.run(["ls-remote", "--quiet", destination, branch], { signal });
  if (listed.code === 0 && !listed.stdout.toString("utf8").includes(`\t${branch}\n`)) return null;
  throw unread(options, listed.code === 0 ? reply : listed);
}

async function tipOf(repository: PrivateRepository): Promise<Oid> {
  return (await repository.output(["rev-parse", "--verify", local])).trim();
}

function unread({ branch, where }: FindOptions, reply: GitReply): Error {
  const what = `Could not read ${branch} of ${where}`;
  const refusal = findRefusal(reply.stderr);
  if (refusal === null)
    return new StoreUnavailable(`${what}: ${lastWords(reply.stderr)}. Try again when it can be reached.`);
  const Kind = refusal.kind === "missing" ? StoreMisconfigured : StoreRefused;
  return new Kind(`${what}: ${refusal.words}. ${refusal.advice}`);
}

interface FoundFile {
  path: string;
  blob: Oid;
  /** Why it is not read, or null. */
  problem: string | null;
}

async function listFiles(
  repository: PrivateRepository,
  tip: Oid,
  { paths, signal }: FindOptions,
): Promise<FoundFile[]> {
  const one = typeof paths === "string" ? ["--", paths] : [];
  const wanted = typeof paths === "string" ? (path: string) => path === paths : paths;
  const args = ["--literal-pathspecs", "ls-tree", "-r", "-z", "-l", "--full-tree", tip, ...one];
  const reply = await repository.run(args, { signal });
  if (reply.code !== 0)
    throw new StoreUnavailable(`The files of ${tip} could not be listed: ${lastWords(reply.stderr)}.`);
  const files = new Map<string, FoundFile>();
  const listed = reply.stdout;
  for (let at = 0; at < listed.length; ) {
    const end = listed.indexOf(0, at);
    const tab = listed.indexOf(0x09, at);
    const [mode = "", , blob = "", size = ""] = listed.toString("latin1", at, tab).split(/ +/);
    const { path, valid } = pathOf(listed.subarray(tab + 1, end));
    at = end + 1;
    // Neither a symbolic link nor a submodule is a text of its own.
    if (!mode.startsWith("100") || !wanted(path)) continue;
    const long = `it has ${size} bytes, and ${largest} is the most for a draft`;
    const problem = !valid ? "its path is not UTF-8" : Number(size) > largest ? long : null;
    files.set(path, { path, blob, problem });
  }
  return [...files.values()];
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function pathOf(bytes: Buffer): { path: string; valid: boolean } {
  try {
    return { path: utf8.decode(bytes), valid: true };
  } catch {
    return { path: bytes.toString("latin1"), valid: false };
  }
}

/**
 * Path by path, when the youngest commit came that changed it, as far as the window reaches. Along first parents, so
 * that what a merge brought is as old as the merge.
 */
async function changes(
  repository: PrivateRepository,
  tip: Oid,
  { now, signal }: FindOptions,
): Promise<Map<string, Instant>> {
  const boundary = await readFile(join(repository.folder, "shallow"), "utf8").catch(() => "");
  const cut = new Set(boundary.split("\n"));
  const args = ["log", "-z", "--first-parent", "-m", "--root", "--no-renames", "--name-only"];
  const listed = await repository.run([...args, "--format=%x01%H %ct", tip, "--"], { signal });
  const found = new Map<string, Instant>();
  if (listed.code !== 0) return found;
  let commit: { oid: string; at: number } | null = null;
  for (const part of listed.stdout.toString("utf8").split("\0")) {
    const head = /^\n?\u0001([0-9a-f]+) (-?\d+)(?:\n|$)/.exec(part);
    if (head) commit = { oid: head[1] as string, at: Number(head[2]) * 1000 };
    const path = head ? part.slice(head[0].length).replace(/^\n/, "") : part.replace(/^\n/, "");
    if (commit === null || path === "" || cut.has(commit.oid) || commit.at > now + mostAhead) continue;
    if (!found.has(path)) found.set(path, commit.at);
  }
  return found;
}
