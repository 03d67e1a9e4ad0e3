// A strict reader of the Mermaid `gantt` that summaries use: it refuses whatever Mermaid could read in another way.

export interface Task {
  label: string;
  tag: string;
  from: string;
  to: string;
}

/** The tasks of every chart in a Markdown text. */
export function charts(markdown: string): Task[][] {
  const blocks = [...markdown.matchAll(/^```(.*)\n([\s\S]*?)\n```$/gm)];
  return blocks.map(([, language, body]) => {
    if (language !== "mermaid") throw new Error(`a block of ${language}`);
    return tasks(body ?? "");
  });
}

function tasks(body: string): Task[] {
  const [kind, title, dates, axis, ...rest] = body.split("\n");
  if (kind !== "gantt") throw new Error(`no gantt: ${kind}`);
  if (!/^ {2}title [\w ()]+$/.test(title ?? "")) throw new Error(`a title: ${title}`);
  if (dates !== "  dateFormat YYYY-MM-DDTHH:mm:ss") throw new Error(`a date format: ${dates}`);
  if (!/^ {2}axisFormat (%d %b )?%H:%M$/.test(axis ?? "")) throw new Error(`an axis: ${axis}`);
  return rest.map(task);
}

/** Mermaid ends a label at `:`, comments at `%%`, lines at `;`, and takes `#` for an entity. */
function task(line: string): Task {
  const date = "(\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d)";
  const found = line.match(
    new RegExp(`^ {2}(\\d+ [\\p{L}\\p{N} ._/()…-]+) :(done|crit|active), ${date}, ${date}$`, "u"),
  );
  if (!found) throw new Error(`no task: ${line}`);
  const [, label = "", tag = "", from = "", to = ""] = found;
  if (!(Date.parse(`${to}Z`) - Date.parse(`${from}Z`) >= 1000)) throw new Error(`no width: ${line}`);
  return { label, tag, from, to };
}
