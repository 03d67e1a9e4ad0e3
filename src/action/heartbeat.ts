// The heartbeat of an action: a detached process that ends with the job, and writes what it saw to a file.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, watch, writeFileSync } from "node:fs";
import { access } from "node:fs/promises";
import { keptDraft, publishedByMe, readDraftOn } from "../draft/claim.js";
import { cancelRun } from "../github/liveness.js";
import { type Beat, heartbeat, keepAlive, type LostBeat } from "../lease/heartbeat.js";
import type { Ports } from "../lease/lease.js";
import type { Claim } from "../protocol/claim.js";
import type { DraftHolding } from "../protocol/draft.js";
import type { Holding, Reading } from "../protocol/lease.js";
import { beatsFile, endFile, type HeldBeat, stopFile } from "./held.js";
import type { PlaceInputs } from "./inputs.js";
import { type Client, clock, openClient, openPorts } from "./place.js";
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
  const { folder, place, lease, draft, cancelOnLoss } = orders;
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
  const { signal } = stop;
  const note = (beat: HeldBeat) => appendFileSync(beatsFile(folder), `${JSON.stringify(beat)}\n`);
  const cancelling: Promise<void>[] = [];
  const onLoss = (claim: Claim) => {
    if (cancelOnLoss && cancelling.length === 0) cancelling.push(cancel(client, claim, note));
  };
  await Promise.all([
    lease && beatLease(ports, { ...lease, signal }, note, onLoss),
    draft && beatDraft(ports, { ...draft, signal }, note, onLoss),
  ]);
  clearInterval(timer);
  watcher.close();
  await Promise.all(cancelling);
  await ports.store.close();
  writeFileSync(endFile(folder), "");
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

/** A draft that this job has published with a push of its own is not lost. */
async function beatDraft(ports: Ports, task: Task<DraftHolding>, note: Note, onLoss: (claim: Claim) => void) {
  const { holding } = task;
  const losses: LostBeat[] = [];
  const onBeat = (beat: Beat<DraftHolding>) => {
    if (beat.event === "lost") losses.push(beat);
    else note({ of: "draft", ...beat });
  };
  await keepAlive({ ...ports, ...task, onBeat }, keptDraft);
  const [lost] = losses;
  if (lost === undefined) return;
  const options = { signal: AbortSignal.timeout(20_000) };
  const seen = await readDraftOn(ports.store, holding.draft, options).catch(() => null);
  if (publishedByMe(seen?.record ?? null, holding)) return;
  note({ of: "draft", ...lost });
  onLoss(holding.claim);
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
