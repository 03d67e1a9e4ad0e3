// Ends the processes that a job left behind, found by the tracking id in their environment (JobExtension.cs).
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

export const trackingVariable = "RUNNER_TRACKING_ID";

export interface Orphan {
  pid: number;
  name: string;
}

/** Kills until none is left, for a process may start another one in the meantime. Returns those that were killed. */
export async function killOrphans(trackingId: string): Promise<Orphan[]> {
  const killed = new Map<number, Orphan>();
  for (let round = 0; round < 200; round++) {
    const found = await processesOf(trackingId);
    if (found.length === 0) return [...killed.values()];
    for (const orphan of found) {
      killed.set(orphan.pid, orphan);
      kill(orphan.pid);
    }
    await sleep(10);
  }
  throw new Error(`Processes of the job do not end: ${[...killed.keys()].join(", ")}`);
}

/** Only Linux shows the environment of other processes as files. */
export async function processesOf(trackingId: string): Promise<Orphan[]> {
  if (process.platform !== "linux") return [];
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const found = await Promise.all(pids.map((pid) => inspect(pid, trackingId)));
  return found.filter((orphan) => orphan !== null);
}

async function inspect(pid: string, trackingId: string): Promise<Orphan | null> {
  const environment = await readOfProcess(pid, "environ");
  if (!environment.split("\0").includes(`${trackingVariable}=${trackingId}`)) return null;
  return { pid: Number(pid), name: (await readOfProcess(pid, "comm")).trim() };
}

/** Empty for a process that has ended meanwhile or belongs to someone else: neither is ours to kill. */
async function readOfProcess(pid: string, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes(error.code ?? "")) return "";
    throw error;
  });
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
