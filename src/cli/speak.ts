// What a command says while it works: to standard error, coloured on a terminal only.
import pc from "picocolors";
import type { Clock } from "../clock.js";
import { formatDuration } from "../protocol/duration.js";

export interface Voice {
  say(text: string): void;
  good(text: string): void;
  warn(text: string): void;
  bad(text: string): void;
  /** Says every ten seconds what is still being waited for, and since when, until the work is done. */
  during<T>(what: string, work: Promise<T>): Promise<T>;
}

const colours = (stream: { isTTY?: boolean }) =>
  pc.createColors(Boolean(stream.isTTY) && !process.env.NO_COLOR && process.env.TERM !== "dumb");

export const onOut = colours(process.stdout);
const onErr = colours(process.stderr);

export function voice(clock: Clock, quiet = false): Voice {
  const write = (text: string) => {
    if (!quiet) process.stderr.write(`${onErr.dim("fencepost:")} ${text}\n`);
  };
  return {
    say: write,
    good: (text) => write(onErr.green(text)),
    warn: (text) => write(onErr.yellow(text)),
    bad: (text) => write(onErr.red(text)),
    async during(what, work) {
      const start = clock.read().wall;
      const tick = setInterval(() => {
        const since = new Date(start).toISOString().slice(11, 19);
        write(`${what}, since ${since} UTC (${formatDuration(clock.read().wall - start)})`);
      }, 10_000);
      try {
        return await work;
      } finally {
        clearInterval(tick);
      }
    },
  };
}
