// Jekyll: files under `_drafts`, and `published: false`.
// https://jekyllrb.com/docs/posts/#drafts and https://jekyllrb.com/docs/front-matter/
import { type Convention, firstOf, flag, isBelow } from "./convention.js";

export const jekyll: Convention = {
  name: "jekyll",
  isPending: ({ path, fields }) => isBelow(path, "_drafts") || flag(fields, "published") === false,
  // The date in the front matter overrides that of the file name, `2026-11-30-title.md`.
  due: ({ path, fields }) =>
    firstOf(fields, "date") ?? /(?:^|\/)(\d{4}-\d{1,2}-\d{1,2})-[^/]*$/.exec(path)?.[1],
};
