// How an action speaks to the runner: inputs, outputs, state, environment, annotations and the summary.
//
// Written out here instead of taken from @actions/core, whose HTTP client alone is 360 kB and 60 ms at every start.
// The formats are those of docs.github.com, "Workflow commands for GitHub Actions".
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";

export interface Workflow {
  env: NodeJS.ProcessEnv;
  /** The input as given, trimmed; "" when absent. */
  input(name: string): string;
  output(name: string, value: string): void;
  /** Kept for the post step of the same action. */
  save(name: string, value: string): void;
  saved(name: string): string;
  /** For the later steps of the job. */
  exportVariable(name: string, value: string): void;
  info(text: string): void;
  notice(text: string, title?: string): void;
  warning(text: string, title?: string): void;
  /** An error annotation; the step fails. */
  fail(text: string, title?: string): void;
  summary(markdown: string): void;
}

export function workflowOf(env: NodeJS.ProcessEnv, write: (line: string) => void): Workflow {
  const annotate = (level: "notice" | "warning" | "error", text: string, title = "Fencepost") =>
    write(`::${level} title=${property(title)}::${data(text)}`);
  return {
    env,
    input: (name) => (env[`INPUT_${name.replaceAll(" ", "_").toUpperCase()}`] ?? "").trim(),
    output: (name, value) => toFile("GITHUB_OUTPUT", name, value),
    save: (name, value) => toFile("GITHUB_STATE", name, value),
    saved: (name) => env[`STATE_${name}`] ?? "",
    exportVariable(name, value) {
      env[name] = value;
      toFile("GITHUB_ENV", name, value);
    },
    info: (text) => write(escapeCommands(text)),
    notice: (text, title) => annotate("notice", text, title),
    warning: (text, title) => annotate("warning", text, title),
    fail(text, title) {
      process.exitCode = 1;
      annotate("error", text, title);
    },
    summary(markdown) {
      const file = env.GITHUB_STEP_SUMMARY;
      if (file) appendFileSync(file, `${markdown}\n`);
    },
  };

  function toFile(variable: string, name: string, value: string): void {
    const file = env[variable];
    if (!file) return;
    // A delimiter that no value can contain.
    const end = `fencepost_${randomUUID()}`;
    appendFileSync(file, `${name}<<${end}\n${value}\n${end}\n`);
  }
}

function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** Text from elsewhere never becomes a command. */
function escapeCommands(text: string): string {
  return text.replace(/^(\s*)(::|##\[)/gm, "$1\u200b$2");
}
