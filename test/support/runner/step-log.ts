// The log of a step: takes lines and workflow commands, keeps what a person would see.
import type { Masks } from "./masks.js";
import type { Annotation } from "./result.js";

export interface StepLog {
  lines: string[];
  annotations: Annotation[];
  /** A line as the runner prints it. */
  print(line: string): void;
  issue(issue: Annotation): void;
}

/** Limits of actions/runner (ExecutionContext.cs). */
const issuesPerLevel = 10;
const issueLength = 4096;

export function createLog(masks: Masks, onLine: (line: string) => void): StepLog {
  const log: StepLog = {
    lines: [],
    annotations: [],
    print(line) {
      const hidden = masks.hide(line);
      log.lines.push(hidden);
      onLine(hidden);
    },
    issue(issue) {
      const message = masks.hide(issue.message).slice(0, issueLength);
      if (log.annotations.filter((other) => other.level === issue.level).length < issuesPerLevel)
        log.annotations.push({ ...issue, message });
      log.print(`##[${issue.level}]${message}`);
    },
  };
  return log;
}

/** What commands other than those of the log do. */
export interface CommandEffects {
  mask(value: string): void;
  output(name: string, value: string): void;
  state(name: string, value: string): void;
  fail(): void;
}

const known = new Set(
  "error warning notice debug group endgroup add-mask stop-commands echo set-output save-state set-env add-path add-matcher remove-matcher".split(
    " ",
  ),
);

/** Reads one process's output: commands take effect, other lines go to the log (ActionCommandManager.cs). */
export function commandReader(log: StepLog, effects: CommandEffects): (line: string) => void {
  let resume: string | null = null;
  return (line) => {
    const command = parseCommand(line);
    if (resume !== null) {
      log.print(line);
      if (command?.name === resume) resume = null;
    } else if (!command || !known.has(command.name)) {
      log.print(line);
    } else if (command.name === "stop-commands") {
      resume = command.data.toLowerCase();
      log.print(line);
    } else {
      obey(command, line, log, effects);
    }
  };
}

interface Command {
  name: string;
  properties: Record<string, string>;
  data: string;
}

function obey(command: Command, line: string, log: StepLog, effects: CommandEffects): void {
  const { name, properties, data } = command;
  const named = properties.name ?? "";
  if (name === "error" || name === "warning" || name === "notice")
    log.issue({ level: name, message: data, ...details(properties) });
  else if (name === "group") log.print(`##[group]${data}`);
  else if (name === "endgroup") log.print("##[endgroup]");
  else if (name === "add-mask") effects.mask(data);
  else if (name === "set-output") effects.output(named, data);
  else if (name === "save-state") effects.state(named, data);
  else if (name === "set-env" || name === "add-path") {
    const message = `The \`${name}\` command is disabled. Please upgrade to using Environment Files.`;
    log.issue({ level: "error", message: `Unable to process command '${line}' successfully.` });
    log.issue({ level: "error", message });
    effects.fail();
  }
  // Debug lines show only under ACTIONS_STEP_DEBUG; echo and matchers change nothing that is kept here.
}

function details(properties: Record<string, string>): Partial<Annotation> {
  const { title, file, line } = properties;
  return { ...(title && { title }), ...(file && { file }), ...(line && { line: Number(line) }) };
}

/** `::name key=value,key=value::data`, or the older `##[name key=value;key=value]data` (ActionCommand.cs). */
function parseCommand(line: string): Command | null {
  const found =
    /^\s*::([^\s:]+)(?: (.*?))?::(.*)$/s.exec(line) ?? /##\[([^\s\]]+)(?: (.*?))?\](.*)$/s.exec(line);
  if (!found) return null;
  const [whole, name = "", properties = "", data = ""] = found;
  const separator = whole.trimStart().startsWith("::") ? "," : ";";
  const pairs = properties.split(separator).flatMap((pair) => {
    const [, key, value] = /^\s*([^=]+)=(.+)$/s.exec(pair) ?? [];
    return key !== undefined && value !== undefined ? [[key.toLowerCase(), unescaped(value)]] : [];
  });
  return { name: name.toLowerCase(), properties: Object.fromEntries(pairs), data: unescaped(data) };
}

const escapes: Record<string, string> = {
  "%0D": "\r",
  "%0A": "\n",
  "%3A": ":",
  "%2C": ",",
  "%3B": ";",
  "%5D": "]",
  "%25": "%",
};

function unescaped(text: string): string {
  return text.replace(/%(?:0D|0A|3A|2C|3B|5D|25)/g, (code) => escapes[code] ?? code);
}
