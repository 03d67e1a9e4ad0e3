// `fencepost gate`: puts the gate into a repository on this machine, and says what it protects there.
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { Command, Option } from "commander";
import { systemClock } from "../clock.js";
import {
  findGuarded,
  foreignHooks,
  type Guarded,
  type Inspection,
  inspectGate,
  installGate,
  protect,
} from "../gate/server/install.js";
import { type Protection, patternProblem } from "../gate/server/settings.js";
import { GitFailed } from "../git/program.js";
import { leaseName, quote } from "../protocol/names.js";
import { ConfigurationError, exit, UsageError } from "./exit.js";
import { json } from "./options.js";
import { onOut, voice } from "./speak.js";

interface Options {
  repository: string;
  json: boolean;
}

interface InstallOptions extends Options {
  protect?: string[];
  lease?: string;
  fence?: string;
  drafts?: true;
  check?: true;
}

export function gateCommand(finish: (code: number) => void): Command {
  const repository = () =>
    new Option("--repository <path>", "the repository, on the machine that serves it").default(
      process.cwd(),
      ".",
    );
  const install = new Command("install")
    .description("put the hooks in place, or bring them up to date; nobody else's hook is touched")
    .addOption(repository())
    .option(
      "--protect <ref...>",
      "let these move only behind the fence: main, refs/heads/site-*, refs/tags/**",
    )
    .option("--lease <name>", "with --protect: the lease that has to move along")
    .option("--fence <name>", "with --protect: the fence of this lease, which is kept in another repository")
    .option("--drafts", "with --protect: a draft that is published may move along instead")
    .option("--check", "change nothing, and say what is there (as `gate check`)")
    .addOption(json().default(false))
    .action(async (options: InstallOptions) => finish(await (options.check ? check : installing)(options)));
  const checking = new Command("check")
    .description("say what is protected, and whether it is enforced; exit code 1 when something is amiss")
    .addOption(repository())
    .addOption(json().default(false))
    .action(async (options: Options) => finish(await check(options)));
  const command = new Command("gate").description(
    "make a git server of your own refuse late writes by itself",
  );
  for (const sub of [install, checking])
    command.addCommand(sub.exitOverride().configureOutput({ outputError: () => {} }));
  return command;
}

async function installing(options: InstallOptions): Promise<number> {
  const patterns = patternsOf(options);
  const guarded = await find(options);
  const [foreign] = foreignHooks(guarded);
  if (foreign)
    throw new ConfigurationError(
      `${foreign.file} is a hook of somebody else's, so nothing was changed. Let it run \`node ${program()} ${foreign.name} "$@"\` with its own standard input, and end with its exit code; then install again.`,
    );
  const say = voice(systemClock, options.json);
  const written = installGate(guarded, readFileSync(program()), process.execPath);
  for (const pattern of patterns) await protect(guarded, { ...options, pattern });
  for (const file of written) say.say(`wrote ${file}`);
  return check(options);
}

/** Everything is read before anything is written. */
function patternsOf({ protect: given = [], lease, fence, drafts }: InstallOptions): string[] {
  for (const name of [lease, fence]) if (name !== undefined) leaseName(name);
  const needs = lease !== undefined || fence !== undefined || drafts === true;
  if (given.length > 0 && !needs)
    throw new UsageError("--protect needs --lease NAME, --fence NAME or --drafts: what has to move along?");
  if (given.length === 0 && needs)
    throw new UsageError("--lease, --fence and --drafts say what --protect is about, and that is missing.");
  return given.map((ref) => {
    const pattern = ref.startsWith("refs/") ? ref : `refs/heads/${ref}`;
    const problem = patternProblem(pattern);
    if (problem !== null) throw new UsageError(`--protect: ${problem}`);
    return pattern;
  });
}

async function check(options: Options): Promise<number> {
  const guarded = await find(options);
  const found = await inspectGate(guarded, readFileSync(program()));
  const { settings, hooks, enforced, problems } = found;
  if (options.json) {
    const protections = [...settings.own, ...settings.general].map(({ pattern, rule }) => ({
      pattern,
      ...rule,
    }));
    const outcome = problems.length === 0 ? "well" : "findings";
    const body = { outcome, repository: guarded.folder, enforced, protections, hooks, problems };
    process.stdout.write(`${JSON.stringify(body)}\n`);
  } else print(guarded, found);
  return problems.length === 0 ? exit.ok : exit.failed;
}

function print({ folder, layout }: Guarded, { settings, hooks, enforced, problems }: Inspection): void {
  const lines = [onOut.bold(folder)];
  for (const each of [...settings.own, ...settings.general]) lines.push(`  ${each.pattern}  ${behind(each)}`);
  for (const { name, state, version } of hooks)
    lines.push(`  ${name}: ${state}${version === undefined ? "" : ` (${version})`}`);
  const grade = {
    transaction: onOut.green("enforced in the transaction that moves the refs"),
    push: onOut.yellow(
      `enforced before the push only${layout.kind === "gitlab" ? ", which is all that GitLab allows" : ""}: a push that is not atomic can still come late`,
    ),
    off: onOut.red("not enforced"),
  };
  lines.push(`  ${grade[enforced]}`, ...problems.map((problem) => `  ${onOut.yellow("!")} ${problem}`));
  process.stdout.write(`${lines.join("\n")}\n`);
}

function behind({ rule }: Protection): string {
  if ("problem" in rule) return onOut.red("nothing passes");
  return `behind ${rule.behind.map((each) => (each.kind === "draft" ? "a draft that it publishes" : `the ${each.kind} ${quote(each.name)}`)).join(" or ")}`;
}

async function find({ repository }: Options): Promise<Guarded> {
  try {
    return await findGuarded(repository);
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    throw new ConfigurationError(
      `${repository} is no git repository that can be used here: ${error.message}`,
    );
  }
}

/** The gate that this version brings along. */
function program(): string {
  return join(dirname(realpathSync(process.argv[1] ?? "")), "..", "gate", "index.js");
}
