// The heartbeat as a process of its own: started by `run`, told what to renew over its input, ended when that closes.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Clock } from "../clock.js";
import { keptDraft } from "../draft/claim.js";
import type { Remote } from "../git/remote.js";
import { beatLine, beatOf } from "../lease/beat-line.js";
import { type Beat, keepAlive, keptLease, type LostBeat } from "../lease/heartbeat.js";
import { inDoubt, type Reading } from "../protocol/doubt.js";
import type { DraftHolding } from "../protocol/draft.js";
import type { Holding } from "../protocol/lease.js";
import { openPorts } from "./place.js";

/** What a heartbeat keeps: the kind decides by which rules. */
export type AnyHolding = Holding | DraftHolding;

/** What the process is told, in one line. It goes through a pipe, since it may hold credentials. */
interface Orders<H = AnyHolding> {
  remote: Remote;
  prefix: string;
  objectFormat?: string | undefined;
  holding: H;
  sentAt: Reading;
}

/** The process itself. */
export async function heartbeatProcess(): Promise<void> {
  // A key press or a hang-up reaches the whole group, and the command may still need its lease to end well.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => {});
  const lines = createInterface({ input: process.stdin });
  const stop = new AbortController();
  lines.on("close", () => stop.abort());
  const orders = await new Promise<Orders | null>((resolve) => {
    lines.once("line", (line) => resolve(JSON.parse(line)));
    lines.once("close", () => resolve(null));
  });
  if (orders === null) return;
  const ports = openPorts(orders.remote, orders.prefix, orders.objectFormat);
  const onBeat = (beat: Beat<unknown>) => process.stdout.write(beatLine(beat));
  process.stdout.on("error", () => stop.abort());
  const { holding, sentAt } = orders;
  const beating = { ...ports, sentAt, signal: stop.signal, onBeat };
  if ("draft" in holding) await keepAlive({ ...beating, holding }, keptDraft);
  else await keepAlive({ ...beating, holding }, keptLease);
  await ports.store.close();
}

export interface Pulse<H = AnyHolding> {
  /** Resolves when the lease is lost, and never otherwise. */
  lost: Promise<LostBeat>;
  /** The last holding that was renewed. */
  holding(): H;
  /** Ends the heartbeat, and waits until it has ended. */
  stop(): Promise<void>;
}

export interface PulseOptions<H = AnyHolding> extends Orders<H> {
  clock: Clock;
  /** Whether to renew at all. The doubt limit holds either way. */
  renew: boolean;
  warn: (text: string) => void;
}

/** Starts the heartbeat process, starts it again should it die, and doubts by the parent's own clocks too. */
export function startPulse<H extends AnyHolding>(options: PulseOptions<H>): Pulse<H> {
  const { clock, warn } = options;
  let { holding, sentAt } = options;
  let stopping = false;
  let failing = false;
  let settle: (beat: LostBeat) => void = () => {};
  const lost = new Promise<LostBeat>((resolve) => {
    settle = resolve;
  });

  function hear(beat: Beat<H>): void {
    if (beat.event === "renewed") {
      if (failing) warn("the heartbeat renews again");
      failing = false;
      ({ holding, sentAt } = beat);
    } else if (beat.event === "failing") {
      if (!failing)
        warn(`the heartbeat could not renew (${beat.why}); it tries again until the lease is in doubt`);
      failing = true;
    } else if (beat.event === "ended") rest();
    else settle(beat);
  }

  /** There is nothing to renew or to doubt any more. */
  function rest(): void {
    stopping = true;
    clearInterval(doubt);
  }

  function launch() {
    const child = spawn(process.execPath, [process.argv[1] ?? "", "heartbeat"], {
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
    });
    const orders: Orders<H> = {
      remote: options.remote,
      prefix: options.prefix,
      objectFormat: options.objectFormat,
      holding,
      sentAt,
    };
    child.stdin.on("error", () => {});
    child.stdin.write(`${JSON.stringify(orders)}\n`);
    const reader = createInterface({ input: child.stdout });
    reader.on("line", (line) => {
      // What NODE_OPTIONS loads into the process may print there too.
      const beat = beatOf<Beat<H>>(line);
      if (beat) hear(beat);
    });
    const ended = new Promise<void>((resolve) => {
      child.on("error", () => resolve());
      child.on("close", () => resolve());
    });
    return { child, ended };
  }

  let current = options.renew ? launch() : undefined;
  const watch = current && restart();
  async function restart(): Promise<void> {
    while (current && !stopping) {
      await current.ended;
      if (stopping) return;
      const settled = await Promise.race([lost.then(() => true), clock.sleep(250).then(() => false)]);
      if (settled || stopping) return;
      warn("the heartbeat process ended; starting it again");
      current = launch();
    }
  }

  const ttl = holding.record.ttl ?? 0;
  const name = "draft" in holding ? holding.draft : holding.lease;
  const doubt = setInterval(
    () => {
      if (!inDoubt(ttl, sentAt, clock.read())) return;
      const detail = `no renewal of ${JSON.stringify(name)} succeeded for two thirds of its TTL`;
      settle({ event: "lost", why: "doubt", detail });
    },
    Math.min(1000, ttl / 30),
  );

  return {
    lost,
    holding: () => holding,
    async stop() {
      rest();
      current?.child.stdin.end();
      const killer = setTimeout(() => current?.child.kill("SIGKILL"), 5000);
      await current?.ended;
      clearTimeout(killer);
      await watch;
    },
  };
}
