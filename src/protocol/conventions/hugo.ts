// Hugo: `draft: true`, due at `publishDate`, else `date`. Its keys ignore case.
// https://gohugo.io/getting-started/usage/#draft-future-and-expired-content
// https://gohugo.io/configuration/front-matter/#dates (aliases of publishDate)
import { type Convention, firstOf, flag } from "./convention.js";

export const hugo: Convention = {
  name: "hugo",
  isPending: ({ fields }) => flag(lowerCased(fields), "draft") === true,
  due: ({ fields }) => firstOf(lowerCased(fields), "publishdate", "pubdate", "published", "date"),
};

function lowerCased(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key.toLowerCase(), value]));
}
