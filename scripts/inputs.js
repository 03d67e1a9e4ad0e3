// Writes docs/inputs.md, the tables of inputs and outputs, from the actions' own action.yml; with --check, says
// instead whether it is up to date.
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const actions = [
  ["fencepost/fencepost@v1", "action.yml"],
  ["fencepost/fencepost/push@v1", "push/action.yml"],
  ["fencepost/fencepost/release@v1", "release/action.yml"],
  ["fencepost/fencepost/sweep@v1", "sweep/action.yml"],
];
const page = await render();
const path = at("docs/inputs.md");
if (!process.argv.includes("--check")) await writeFile(path, page);
else if ((await readFile(path, "utf8").catch(() => "")) !== page) {
  console.error('docs/inputs.md is not what the action.yml files say. Run "npm run inputs" and commit it.');
  process.exitCode = 1;
}

async function render() {
  const parts = [];
  for (const [uses, file] of actions) parts.push(section(uses, parse(await readFile(at(file), "utf8"))));
  const head = [
    "# Inputs and outputs",
    "",
    "<!-- Made from the action.yml files by `npm run inputs`. Change it there. -->",
  ];
  return `${[...head, ...parts.flat()].join("\n")}\n`;
}

function section(uses, { description, inputs, outputs }) {
  const defaults = (value) => (value === undefined || value === "" ? "" : code(value));
  return [
    "",
    `## ${code(uses)}`,
    "",
    description,
    "",
    ...table(
      ["input", "default", ""],
      Object.entries(inputs).map(([name, input]) => [code(name), defaults(input.default), input.description]),
    ),
    "",
    ...table(
      ["output", ""],
      Object.entries(outputs).map(([name, output]) => [code(name), output.description]),
    ),
  ];
}

/** Aligned, as the formatter wants it. */
function table(head, rows) {
  const lines = [head, ...rows].map((cells) => cells.map(escaped));
  const widths = head.map((_, i) => Math.max(3, ...lines.map((cells) => cells[i].length)));
  const line = (cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i])).join(" | ")} |`;
  const [first = [], ...others] = lines;
  return [line(first), line(widths.map((width) => "-".repeat(width))), ...others.map(line)];
}

function escaped(cell) {
  return cell.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}

function code(text) {
  return `\`${text}\``;
}

function at(name) {
  return fileURLToPath(new URL(`../${name}`, import.meta.url));
}
