// Astro: `draft: true`, due at `pubDate` as in its blog template. Astro leaves both to the site's own schema.
// https://docs.astro.build/en/guides/content-collections/#filtering-collection-queries
import { type Convention, firstOf, flag } from "./convention.js";

export const astro: Convention = {
  name: "astro",
  isPending: ({ fields }) => flag(fields, "draft") === true,
  due: ({ fields }) => numbered(firstOf(fields, "pubDate", "publishDate", "date")),
};

/** The blog template writes `Jul 08 2022`. */
function numbered(date: unknown): unknown {
  const found =
    typeof date === "string" ? /^([A-Za-z]{3})[a-z]* (\d{1,2}),? (\d{4})$/.exec(date.trim()) : null;
  const month = found ? months.indexOf((found[1] ?? "").toLowerCase()) + 1 : 0;
  return found && month > 0 ? `${found[3]}-${month}-${found[2]}` : date;
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
