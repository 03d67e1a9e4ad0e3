// Runs the git program: arguments as data, no shell, an environment that only says what we mean.
import { type ChildProcess, spawn } from "node:child_process";

export type ConfigEntry = readonly [key: string, value: string];

export interface GitCall {
  args: readonly string[];
  /** Where git looks for its repository. */
  cwd?: string;
  /** Settings passed by environment, so that no secret and no URL stands in argv or in a file. */
  config?: readonly ConfigEntry[];
  env?: Record<string, string>;
  input?: string;
  signal?: AbortSignal | undefined;
  /** Gets the output as it comes, for more than should be held at once; the reply then has none. */
  onOutput?: (chunk: Buffer) => void;
}

export interface GitReply {
  code: number;
  stdout: Buffer;
  stderr: string;
}

/** git is not there, or cannot be started. */
export class GitMissing extends Error {
  override name = "GitMissing";
}

/** A git command that must not fail did. */
export class GitFailed extends Error {
  override name = "GitFailed";
  constructor(
    readonly command: string,
    readonly reply: GitReply,
  ) {
    super(`git ${command} failed (exit ${reply.code}): ${lastWords(reply.stderr)}`);
  }
}

/** Runs git and returns whatever it answered. Rejects with the signal's reason when aborted. */
export function git(call: GitCall): Promise<GitReply> {
  return new Promise((resolve, reject) => {
    if (call.signal?.aborted) return reject(call.signal.reason);
    const child = spawn("git", call.args, {
      cwd: call.cwd,
      env: environment(process.env, call.config ?? [], call.env ?? {}),
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
      // A group of its own: a key press does not cut a push in half, and ending it ends what it started too.
      detached: process.platform !== "win32",
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    // Not waiting for the end: what git started may keep our pipes open for as long as it likes.
    const abort = () => {
      endGroup(child);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      reject(call.signal?.reason);
    };
    call.signal?.addEventListener("abort", abort, { once: true });
    child.stdout.on("data", call.onOutput ?? ((chunk) => out.push(chunk)));
    child.stderr.on("data", (chunk) => err.push(chunk));
    // git may end before it has read its input; its exit code tells what matters then.
    child.stdin.on("error", () => {});
    child.stdin.end(call.input ?? "");
    child.on("error", (cause: NodeJS.ErrnoException) => {
      call.signal?.removeEventListener("abort", abort);
      reject(startProblem(cause, call.cwd));
    });
    child.on("close", (code, signal) => {
      call.signal?.removeEventListener("abort", abort);
      const stderr = Buffer.concat(err).toString("utf8");
      const ended = signal === null ? stderr : `${stderr}\ngit was ended by ${signal}`;
      resolve({ code: code ?? 128, stdout: Buffer.concat(out), stderr: ended });
    });
  });
}

/** Milliseconds that what git started has to end by itself, before it is made to. */
const grace = 2000;

/** Ends git and all that it started, such as git-remote-https, ssh or a server's half on this machine. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  const end = (signal: NodeJS.Signals) => {
    try {
      process.kill(process.platform === "win32" ? pid : -pid, signal);
      return true;
    } catch (error) {
      // It ended by itself in the meantime; some systems say EPERM of a group that is only waited for.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ESRCH" && code !== "EPERM") throw error;
      return false;
    }
  };
  if (end("SIGTERM")) setTimeout(() => end("SIGKILL"), grace).unref();
}

/** Runs git and returns its output, or throws `GitFailed`. */
export async function gitOutput(call: GitCall): Promise<string> {
  const reply = await git(call);
  if (reply.code !== 0) throw new GitFailed(call.args.find((a) => !a.startsWith("-")) ?? "", reply);
  return reply.stdout.toString("utf8");
}

function startProblem(cause: NodeJS.ErrnoException, cwd: string | undefined): Error {
  if (cause.code === "ENOENT" || cause.code === "ENOTDIR")
    return new GitMissing(
      `git could not be started${cwd ? ` in ${cwd}` : ""}: either the folder does not exist, or git is not installed or not on the PATH. Fencepost needs git 2.31 or newer.`,
      { cause },
    );
  return cause;
}

/** What would point git at another repository than the one we name. */
const redirecting =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX|QUARANTINE_PATH|SHALLOW_FILE|GRAFT_FILE|IMPLICIT_WORK_TREE|CONFIG|PUSH_OPTION_.*|(AUTHOR|COMMITTER)_DATE)$/;

function environment(
  inherited: NodeJS.ProcessEnv,
  config: readonly ConfigEntry[],
  extra: Record<string, string>,
): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [key, value] of Object.entries(inherited)) if (!redirecting.test(key)) env[key] = value;
  Object.assign(env, {
    LC_ALL: "C",
    LANGUAGE: "",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
  });
  const before = Number(inherited.GIT_CONFIG_COUNT ?? 0);
  const start = Number.isInteger(before) && before > 0 ? before : 0;
  config.forEach(([key, value], i) => {
    env[`GIT_CONFIG_KEY_${start + i}`] = key;
    env[`GIT_CONFIG_VALUE_${start + i}`] = value;
  });
  if (config.length > 0) env.GIT_CONFIG_COUNT = String(start + config.length);
  return Object.assign(env, extra);
}

/** The line of git's complaint that says most, without credentials. */
export function lastWords(stderr: string): string {
  const lines = stderr
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const telling = lines.filter((line) => /^(remote: )?(fatal|error|ERROR)\b/.test(line));
  return redact(telling[0] ?? lines.at(-1) ?? "it said nothing");
}

/** The text without the user and password of any URL in it, and without what its query calls a secret. */
export function redact(text: string): string {
  return text
    .replace(/([a-z][a-z0-9+.-]*:\/\/)[^/\s]*@/gi, "$1")
    .replace(/([?&;][\w.-]*(?:token|passw(?:or)?d|secret|key|sig(?:nature)?|auth)=)[^&;#\s'"]+/gi, "$1***");
}
