// A bare repository behind the gate, reached in three ways, and records made by hand to attack it with.
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  acquire,
  type LeaseRecord,
  leaseMessage,
  readLease,
  type SeenLease,
} from "../../src/protocol/lease.js";
import { recordName } from "../../src/protocol/names.js";
import { gitServer } from "./git-server.js";
import { type Ended, leaseRef, type Sandbox } from "./sandbox.js";
import { sshServer } from "./ssh-server.js";

export interface Door {
  url: string;
  env: NodeJS.ProcessEnv;
  close(): Promise<void>;
}

export const doors: Record<"a path" | "http" | "ssh", (box: Sandbox) => Promise<Door>> = {
  "a path": async (box) => ({ url: box.origin, env: {}, close: async () => {} }),
  http: async (box) => {
    box.git(box.origin, "config", "http.receivepack", "true");
    const server = await gitServer({ root: box.folder, env: box.env });
    return { url: `${server.url}/origin.git`, env: {}, close: server.close };
  },
  ssh: (box) => sshServer(box),
};

/** Puts the gate into the sandbox's repository. */
export function install(box: Sandbox, ...args: string[]): Promise<Ended> {
  const asked = args.length > 0 ? args : ["--protect", "main", "--lease", "blog"];
  return box.cli(["gate", "install", "--repository", box.origin, ...asked]);
}

/** git, without blocking this process, which may be serving it. */
export function gitLater(
  box: Sandbox,
  cwd: string,
  args: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn("git", args, { cwd, env: { ...box.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 255, stdout, stderr }));
  });
}

let count = 0;
export const nonce = () => `nonce-${process.pid}-${++count}`;
export const claim = (id: string) => ({ id: `claim-${id}`.padEnd(8, "-"), host: id, pid: 1 });

/** The record of a lease as the repository has it, with the objects brought into the clone. */
export function seenLease(
  box: Sandbox,
  clone: string,
  lease = "blog",
  at = leaseRef(lease),
): SeenLease | null {
  if (box.tip(leaseRef(lease)) === "") return null;
  if (at === leaseRef(lease)) box.git(clone, "fetch", "--quiet", box.origin, at);
  const oid = at === leaseRef(lease) ? box.tip(at) : at;
  const parents = box.git(clone, "log", "-1", "--format=%P", oid).split(" ").filter(Boolean);
  const message = execFileSync("git", ["log", "-1", "--format=%B", oid], { cwd: clone, encoding: "utf8" });
  return readLease({ name: recordName("lease", lease), oid, parents, message, writtenAt: Date.now() });
}

/** A commit with this message and the empty tree. */
export function commitOf(box: Sandbox, clone: string, message: string, ...parents: string[]): string {
  const tree = execFileSync("git", ["mktree"], { cwd: clone, input: "", encoding: "utf8" }).trim();
  const args = ["commit-tree", tree, ...parents.flatMap((oid) => ["-p", oid]), "-F", "-"];
  return execFileSync("git", args, { cwd: clone, env: box.env, input: message, encoding: "utf8" }).trim();
}

/** A successor of a lease's record, as it would be written or changed at will. */
export function successor(
  box: Sandbox,
  clone: string,
  seen: SeenLease,
  change: Partial<LeaseRecord>,
): string {
  const { published: _, ...kept } = seen.record;
  const record = { ...kept, previous: seen.oid, depth: kept.depth + 1, nonce: nonce(), ...change };
  return commitOf(box, clone, leaseMessage(record as LeaseRecord), seen.oid);
}

/** Takes a lease by a push of its record alone, whoever holds it. Returns the commit. */
export function take(box: Sandbox, clone: string, who: string, lease = "blog"): string {
  const seen = seenLease(box, clone, lease);
  const ask = { lease, claim: claim(who), ttl: 60_000, now: Date.now(), skew: 0, holderFinished: true };
  const granted = acquire(seen, { ...ask, nonce: nonce() });
  if (granted.outcome !== "grant") throw new Error("not granted");
  const { record, expected } = granted.write;
  const oid = commitOf(box, clone, leaseMessage(record), ...(expected ? [expected] : []));
  box.git(clone, "push", "--quiet", box.origin, `${oid}:${leaseRef(lease)}`);
  return oid;
}

/** Every ref of the repository, to see that nothing moved. */
export const refs = (box: Sandbox) =>
  box.git(box.origin, "for-each-ref", "--format=%(refname) %(objectname)");

export const hookFile = (box: Sandbox, name: string) => join(box.origin, "hooks", name);
export const hasHook = (box: Sandbox, name: string) => existsSync(hookFile(box, name));
