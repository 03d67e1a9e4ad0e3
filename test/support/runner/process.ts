// Runs one process of a step as actions/runner does, with its ladder of signals on cancel (ProcessInvoker.cs).
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import type { Times } from "./options.js";

export interface ProcessPlan {
  file: string;
  args: string[];
  cwd: string;
  env: Record<string, string>;
  /** When aborted, the process is cancelled. */
  signal: AbortSignal;
  times: Times;
  onLine: (line: string) => void;
}

export interface ProcessEnd {
  /** 128 where a signal ended it. */
  code: number;
  leakedStdio: boolean;
}

/** @throws when the process cannot be started. */
export async function runProcess(plan: ProcessPlan): Promise<ProcessEnd> {
  const child = spawn(plan.file, plan.args, {
    cwd: plan.cwd,
    env: plan.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const flushes = [child.stdout, child.stderr].map((stream) => eachLine(stream, plan.onLine));
  const exited = once(child, "exit");
  const closed = once(child, "close");
  // Where the start fails both reject with the same error, and `exited` is the one that is awaited.
  closed.catch(() => undefined);
  const ladder = () => climb(child, exited, plan.times);
  if (plan.signal.aborted) ladder();
  else plan.signal.addEventListener("abort", ladder, { once: true });
  try {
    const [code] = (await exited) as [number | null];
    const leakedStdio = !(await within(plan.times.stdio, closed));
    child.stdout.destroy();
    child.stderr.destroy();
    for (const flush of flushes) flush();
    return { code: code ?? 128, leakedStdio };
  } finally {
    plan.signal.removeEventListener("abort", ladder);
  }
}

/** The signals go to the entry process alone, never to its children. */
async function climb(child: ChildProcess, exited: Promise<unknown>, times: Times): Promise<void> {
  child.kill("SIGINT");
  if (await within(times.sigint, exited)) return;
  child.kill("SIGTERM");
  if (await within(times.sigterm, exited)) return;
  child.kill("SIGKILL");
}

async function within(ms: number, event: Promise<unknown>): Promise<boolean> {
  const stop = new AbortController();
  const timeout = sleep(ms, false, { signal: stop.signal }).catch(() => false);
  const result = await Promise.race([event.then(() => true), timeout]);
  stop.abort();
  return result;
}

function eachLine(stream: NodeJS.ReadableStream, onLine: (line: string) => void): () => void {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  stream.on("data", (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line.replace(/\r$/, ""));
  });
  return () => {
    if (rest !== "") onLine(rest);
    rest = "";
  };
}
