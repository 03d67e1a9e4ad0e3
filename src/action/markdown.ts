// Markdown from text that is not ours: what people and servers wrote is shown, and never obeyed.

/** Longest text of others that is shown, in code points: it keeps a summary far below the 1 MiB that GitHub takes. */
export const longestText = 500;

/** Text as it is, wherever it stands: on one line, with everything that Markdown, HTML or a table would read encoded. */
export function plain(text: string): string {
  return encode(oneShortLine(text));
}

/** A name or a value in a code span. Only harmless characters go in as they are; `plain` has the rest. */
export function code(text: string): string {
  const short = oneShortLine(text);
  if (/^[\w./+=:@ "'-]+$/.test(short) && short.trim() !== "") return `\`${short}\``;
  return `<code>${encode(short)}</code>`;
}

/** A link, or its text alone where the address is none of the web. `label` is Markdown already. */
export function link(label: string, address: string | undefined): string {
  const target = address === undefined ? null : webAddress(address);
  return target === null ? label : `[${label}](${target})`;
}

/** A table; cells are Markdown already and hold neither pipes nor line breaks of others. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function oneShortLine(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, " ")
    // Marks that turn the direction of what follows could make a name read as another.
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
    .trim();
  const points = [...line.slice(0, 2 * longestText + 2)];
  return points.length > longestText ? `${points.slice(0, longestText).join("")}… (cut)` : line;
}

/** Entities are text to Markdown: they begin no markup, no table cell, no mention and no link. */
function encode(line: string): string {
  return line
    .replace(/[&<>|`\\*_~[\]#@$]/g, entity)
    .replace(/:(?=\S)/g, entity)
    .replace(/www\./gi, (found) => `${found.slice(0, -1)}&#46;`);
}

function entity(character: string): string {
  return `&#${character.codePointAt(0)};`;
}

/** The address in a form that can end neither the link nor the cell, or null. */
function webAddress(address: string): string | null {
  if (!/^https?:\/\//i.test(address) || address.length > 2000 || !URL.canParse(address)) return null;
  const url = new URL(address);
  if (url.username !== "" || url.password !== "") return null;
  return url.href.replace(
    /[^\w./:?=&%#~+,;@-]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  );
}
