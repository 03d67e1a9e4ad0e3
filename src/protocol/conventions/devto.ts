// DEV (dev.to, Forem): not `published: true`. Due at `published_at`, else `date`.
// https://dev.to/p/editor_guide ("When you're ready to publish, set the published variable to true")
import { type Convention, firstOf, flag } from "./convention.js";

export const devto: Convention = {
  name: "devto",
  // An article that does not say is a draft at DEV. A file without any front matter is not an article.
  isPending: ({ fields }) => Object.keys(fields).length > 0 && flag(fields, "published") !== true,
  due: ({ fields }) => firstOf(fields, "published_at", "date"),
};
