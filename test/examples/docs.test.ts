// The guides: YAML in them is valid and names inputs that exist, and links within the repository lead somewhere.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { ownAction, root, type Step } from "./workflows.js";

const pages = [
  "README.md",
  "docs/adopting.md",
  "docs/inputs.md",
  "docs/operations.md",
  "docs/gate.md",
  "docs/library.md",
  "docs/protocol.md",
].map((path): [string, string] => [path, readFileSync(join(root, path), "utf8")]);

describe.each(pages)("%s", (path, text) => {
  test("has YAML that is valid, with inputs that exist", () => {
    for (const [, indent = "", block = ""] of text.matchAll(/^( *)```yaml\n(.*?)^ *```/gms)) {
      const value = parse(block.replace(new RegExp(`^${indent}`, "gm"), ""));
      const steps: Step[] = Array.isArray(value) ? value : [];
      for (const step of steps) {
        const folder = ownAction(step.uses ?? "");
        if (folder === null) continue;
        const { inputs } = parse(readFileSync(join(root, folder, "action.yml"), "utf8"));
        expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(step.with ?? {})));
      }
    }
  });

  test("has links that lead somewhere", () => {
    for (const [, target = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (target.startsWith("https://")) continue;
      const [file = "", anchor] = target.split("#");
      const linked = file === "" ? path : join(dirname(path), file);
      expect(existsSync(join(root, linked)), `${path}: ${target}`).toBe(true);
      if (anchor !== undefined)
        expect(anchorsOf(readFileSync(join(root, linked), "utf8")), target).toContain(anchor);
    }
  });
});

/** As GitHub makes them of headings. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
