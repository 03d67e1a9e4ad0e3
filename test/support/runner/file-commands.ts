// The files by which a step speaks to the runner: GITHUB_OUTPUT, GITHUB_STATE, GITHUB_ENV, GITHUB_PATH, GITHUB_STEP_SUMMARY.
import { randomUUID } from "node:crypto";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Names in the `github` context; in the environment they are upper case behind `GITHUB_`. */
const names = ["output", "state", "env", "path", "step_summary"] as const;
export type CommandFiles = Record<(typeof names)[number], string>;

export const summaryLimit = 1024 * 1024;

/** Fresh and empty for every step and stage. */
export async function createCommandFiles(temp: string): Promise<CommandFiles> {
  const folder = join(temp, "_runner_file_commands");
  await mkdir(folder, { recursive: true });
  const suffix = randomUUID();
  const paths = names.map((name) => [name, join(folder, `${name}_${suffix}`)] as const);
  for (const [, path] of paths) await writeFile(path, "");
  return Object.fromEntries(paths) as CommandFiles;
}

/** A file that a step removed holds nothing. */
export async function readCommandFile(path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
}

/** The text of a summary; an error for people where it is over the limit and so is dropped (FileCommandManager.cs). */
export async function readSummary(path: string): Promise<{ text: string; error?: string }> {
  const size = await stat(path).then(
    (found) => found.size,
    (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return 0;
      throw error;
    },
  );
  if (size <= summaryLimit) return { text: await readCommandFile(path) };
  const [most, got] = [summaryLimit, size].map((bytes) => Math.floor(bytes / 1024));
  const link =
    "https://docs.github.com/actions/using-workflows/workflow-commands-for-github-actions#adding-a-markdown-summary";
  return {
    text: "",
    error: `$GITHUB_STEP_SUMMARY upload aborted, supports content up to a size of ${most}k, got ${got}k. For more information see: ${link}`,
  };
}

/** `NAME=value` lines and `NAME<<MARK` blocks, with the errors of the runner's EnvFileKeyValuePairs. */
export function parsePairs(text: string): [string, string][] {
  const pairs: [string, string][] = [];
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  // What follows the last line break is a line only if it is not empty.
  const ended = lines.at(-1) === "";
  if (ended) lines.pop();
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    if (line === "") continue;
    const [, name = "", mark = ""] = /^(.*?)(=|<<)/.exec(line) ?? [];
    if (mark === "") throw new Error(`Invalid format '${line}'`);
    const rest = line.slice(name.length + mark.length);
    if (mark === "=") {
      pairs.push([name, rest]);
      continue;
    }
    if (name === "" || rest === "")
      throw new Error(`Invalid format '${line}'. Name must not be empty and delimiter must not be empty`);
    const end = lines.indexOf(rest, at + 1);
    if (end < 0) throw new Error(`Invalid value. Matching delimiter not found '${rest}'`);
    pairs.push([name, lines.slice(at + 1, end).join("\n")]);
    at = end;
  }
  return pairs;
}
