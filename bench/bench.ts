// What a run costs on a local HTTP server: git processes, network round trips, and the time beside a bare command.
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type GitServer, gitServer } from "../test/support/git-server.js";
import { hub } from "../test/support/hub.js";
import { type Sandbox, sandbox } from "../test/support/sandbox.js";
import { actionRequests, bundleFacts, cpuSeconds } from "./action.js";
import { planTenThousand, sweepRequests } from "./drafts.js";

export async function bench(): Promise<void> {
  const box = sandbox();
  const server = await gitServer({ root: box.folder, env: box.env });
  try {
    const clone = box.clone("a");
    box.git(clone, "remote", "set-url", "origin", `${server.url}/origin.git`);
    const rows = await costs(box, server, clone);
    console.log(
      "On a git server over HTTP. A round trip is one HTTP request; git makes two for most things.\n",
    );
    console.log(row("step", "git processes", "HTTP requests"));
    for (const [step, cost] of rows) console.log(row(step, String(cost.processes), String(cost.requests)));
    console.log(`\n${await overhead(box, clone)}\n`);
    const { milliseconds, megabytes } = await planTenThousand(box);
    console.log(
      `A sweep over 10,000 drafts, 200 with records: ${(milliseconds / 1000).toFixed(1)} s, ${Math.round(megabytes)} MB.\n`,
    );
    await action();
  } finally {
    await server.close();
    box.dispose();
  }
}

async function action(): Promise<void> {
  const on = await hub();
  try {
    console.log("On GitHub, in requests to the API:\n");
    for (const [step, requests] of Object.entries(await actionRequests(on)))
      console.log(`${step.padEnd(64)}${String(requests).padStart(4)}`);
    console.log(
      `${"a sweep over 10,000 drafts, 200 with records".padEnd(64)}${String(await sweepRequests()).padStart(4)}`,
    );
    console.log(
      `\nCPU time of main and post together, git's included: ${(await cpuSeconds(on)).toFixed(2)} s.`,
    );
  } finally {
    await on.close();
  }
  const { sizes, startupMs } = bundleFacts();
  console.log(
    `\nBundles in kB: ${Object.entries(sizes)
      .map(([name, size]) => `${name} ${Math.round(size / 1000)}`)
      .join(", ")}.`,
  );
  console.log(`The main step is loaded ${Math.round(startupMs)} ms after node -e 0 is.`);
}

export interface Cost {
  processes: number;
  requests: number;
}

/** Each step by the difference between a run with it and a run without it. */
export async function costs(box: Sandbox, server: GitServer, clone: string): Promise<[string, Cost][]> {
  const run = (lease: string, ...args: string[]) =>
    measure(box, server, clone, ["run", "--lease", lease, ...args]);
  const first = await run("first", "--", "true");
  const plain = await run("first", "--", "true");
  const renewed = await run("first", "--ttl", "6s", "--", "sleep", "3");
  const pushed = await run(
    "first",
    "--push",
    "main",
    "--",
    "git",
    "commit",
    "-q",
    "--allow-empty",
    "-m",
    "x",
  );
  const holder = box.start(["run", "--lease", "busy", "--store", box.origin, "--", "sleep", "60"]);
  await holder.until(/acquired/);
  const skipped = await measure(box, server, clone, ["run", "--lease", "busy", "--", "true"]);
  return [
    ["acquire and release, the first time ever", first],
    ["acquire and release", plain],
    ["renew, in a process of its own, with its start", minus(renewed, plain)],
    ["fenced push, checked against the remote", minus(pushed, plain, 1)],
    ["skip", skipped],
  ];
}

async function measure(box: Sandbox, server: GitServer, clone: string, args: string[]): Promise<Cost> {
  const traces = join(box.folder, "traces");
  rmSync(traces, { recursive: true, force: true });
  mkdirSync(traces);
  const before = server.requests.length;
  await box.cli(args, { cwd: clone, env: { GIT_TRACE2_EVENT: traces } });
  // One file a process. What git starts by itself has its parent's name before its own.
  const ours = readdirSync(traces).filter((file) => !/"sid":"[^"]*\//.test(firstLine(join(traces, file))));
  return { processes: ours.length, requests: server.requests.length - before };
}

function firstLine(path: string): string {
  return (
    readFileSync(path, "utf8")
      .split("\n")
      .find((line) => line.includes('"event":"start"')) ?? ""
  );
}

function minus(a: Cost, b: Cost, others = 0): Cost {
  return { processes: a.processes - b.processes - others, requests: a.requests - b.requests };
}

/** Wall time of `fencepost run -- true` beside that of starting Node twice and git thrice, which any such tool must. */
async function overhead(box: Sandbox, clone: string): Promise<string> {
  const times = { run: [] as number[], node: [] as number[] };
  for (let i = 0; i < 5; i++) {
    times.run.push(await timed(() => box.cli(["run", "--lease", "time", "--", "true"], { cwd: clone })));
    times.node.push(await timed(() => box.cli(["--version"], { cwd: clone })));
  }
  const [run, node] = [median(times.run), median(times.node)];
  return `fencepost run -- true takes ${(run / 1000).toFixed(2)} s, ${(run / node).toFixed(1)} times the start of the command line alone.`;
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function row(...cells: [string, string, string]): string {
  return `${cells[0].padEnd(48)}${cells[1].padStart(16)}${cells[2].padStart(16)}`;
}
