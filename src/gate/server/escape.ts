// The maintainers' escape: a push option with a reason, recorded, and handed from `pre-receive` to `reference-transaction`.
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { RefChange } from "../../protocol/gate.js";
import type { Instant } from "../../protocol/record.js";

/** The reason of `-o fencepost-allow="REASON"`, or null when the escape was not asked for. */
export function askedReason(env: NodeJS.ProcessEnv): string | null {
  const count = Number(env.GIT_PUSH_OPTION_COUNT ?? 0);
  for (let i = 0; i < count; i++) {
    const found = /^fencepost-allow(?:=(.*))?$/s.exec(env[`GIT_PUSH_OPTION_${i}`] ?? "");
    if (found) return (found[1] ?? "").trim();
  }
  return null;
}

/** Who pushes, as the server knows it. */
export function pusher(env: NodeJS.ProcessEnv): string {
  const named = [env.REMOTE_USER, env.GL_USERNAME, env.GITEA_PUSHER_NAME, env.GITHUB_USER_LOGIN];
  return named.find((name) => name) ?? userInfo().username;
}

export interface Allowed {
  when: string;
  who: string;
  reason: string;
  changes: readonly RefChange[];
}

const own = (folder: string) => join(folder, "fencepost");
const note = (folder: string, pid: number) => join(own(folder), `allowed-${pid}.json`);

/** Milliseconds after which a note is left over: from a push that failed, or where only `pre-receive` is installed. */
const longestPush = 86_400_000;

/** Writes down what was allowed, one line a ref, before it can happen. */
export function recordAllowed(folder: string, { when, who, reason, changes }: Allowed): string {
  mkdirSync(own(folder), { recursive: true });
  const lines = changes.map(({ ref, from, to }) =>
    JSON.stringify({ when, who, ref, old: from ?? null, new: to, reason }),
  );
  const log = join(own(folder), "allowed.log");
  appendFileSync(log, `${lines.join("\n")}\n`);
  return log;
}

/** Leaves these changes, and no others, for the hook that enforces under the same `git receive-pack`. */
export function handOver(folder: string, changes: readonly RefChange[], now: Instant): void {
  for (const name of readdirSync(own(folder)).filter((each) => /^allowed-\d+\.json$/.test(each))) {
    const old = join(own(folder), name);
    const written = statSync(old, { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - written > longestPush) rmSync(old, { force: true });
  }
  writeFileSync(note(folder, receiver()), JSON.stringify(changes.map(line)), { mode: 0o600 });
}

/** Nothing that an earlier process of the same number left counts. */
export function forget(folder: string): void {
  rmSync(note(folder, receiver()), { force: true });
}

/** Which of these changes were allowed to this push; each counts once. */
export function takeAllowed(folder: string, changes: readonly RefChange[]): Set<string> {
  const path = note(folder, receiver());
  let left: string[];
  try {
    left = JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return new Set();
  }
  const taken = new Set(changes.map(line).filter((each) => left.includes(each)));
  left = left.filter((each) => !taken.has(each));
  // Packed refs that go are shown once more before, without their old value.
  const shown = changes.filter(
    ({ ref, from, to }) =>
      from === undefined && to === null && left.some((each) => each.endsWith(` none ${ref}`)),
  );
  for (const change of shown) taken.add(line(change));
  if (left.length === 0) rmSync(path, { force: true });
  else writeFileSync(path, JSON.stringify(left), { mode: 0o600 });
  return taken;
}

export const line = ({ ref, from, to }: RefChange) => `${from ?? "none"} ${to ?? "none"} ${ref}`;

/** The process of git that both hooks belong to. A dispatcher may stand in between, which only Linux lets us see. */
function receiver(): number {
  let pid = process.ppid;
  for (let step = 0; step < 3; step++) {
    try {
      const [, name = "", parent = ""] =
        /\((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
      if (name.startsWith("git")) return pid;
      pid = Number(parent);
    } catch {
      break;
    }
  }
  return process.ppid;
}
