// Runs a process for a step, with the environment and the command files that the runner gives it.
import { delimiter } from "node:path";
import {
  type CommandFiles,
  createCommandFiles,
  parsePairs,
  readCommandFile,
  readSummary,
} from "./file-commands.js";
import { environmentOfGithub, environmentOfRunner } from "./github-context.js";
import type { JobStatus } from "./job-state.js";
import { runProcess } from "./process.js";
import { Interrupted, type StepRun } from "./step.js";
import { commandReader } from "./step-log.js";
import { githubOfStep } from "./step-scope.js";

export interface StepCommand {
  file: string;
  args: string[];
  cwd: string;
  env?: Record<string, string>;
  /** What is said about a bad exit code; JavaScript actions say so themselves. */
  onExitCode?: (code: number) => void;
}

/** @throws Interrupted when the step's signal stopped the process. */
export async function runInStep(run: StepRun, command: StepCommand): Promise<JobStatus> {
  const { job } = run.frame;
  const files = await createCommandFiles(job.machine.temp);
  try {
    // A process that started now would outlive the machine.
    if (job.abandoned) throw new Interrupted();
    const end = await runProcess({
      ...command,
      env: environmentOf(run, files, command.env ?? {}),
      signal: run.signal,
      times: job.times,
      onLine: commandReader(run.log, effectsOn(run)),
    });
    if (end.leakedStdio) outermost(run).result.leakedStdio = true;
    if (run.signal.aborted) throw new Interrupted();
    if (end.code !== 0) command.onExitCode?.(end.code);
    return end.code === 0 ? "success" : "failure";
  } finally {
    // Also after a kill: what the step wrote until then counts. Not after the loss of the machine, and its files.
    if (!job.abandoned) await readFiles(run, files);
  }
}

export function stateOf(run: StepRun): Record<string, string> {
  const { states } = run.frame.job;
  const state = states.get(run.task.key) ?? {};
  states.set(run.task.key, state);
  return state;
}

function effectsOn(run: StepRun) {
  return {
    mask: (value: string) => run.frame.job.masks.add(value),
    output: (name: string, value: string) => {
      run.result.outputs[name] = value;
    },
    state: (name: string, value: string) => {
      stateOf(run)[name] = value;
    },
    fail: () => {
      run.failed = true;
    },
  };
}

function environmentOf(
  run: StepRun,
  files: CommandFiles,
  own: Record<string, string>,
): Record<string, string> {
  const { job } = run.frame;
  const base: Record<string, string> = { CI: "true", ...job.machine.env, ...run.env, ...own };
  return {
    ...base,
    PATH: [...job.path, base.PATH ?? ""].join(delimiter),
    ...environmentOfGithub({ ...githubOfStep(run), ...files }),
    ...environmentOfRunner(job.machine),
    GITHUB_ACTIONS: "true",
  };
}

async function readFiles(run: StepRun, files: CommandFiles): Promise<void> {
  const { job } = run.frame;
  await reading(run, "path", async () => {
    const added = (await readCommandFile(files.path)).split(/\r?\n/).filter((line) => line !== "");
    for (const folder of added) job.path = [folder, ...job.path.filter((other) => other !== folder)];
  });
  await reading(run, "env", async () => {
    for (const [name, value] of parsePairs(await readCommandFile(files.env)))
      setEnvironment(run, name, value);
  });
  await reading(run, "step_summary", async () => {
    const { text, error } = await readSummary(files.step_summary);
    if (error) run.log.issue({ level: "error", message: error });
    if (text !== "") outermost(run).result.summaries.push(job.masks.hide(text));
  });
  await reading(run, "state", async () => {
    Object.assign(stateOf(run), Object.fromEntries(parsePairs(await readCommandFile(files.state))));
  });
  await reading(run, "output", async () => {
    Object.assign(run.result.outputs, Object.fromEntries(parsePairs(await readCommandFile(files.output))));
  });
}

async function reading(run: StepRun, name: string, read: () => Promise<void>): Promise<void> {
  try {
    await read();
  } catch (error) {
    run.log.issue({ level: "error", message: `Unable to process file command '${name}' successfully.` });
    run.log.issue({ level: "error", message: (error as Error).message });
    run.failed = true;
  }
}

function setEnvironment(run: StepRun, name: string, value: string): void {
  const message = "Can't store NODE_OPTIONS output parameter using '$GITHUB_ENV' command.";
  if (name.toUpperCase() === "NODE_OPTIONS") run.log.issue({ level: "error", message });
  else run.frame.job.env[name] = value;
}

function outermost(run: StepRun): StepRun {
  return run.frame.composite ? outermost(run.frame.composite.parent) : run;
}
