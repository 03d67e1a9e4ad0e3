/** The git program as the server uses it: one-shot commands, and one long-lived process that reads objects. */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";

export class GitFailed extends Error {
  constructor(
    readonly args: readonly string[],
    readonly code: number | null,
    readonly stderr: string,
  ) {
    super(`git ${args.join(" ")} ended with ${code}: ${stderr.trim()}`);
  }
}

/** An environment in which no configuration of the machine or the user takes part. */
export function gitEnvironment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    LC_ALL: "C",
    TZ: "UTC",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_TERMINAL_PROMPT: "0",
    ...extra,
  };
}

export interface GitOptions {
  input?: string | Buffer;
  env?: Record<string, string>;
}

/** Runs git on a bare repository; rejects with GitFailed unless it exits with 0. */
export function git(dir: string, args: readonly string[], options: GitOptions = {}): Promise<Buffer> {
  const child = spawn("git", [`--git-dir=${dir}`, ...args], { env: gitEnvironment(options.env) });
  return finish(child, args, options.input);
}

/** Waits for a child that has been given all of its input, and hands back what it wrote. */
export function finish(
  child: ChildProcessWithoutNullStreams,
  args: readonly string[],
  input: string | Buffer = "",
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(Buffer.concat(out));
      else reject(new GitFailed(args, code, Buffer.concat(err).toString()));
    });
    // A child that ends before it has read everything says so by its exit code, which is what counts.
    child.stdin.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") reject(error);
    });
    child.stdin.end(input);
  });
}

export interface GitObject {
  oid: string;
  type: "commit" | "tree" | "blob" | "tag";
  content: Buffer;
}

interface Waiting {
  resolve: (object: GitObject | null) => void;
  reject: (error: Error) => void;
}

/** Reads objects by name or id through one `git cat-file --batch`, so that a read costs no process. */
export class ObjectReader {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #waiting: Waiting[] = [];
  #buffer: Buffer = Buffer.alloc(0);
  #closed = false;

  constructor(dir: string) {
    this.#child = spawn("git", [`--git-dir=${dir}`, "cat-file", "--batch"], { env: gitEnvironment() });
    this.#child.stdout.on("data", (chunk: Buffer) => {
      this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
      this.#drain();
    });
    this.#child.on("close", () => {
      this.#closed = true;
      for (const one of this.#waiting.splice(0)) one.reject(new Error("git cat-file has ended"));
    });
    this.#child.stdin.on("error", () => undefined); // reported by "close"
  }

  /** The object that the expression names, or null where there is none. */
  read(expression: string): Promise<GitObject | null> {
    if (/[\n\0]/.test(expression) || expression === "") return Promise.resolve(null);
    if (this.#closed) return Promise.reject(new Error("git cat-file has ended"));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#child.stdin.write(`${expression}\n`);
    });
  }

  close(): void {
    this.#closed = true;
    this.#child.stdin.end();
  }

  #drain(): void {
    for (;;) {
      const end = this.#buffer.indexOf(10);
      const next = this.#waiting[0];
      if (end < 0 || next === undefined) return;
      const header = this.#buffer.subarray(0, end).toString();
      const found = /^([0-9a-f]{40,64}) (commit|tree|blob|tag) (\d+)$/.exec(header);
      if (found === null) {
        this.#buffer = this.#buffer.subarray(end + 1);
        this.#waiting.shift();
        next.resolve(null); // "missing", "ambiguous" and the like
        continue;
      }
      const size = Number(found[3]);
      if (this.#buffer.length < end + 1 + size + 1) return;
      const content = Buffer.from(this.#buffer.subarray(end + 1, end + 1 + size));
      this.#buffer = this.#buffer.subarray(end + 1 + size + 1);
      this.#waiting.shift();
      next.resolve({ oid: found[1] ?? "", type: found[2] as GitObject["type"], content });
    }
  }
}
