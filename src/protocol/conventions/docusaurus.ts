// Docusaurus: `draft: true`, due at `date` or at the date in the file or folder name. `unlisted` is published.
// https://docusaurus.io/docs/api/plugins/@docusaurus/plugin-content-blog#markdown-front-matter
import { type Convention, firstOf, flag } from "./convention.js";

export const docusaurus: Convention = {
  name: "docusaurus",
  isPending: ({ fields }) => flag(fields, "draft") === true,
  due: ({ path, fields }) => firstOf(fields, "date") ?? dateInPath(path),
};

/** `2021-04-15-post.mdx`, `2021-04-15-post/index.mdx` or `2021/04/15/post.mdx`. */
function dateInPath(path: string): string | undefined {
  const found = /(?:^|\/)(\d{4})([-/])(\d{1,2})\2(\d{1,2})(?:[-/][^/]*)?(?:\/index)?\.mdx?$/.exec(path);
  return found ? `${found[1]}-${found[3]}-${found[4]}` : undefined;
}
