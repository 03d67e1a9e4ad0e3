// Runs a `run:` step with its shell (ScriptHandler.cs, ScriptHandlerHelpers.cs).
import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { evaluateText } from "./expression.js";
import type { JobStatus } from "./job-state.js";
import type { StepRun } from "./step.js";
import { runInStep } from "./step-process.js";
import type { StepPlan } from "./workflow.js";

const shells: Record<string, string> = {
  bash: "--noprofile --norc -e -o pipefail {0}",
  sh: "-e {0}",
  python: "{0}",
};

export async function runScript(run: StepRun, plan: StepPlan): Promise<JobStatus> {
  const { job, composite } = run.frame;
  const text = (token: StepPlan["run"]) => evaluateText(token, run.scope());
  const script = text(plan.run);
  // Defaults of the job do not reach into composite actions.
  const defaults = composite ? undefined : job.defaults;
  const shell = text(plan.shell) || defaults?.shell || "";
  const folder = text(plan.workingDirectory) || defaults?.workingDirectory || "";
  const path = join(job.machine.temp, `${randomUUID()}.sh`);
  await writeFile(path, script);
  const [file, ...args] = commandLine(shell, path);
  run.log.print(`##[group]Run ${script.trim().split("\n")[0]}`);
  for (const line of script.trimEnd().split("\n")) run.log.print(line);
  run.log.print(`shell: ${[file, ...args.slice(0, -1), "{0}"].join(" ")}`);
  run.log.print("##[endgroup]");
  return runInStep(run, {
    file,
    args,
    cwd: resolve(job.machine.workspace, folder),
    onExitCode: (code) =>
      run.log.issue({ level: "error", message: `Process completed with exit code ${code}.` }),
  });
}

/** Without a shell it is bash without `pipefail`; a shell of its own is a format with `{0}`. */
function commandLine(shell: string, path: string): [string, ...string[]] {
  const [file = "", ...own] = (shell || "bash -e {0}").split(" ");
  const format = own.length > 0 ? own : (shells[file]?.split(" ") ?? []);
  if (!format.some((part) => part.includes("{0}")))
    throw new Error(
      "Invalid shell option. Shell must be a valid built-in (bash, sh, cmd, powershell, pwsh) or a format string containing '{0}'",
    );
  return [file, ...format.map((part) => part.replaceAll("{0}", path))];
}
