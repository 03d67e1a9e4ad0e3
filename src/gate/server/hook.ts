// The small file that git starts as a hook, and where it goes in a repository.
import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { join, relative, sep } from "node:path";

export type HookName = "pre-receive" | "reference-transaction";

/** The argument to which a hook answers with its version, without doing anything. */
export const versionQuestion = "fencepost-version";

const mark = "// fencepost gate: written by `fencepost gate install`, which replaces it.";

/** The text of a hook that loads the gate with this Node, or with the one on the PATH where that cannot be named. */
export function hookText(hook: HookName, from: string, gate: string, node: string): string {
  const path = relative(from, gate).split(sep).join("/");
  const target = JSON.stringify(path.startsWith(".") ? path : `./${path}`);
  // A kernel takes no spaces there, and no more than 127 bytes everywhere.
  const start = /\s/.test(node) || Buffer.byteLength(node) > 120 ? "/usr/bin/env node" : node;
  // Without require and import.meta, so that it is the same as a CommonJS and as an ES module.
  const quick =
    hook === "reference-transaction"
      ? `if (!["committed", "aborted", "preparing"].includes(process.argv[2]))\n  `
      : "";
  return `#!${start}
${mark}
${quick}process.argv.splice(2, 0, "${hook}"),
    import(${target}).catch((error) => {
      console.error("fencepost: the gate cannot be loaded, so nothing passes: " + error.message);
      process.exitCode = 1;
    });
`;
}

/** What stands where a hook would go: nothing, one of ours, one of ours chained into it, or something foreign. */
export function hookAt(file: string): "absent" | "ours" | "chained" | "foreign" {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "absent";
    throw error;
  }
  if (text.includes(mark)) return "ours";
  return /^(?!\s*#).*\bgate(\/index\.js|\.mjs)\b/m.test(text) ? "chained" : "foreign";
}

export interface Layout {
  kind: "git" | "dispatched" | "gitlab";
  /** The file of each hook that can be installed here. */
  hooks: readonly { name: HookName; file: string }[];
  /** Where the program goes. */
  gate: string;
}

/** Where hooks go in this repository: `hooksFolder` is the one that git itself would look in. */
export function layoutOf(repository: string, hooksFolder: string): Layout {
  const custom = join(repository, "custom_hooks");
  if (isFolder(custom)) {
    const file = placeIn(custom, "pre-receive", true);
    return {
      kind: "gitlab",
      hooks: [{ name: "pre-receive", file }],
      // Beside its hook, so that the folder can be handed over as a whole.
      gate: join(custom, "fencepost", "gate.mjs"),
    };
  }
  const names: HookName[] = ["reference-transaction", "pre-receive"];
  const hooks = names.map((name) => ({ name, file: placeIn(hooksFolder, name, false) }));
  const dispatched = hooks.some(({ file }) => file.endsWith(`.d${sep}fencepost`));
  const shared = isFolder(hooksFolder) && relative(repository, realpathSync(hooksFolder)).startsWith("..");
  const home = shared ? hooksFolder : repository;
  return { kind: dispatched ? "dispatched" : "git", hooks, gate: join(home, "fencepost", "gate.mjs") };
}

/** In a folder `<hook>.d` where a dispatching hook runs what is there, as on Gitea and Forgejo, and where `always`. */
function placeIn(folder: string, name: HookName, always: boolean): string {
  const several = join(folder, `${name}.d`);
  if (isFolder(several) && (always || dispatches(join(folder, name)))) return join(several, "fencepost");
  return join(folder, name);
}

function dispatches(file: string): boolean {
  return hookAt(file) === "foreign" && /\.d\b/.test(readFileSync(file, "utf8"));
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
