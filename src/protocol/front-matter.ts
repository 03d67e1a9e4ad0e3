// Front matter: the fields at the head of a text file, in YAML, TOML or JSON. The body is never read.
import { parse as parseToml } from "smol-toml";
import { parseDocument } from "yaml";
import { oneLine } from "./claim.js";

export type FrontMatter = Record<string, unknown>;

/** Front matter that is there and cannot be read. The message is one line. */
export class FrontMatterInvalid extends Error {
  override name = "FrontMatterInvalid";
}

/** Characters of a file that are looked at. Front matter that is still open there is not front matter. */
export const longestFrontMatter = 65_536;

interface Block {
  language: "YAML" | "TOML" | "JSON";
  text: string;
}

/**
 * The fields of a file's front matter; none for a file without any.
 * Read are `---` (YAML), `+++` (TOML), `;;;` (JSON), and a JSON object at the very start, as Jekyll, Hugo, Zola and Hexo
 * write them. Dates stay text, or become the dates of the TOML parser.
 * @param file the file's text, or its first {@link longestFrontMatter} characters.
 * @throws FrontMatterInvalid
 */
export function readFrontMatter(file: string): FrontMatter {
  const block = cut(file.slice(0, longestFrontMatter).replace(/^\uFEFF/, ""));
  if (block === null) return {};
  const fields = parse(block);
  if (fields === null || fields === undefined) return {};
  if (typeof fields !== "object" || Array.isArray(fields))
    throw new FrontMatterInvalid(`its front matter (${block.language}) is not a list of fields`);
  return fields as FrontMatter;
}

const languages = { "---": "YAML", "+++": "TOML", ";;;": "JSON" } as const;

function cut(head: string): Block | null {
  const opening = /^(---|\+\+\+|;;;)[ \t]*(?:\r?\n|$)/.exec(head);
  if (opening) return fenced(head.slice(opening[0].length), opening[1] as keyof typeof languages);
  if (/^\{\s*["}]/.test(head)) return { language: "JSON", text: firstObject(head) };
  // Hexo's JSON has only a closing line and no braces: https://hexo.io/docs/front-matter
  const closing = head.startsWith('"') ? /^;;;[ \t]*\r?$/m.exec(head) : null;
  return closing ? { language: "JSON", text: `{${head.slice(0, closing.index)}}` } : null;
}

function fenced(rest: string, mark: keyof typeof languages): Block {
  // `...` ends a YAML document too, and Jekyll takes it: https://github.com/jekyll/jekyll (Document::YAML_FRONT_MATTER_REGEXP)
  const end = { "---": /^(?:---|\.\.\.)[ \t]*\r?$/m, "+++": /^\+\+\+[ \t]*\r?$/m, ";;;": /^;;;[ \t]*\r?$/m };
  const closing = end[mark].exec(rest);
  if (!closing) throw new FrontMatterInvalid(`its front matter has no closing line ${mark}`);
  const text = rest.slice(0, closing.index);
  const language = languages[mark];
  const bare = language === "JSON" && !text.trimStart().startsWith("{");
  return { language, text: bare ? `{${text}}` : text };
}

/** A JSON object at the start of a text, up to its closing brace. */
function firstObject(head: string): string {
  let depth = 0;
  let quoted = false;
  for (let i = 0; i < head.length; i++) {
    const c = head[i];
    if (quoted) {
      if (c === "\\") i++;
      else if (c === '"') quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === "{") depth++;
    else if (c === "}" && --depth === 0) return head.slice(0, i + 1);
  }
  throw new FrontMatterInvalid("its front matter (JSON) has no closing brace");
}

function parse({ language, text }: Block): unknown {
  try {
    if (language === "TOML") return parseToml(text);
    if (language === "JSON") return JSON.parse(text);
    const document = parseDocument(text, { logLevel: "error" });
    const [error] = document.errors;
    if (error) throw error;
    return document.toJS();
  } catch (error) {
    const [first = ""] = String((error as Error).message).split("\n");
    throw new FrontMatterInvalid(
      `its front matter is not ${language}: ${oneLine(first).slice(0, 160).replace(/:$/, "")}`,
    );
  }
}

/** The value at a path of keys such as `extra.status`, or undefined. A key that itself has dots comes first. */
export function fieldAt(fields: FrontMatter, path: string): unknown {
  if (Object.hasOwn(fields, path)) return fields[path];
  let value: unknown = fields;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as FrontMatter)[key];
  }
  return value;
}
