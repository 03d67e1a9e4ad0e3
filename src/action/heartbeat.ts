// The heartbeat of an action: a detached process that ends with the job, and writes what it saw to a file.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, watch, writeFileSync } from "node:fs";
import { access } from "node:fs/promises";
import { cancelRun } from "../github/liveness.js";
import { type Beat, heartbeat } from "../lease/heartbeat.js";
import type { Holding, Reading } from "../protocol/lease.js";
import { beatsFile, endFile, stopFile } from "./held.js";
import type { PlaceInputs } from "./inputs.js";
import { type Client, clock, openClient, openPorts } from "./place.js";
import type { Workflow } from "./workflow.js";

interface Orders {
  place: PlaceInputs;
  holding: Holding;
  sentAt: Reading;
  folder: string;
  cancelOnLoss: boolean;
}

/** By environment, since the token is in it. */
const variable = "FENCEPOST_HEARTBEAT";

/**
 * Starts the heartbeat and returns its process id. It keeps none of our streams open, so that the step can end, and it
 * keeps RUNNER_TRACKING_ID, so that the runner ends it with the job (actions/runner, "Cleaning up orphan processes").
 */
export function startHeartbeat(program: string, env: NodeJS.ProcessEnv, orders: Orders): number | null {
  const child = spawn(process.execPath, [program], {
    detached: true,
    stdio: "ignore",
    windowsHide: true,
    env: { ...env, [variable]: JSON.stringify(orders) },
  });
  child.unref();
  return child.pid ?? null;
}

/** The process itself. */
export async function beatUntilStopped(workflow: Workflow): Promise<void> {
  const orders: Orders = JSON.parse(workflow.env[variable] ?? "");
  delete process.env[variable];
  const { folder, place, holding, sentAt, cancelOnLoss } = orders;
  const stop = new AbortController();
  const look = () => {
    if (existsSync(stopFile(folder))) stop.abort();
  };
  const watcher = watch(folder, look);
  watcher.on("error", () => {});
  // Watching is not dependable on every file system.
  const timer = setInterval(look, 1000);
  look();
  const client = openClient(workflow.env, place.token);
  const ports = openPorts(workflow, place, client);
  let lost = false;
  const onBeat = (beat: Beat) => {
    lost ||= beat.event === "lost";
    appendFileSync(beatsFile(folder), `${JSON.stringify(beat)}\n`);
  };
  await heartbeat({ ...ports, holding, sentAt, signal: stop.signal, onBeat });
  clearInterval(timer);
  watcher.close();
  if (lost && cancelOnLoss) await cancel(client, holding, folder);
  await ports.store.close();
  writeFileSync(endFile(folder), "");
}

/** What came of it goes where the post step reads. */
async function cancel(client: Client, holding: Holding, folder: string): Promise<void> {
  const why = await cancelRun(client, holding.claim, { signal: AbortSignal.timeout(30_000) }).then(
    (result) => (result.outcome === "failed" ? result.words : null),
    (error) => String(error),
  );
  if (why === null) return;
  const beat: Beat = { event: "failing", why: `the run could not be cancelled: ${why}` };
  appendFileSync(beatsFile(folder), `${JSON.stringify(beat)}\n`);
}

/** Ends the heartbeat, and waits for it, so that it does not renew what is about to be released. */
export async function stopHeartbeat(folder: string, pid: number | null): Promise<void> {
  if (pid === null) return;
  writeFileSync(stopFile(folder), "");
  const deadline = clock.read().monotonic + 5000;
  while (clock.read().monotonic < deadline && isRunning(pid)) {
    if (
      await access(endFile(folder)).then(
        () => true,
        () => false,
      )
    )
      return;
    await clock.sleep(20);
  }
  // Still there: a renewal in flight. The release will read again should it arrive first.
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
