// The conventions by name.
import { astro } from "./astro.js";
import type { Convention } from "./convention.js";
import { devto } from "./devto.js";
import { docusaurus } from "./docusaurus.js";
import { folder } from "./folder.js";
import { hexo } from "./hexo.js";
import { hugo } from "./hugo.js";
import { jekyll } from "./jekyll.js";
import { qiita } from "./qiita.js";
import { zenn } from "./zenn.js";
import { zola } from "./zola.js";

export { type Convention, type DraftReading, readDraft } from "./convention.js";
export { custom } from "./custom.js";

/** Every convention but `custom`, which takes a predicate. */
export const conventions: ReadonlyMap<string, Convention> = new Map(
  [folder, jekyll, hugo, zola, astro, docusaurus, hexo, zenn, qiita, devto].map((each) => [each.name, each]),
);
