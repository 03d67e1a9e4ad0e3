// Zola: `draft = true`, due at `date`. Front matter in TOML, or YAML.
// https://www.getzola.org/documentation/content/page/#front-matter
import { type Convention, flag } from "./convention.js";

export const zola: Convention = {
  name: "zola",
  isPending: ({ fields }) => flag(fields, "draft") === true,
  due: ({ fields }) => fields.date,
};
