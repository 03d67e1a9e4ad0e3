/** Pagination: `first`/`after` and `last`/`before`, with GitHub's limits. */
import { Typed } from "./errors.js";

export interface PageArguments {
  first?: number | null;
  last?: number | null;
  after?: string | null;
  before?: string | null;
}

const LIMIT = 100;

/** Cursors are opaque to clients: base64 of a position, as GitHub's are. */
function cursor(at: number): string {
  return Buffer.from(`cursor:${at + 1}`).toString("base64");
}

function position(text: string): number {
  const found = /^cursor:(\d+)$/.exec(Buffer.from(text, "base64").toString());
  if (found === null)
    throw new Typed("INVALID_CURSOR_ARGUMENTS", `\`${text}\` does not appear to be a valid cursor.`);
  return Number(found[1]);
}

/** A page of `items`; `show` turns only what is asked for into values. */
export function connection<T>(
  name: string,
  items: readonly T[],
  page: PageArguments,
  show: (item: T) => unknown,
) {
  const { first, last } = page;
  if (first == null && last == null) {
    const message = `You must provide a \`first\` or \`last\` value to properly paginate the \`${name}\` connection.`;
    throw new Typed("MISSING_PAGINATION_BOUNDARIES", message);
  }
  for (const [key, size] of Object.entries({ first, last })) {
    if (size == null || (size >= 0 && size <= LIMIT)) continue;
    const message = `Requesting ${size} records on the \`${name}\` connection exceeds the \`${key}\` limit of ${LIMIT} records.`;
    throw new Typed("EXCESSIVE_PAGINATION", message);
  }
  let start = page.after == null ? 0 : position(page.after);
  let end = page.before == null ? items.length : position(page.before) - 1;
  if (first != null) end = Math.min(end, start + first);
  if (last != null) start = Math.max(start, end - last);
  const shownItems = items.slice(start, end);
  return {
    totalCount: items.length,
    nodes: () => shownItems.map(show),
    edges: () => shownItems.map((item, i) => ({ cursor: cursor(start + i), node: show(item) })),
    pageInfo: {
      hasNextPage: end < items.length,
      hasPreviousPage: start > 0,
      startCursor: shownItems.length === 0 ? null : cursor(start),
      endCursor: shownItems.length === 0 ? null : cursor(end - 1),
    },
  };
}
