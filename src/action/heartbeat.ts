// The heartbeat of an action: a detached process that ends with the job, and writes what it saw to a file.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, type FSWatcher, watch, writeFileSync } from "node:fs";
import { access } from "node:fs/promises";
import { keptDraft } from "../draft/claim.js";
import { cancelRun } from "../github/liveness.js";
import { beatLine } from "../lease/beat-line.js";
import { type Beat, heartbeat, keepAlive } from "../lease/heartbeat.js";
import type { Ports } from "../lease/lease.js";
import type { Claim } from "../protocol/claim.js";
import type { Reading } from "../protocol/doubt.js";
import type { DraftHolding } from "../protocol/draft.js";
import type { Holding } from "../protocol/lease.js";
import { beatsFile, endFile, type HeldBeat, stopFile } from "./held.js";
import type { PlaceInputs } from "./inputs.js";
import { type Client, clock, openClient, openPorts } from "./place.js";
import { isRunning } from "./pulse.js";
import type { Workflow } from "./workflow.js";

interface Orders {
  place: PlaceInputs;
  lease: { holding: Holding; sentAt: Reading } | null;
  draft: { holding: DraftHolding; sentAt: Reading } | null;
  folder: string;
  cancelOnLoss: boolean;
}

/** By environment, since the token is in it. */
const variable = "FENCEPOST_HEARTBEAT";

/**
 * Starts the heartbeat and returns its process id; null, with a warning, where that fails. It keeps none of our streams open, so that the step can end, and it
 * keeps RUNNER_TRACKING_ID, so that the runner ends it with the job (actions/runner, "Cleaning up orphan processes").
 */
export function startHeartbeat(workflow: Workflow, program: string, orders: Orders): number | null {
  const failed = (error: unknown) =>
    workflow.warning(
      `The heartbeat could not be started (${error instanceof Error ? error.message : String(error)}), so nothing renews what this job holds: it may be taken over when its TTL has passed. Look for a machine without memory or processes to spare.`,
    );
  try {
    const child = spawn(process.execPath, [program], {
      detached: true,
      stdio: "ignore",
      windowsHide: true,
      env: { ...withoutInputs(workflow.env), [variable]: JSON.stringify(orders) },
    });
    child.on("error", failed);
    child.unref();
    return child.pid ?? null;
  } catch (error) {
    // An environment that is too large is thrown, and not told by the event.
    failed(error);
    return null;
  }
}

/** The heartbeat has its orders; what else a step is told, the token of the push among it, is not for it. */
function withoutInputs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(INPUT|STATE)_/i.test(name)));
}

/** The process itself. */
export async function beatUntilStopped(workflow: Workflow): Promise<void> {
  const orders: Orders = JSON.parse(workflow.env[variable] ?? "");
  delete process.env[variable];
  const { folder, lease } = orders;
  // What cannot be written down costs a warning at most. A renewal that is left out costs the lease.
  const note = (beat: HeldBeat) => attempt(() => appendFileSync(beatsFile(folder), beatLine(beat)));
  const order = stopOrder(folder);
  try {
    await beatAll(workflow, orders, order.signal, note);
  } catch (error) {
    const why = `the heartbeat itself failed: ${error instanceof Error ? error.message : String(error)}`;
    note({ of: lease ? "lease" : "draft", event: "failing", why });
    throw error;
  } finally {
    // They alone would keep a process alive that does nothing any more.
    order.close();
  }
  attempt(() => writeFileSync(endFile(folder), ""));
}

/** Aborts when the post step asks for it. */
function stopOrder(folder: string): { signal: AbortSignal; close(): void } {
  const stop = new AbortController();
  const look = () => {
    if (existsSync(stopFile(folder))) stop.abort();
  };
  // Watching is not dependable on every file system, and has a limit on every machine.
  const timer = setInterval(look, 1000);
  const watcher = attempt((): FSWatcher => watch(folder, look));
  watcher?.on("error", () => {});
  look();
  return {
    signal: stop.signal,
    close() {
      clearInterval(timer);
      watcher?.close();
    },
  };
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

async function beatAll(workflow: Workflow, orders: Orders, signal: AbortSignal, note: Note): Promise<void> {
  const { place, lease, draft, cancelOnLoss } = orders;
  const client = openClient(workflow.env, place.token);
  const ports = openPorts(workflow, place, client);
  const cancelling: Promise<void>[] = [];
  const onLoss = (claim: Claim) => {
    if (cancelOnLoss && cancelling.length === 0) cancelling.push(cancel(client, claim, note));
  };
  try {
    await Promise.all([
      lease && beatLease(ports, { ...lease, signal }, note, onLoss),
      draft && beatDraft(ports, { ...draft, signal }, note, onLoss),
    ]);
    await Promise.all(cancelling);
  } finally {
    await ports.store.close();
  }
}

type Note = (beat: HeldBeat) => void;
type Task<H> = { holding: H; sentAt: Reading; signal: AbortSignal };

async function beatLease(ports: Ports, task: Task<Holding>, note: Note, onLoss: (claim: Claim) => void) {
  const onBeat = (beat: Beat) => {
    note({ of: "lease", ...beat });
    if (beat.event === "lost") onLoss(task.holding.claim);
  };
  await heartbeat({ ...ports, ...task, onBeat });
}

async function beatDraft(ports: Ports, task: Task<DraftHolding>, note: Note, onLoss: (claim: Claim) => void) {
  const onBeat = (beat: Beat<DraftHolding>) => {
    note({ of: "draft", ...beat });
    if (beat.event === "lost") onLoss(task.holding.claim);
  };
  await keepAlive({ ...ports, ...task, onBeat }, keptDraft);
}

/** What came of it goes where the post step reads. */
async function cancel(client: Client, claim: Claim, note: Note): Promise<void> {
  const why = await cancelRun(client, claim, { signal: AbortSignal.timeout(30_000) }).then(
    (result) => (result.outcome === "failed" ? result.words : null),
    (error) => String(error),
  );
  if (why !== null) note({ of: "lease", event: "failing", why: `the run could not be cancelled: ${why}` });
}

/** Ends the heartbeat, and waits for it, so that it does not renew what is about to be released. */
export async function stopHeartbeat(folder: string, pid: number | null): Promise<void> {
  if (pid === null) return;
  // Where a full disk takes no file, the signal ends it, in the middle of whatever it does.
  try {
    writeFileSync(stopFile(folder), "");
  } catch {
    attempt(() => process.kill(pid));
  }
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
