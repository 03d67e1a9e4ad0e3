// Runs the user's command in a process group of its own, passes signals on, and ends it when the lease is lost.
import { type ChildProcess, execFile } from "node:child_process";
import { constants } from "node:os";
import spawn from "cross-spawn";
import type { Clock } from "../clock.js";

/** How long a command has between SIGTERM and SIGKILL, in milliseconds. */
export const grace = 10_000;
/** How long it may take to end after SIGKILL, before it is left alone. */
const killed = 5000;

export interface Command {
  /** The exit code; 128 + n when a signal n ended it, 127 or 126 when it could not be started. */
  done: Promise<number>;
  signal(name: NodeJS.Signals): void;
  /**
   * SIGTERM to the whole group, ten seconds, SIGKILL. Resolves when the command has ended, or five seconds after that:
   * one that changed its user, or hangs in the kernel, cannot be ended.
   */
  end(): Promise<void>;
}

export interface CommandOptions {
  command: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Send its standard output to our standard error, since ours carries one JSON object. */
  outputAside: boolean;
  clock: Clock;
  complain: (text: string) => void;
}

const windows = process.platform === "win32";

export function startCommand({ command, cwd, env, outputAside, clock, complain }: CommandOptions): Command {
  const [program = "", ...args] = command;
  const stdio: ("inherit" | number)[] = ["inherit", outputAside ? 2 : "inherit", "inherit"];
  // A group of its own, so that ending it ends what it started too.
  const child = spawn(program, args, { cwd, env, stdio, detached: !windows });
  const done = new Promise<number>((resolve) => {
    child.on("error", (error: NodeJS.ErrnoException) => {
      complain(`The command ${JSON.stringify(program)} could not be started: ${error.message}.`);
      resolve(error.code === "ENOENT" ? 127 : 126);
    });
    child.on("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
  return {
    done,
    signal(name) {
      if (!signalGroup(child, name))
        complain(
          `${name} could not be passed on to the command, process ${child.pid}: it runs as another user.`,
        );
    },
    async end() {
      signalGroup(child, "SIGTERM");
      const late = new AbortController();
      const killer = clock
        .sleep(grace, late.signal)
        .then(() => signalGroup(child, "SIGKILL"))
        .then(() => clock.sleep(killed, late.signal))
        .then(
          () => "left" as const,
          () => "ended" as const,
        );
      if ((await Promise.race([done, killer])) === "left") {
        complain(
          `The command still runs as process ${child.pid}, and could not be ended. Nothing is pushed any more; end it yourself before it does harm elsewhere.`,
        );
        // It must not keep us from ending.
        child.unref();
        return;
      }
      late.abort();
      // What the command left behind in its group must not go on working without a lease.
      signalGroup(child, "SIGKILL");
    },
  };
}

/** False where somebody is there and may not be signalled. */
function signalGroup(child: ChildProcess, name: NodeJS.Signals): boolean {
  if (child.pid === undefined) return true;
  if (windows) {
    const force = name === "SIGKILL" ? ["/F"] : [];
    execFile("taskkill", ["/PID", String(child.pid), "/T", ...force], () => {});
    return true;
  }
  try {
    process.kill(-child.pid, name);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A command may change its user (su, sudo), and is then out of our reach.
    if (code === "EPERM") return false;
    // Nobody is left in the group.
    if (code !== "ESRCH") throw error;
    return true;
  }
}
