// Runs a workflow file for a person, against a local GitHub that is thrown away.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { type Hub, hub } from "../hub.js";
import type { RunHandle, RunResult } from "./index.js";

const usage = `npm run rehearse <workflow file> -- [options]

  --event <name>            what triggers it (default: workflow_dispatch)
  --payload <file>          the event's payload, JSON
  --input <name=value>      an input of a workflow_dispatch
  --repository <folder>     what is checked out; a copy of it takes the pushes (default: a small blog)
  --action <name=folder>    where the action owner/name is; one named fencepost is this folder
  --secret <name=value>     --var <name=value>     --env <name=value>
  --github <name=value>     an entry of the github context, for instance api_url
`;

const many = { type: "string", multiple: true, default: [] as string[] } as const;
const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Returns the exit code. */
export async function rehearse(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      event: { type: "string", default: "workflow_dispatch" },
      payload: { type: "string" },
      repository: { type: "string" },
      input: many,
      action: many,
      secret: many,
      var: many,
      env: many,
      github: many,
    },
  });
  const [file] = positionals;
  if (file === undefined) {
    process.stderr.write(usage);
    return 2;
  }
  const on = await hub();
  try {
    if (values.repository) await bring(on, resolve(values.repository));
    const payload = values.payload === undefined ? {} : JSON.parse(await readFile(values.payload, "utf8"));
    const run = on.start(await readFile(file, "utf8"), {
      event: { name: values.event, payload, inputs: pairs(values.input) },
      actions: { ...(await ownActions(file)), ...pairs(values.action) },
      secrets: pairs(values.secret),
      vars: pairs(values.var),
      env: pairs(values.env),
      github: pairs(values.github),
      pace: 1,
      onLine: (line, { job, step }) =>
        console.log(`${step === undefined ? job : `${job} / ${step}`} | ${line}`),
    });
    const code = report(await interruptible(run));
    const branches = await git("for-each-ref", "--format=%(refname:short)  %(subject)", "refs/heads");
    console.log(`\nThe branches now:\n${branches}`);
    return code;

    async function git(...args: string[]): Promise<string> {
      const { stdout } = await promisify(execFile)("git", args, { cwd: on.github.repository().dir });
      return stdout.trim();
    }
  } finally {
    await on.close();
  }
}

/** Puts a copy of a folder's HEAD where the local GitHub has main. */
async function bring(on: Hub, folder: string): Promise<void> {
  const target = on.github.repository().dir;
  await promisify(execFile)("git", ["push", "--quiet", "--force", target, "HEAD:refs/heads/main"], {
    cwd: folder,
  });
}

/** The first Ctrl-C cancels the run, the second one is the loss of its machines. */
async function interruptible(run: RunHandle): Promise<RunResult> {
  let asked = false;
  const interrupt = () => {
    if (asked) void run.kill();
    else run.cancel();
    asked = true;
  };
  process.on("SIGINT", interrupt);
  try {
    return await run.done;
  } finally {
    process.off("SIGINT", interrupt);
  }
}

function report(result: RunResult): number {
  for (const job of result.jobs) {
    console.log(`\n${job.name}: ${job.conclusion}`);
    for (const step of job.steps) console.log(`  ${step.conclusion.padEnd(10)} ${step.name}`);
    if (job.summary !== "") console.log(`\n${job.summary}`);
  }
  return result.conclusion === "success" ? 0 : 1;
}

/** Whatever the owner and the version, an action named fencepost is the one in this folder. */
async function ownActions(file: string): Promise<Record<string, string>> {
  const names = (await readFile(file, "utf8")).matchAll(/uses:\s*["']?([\w.-]+\/fencepost)[/@]/g);
  return Object.fromEntries([...names].map(([, name = ""]) => [name, root]));
}

function pairs(texts: string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
      if (name === undefined || value === undefined) throw new Error(`${text} is not of the form name=value`);
      return [name, value];
    }),
  );
}
