// Whether the heartbeat still does its work, as seen from the steps that push.
import { readFileSync } from "node:fs";
import { access } from "node:fs/promises";
import { elapsed, type Reading } from "../protocol/doubt.js";
import { formatDuration } from "../protocol/duration.js";
import { endFile, readBeats } from "./held.js";
import { clock } from "./place.js";
import type { Workflow } from "./workflow.js";

/** A heartbeat that was started, as later steps of the job need to know it. */
export interface Pulse {
  pid: number;
  folder: string;
  /** Milliseconds. */
  ttl: number;
  /** When what it renews was acquired. */
  sentAt: Reading;
}

/** Environment variable with the pulse as JSON, for pushes in the middle of the job. */
export const pulseVariable = "FENCEPOST_PULSE";

export function exportPulse(workflow: Workflow, pulse: Pulse | null): void {
  // Emptied only where an earlier step of the job has set it.
  if (pulse === null && !workflow.env[pulseVariable]) return;
  workflow.exportVariable(pulseVariable, pulse === null ? "" : JSON.stringify(pulse));
}

/** Warns when the heartbeat is gone, or does not renew. One that ended because of a loss has said so itself. */
export async function warnOfPulse(workflow: Workflow, { pid, folder, ttl, sentAt }: Pulse): Promise<void> {
  const ended = await access(endFile(folder)).then(
    () => true,
    () => false,
  );
  if (ended) return;
  const { renewedAt, failing } = await readBeats({ folder, holding: null, draft: null });
  const age = elapsed(renewedAt ?? sentAt, clock.read());
  const last = failing ? ` Its last word was: ${failing}.` : "";
  const risk = `${formatDuration(ttl)} after the last renewal another run may take over, and then a push is refused.`;
  if (!isRunning(pid))
    return workflow.warning(
      `The heartbeat (process ${pid}) ended before the job did, and the last renewal was ${formatDuration(age)} ago. ${risk}${last} Look in the job's log for what ends processes or uses up the memory.`,
    );
  // A renewal is due every third, and may itself take a fifth.
  if (age > ttl * 0.6)
    workflow.warning(
      `The heartbeat (process ${pid}) has not renewed for ${formatDuration(age)}, and should every ${formatDuration(ttl / 3)}. ${risk}${last} Look for a machine that slept, lost its network or has a full disk.`,
    );
}

/** The same in a later step of the job, if that has a heartbeat. */
export async function warnOfExportedPulse(workflow: Workflow): Promise<void> {
  const given = workflow.env[pulseVariable];
  if (!given) return;
  let pulse: Pulse;
  try {
    pulse = JSON.parse(given);
  } catch {
    return;
  }
  await warnOfPulse(workflow, pulse);
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Ended, and kept in the table of processes: nobody asks for its exit code in a job's container. */
function isZombie(pid: number): boolean {
  try {
    return /\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
