// Hexo: files under `_drafts`, and `published: false`. Due at `date`.
// https://hexo.io/docs/writing#Drafts and https://hexo.io/docs/front-matter
import { type Convention, flag, isBelow } from "./convention.js";

export const hexo: Convention = {
  name: "hexo",
  isPending: ({ path, fields }) => isBelow(path, "_drafts") || flag(fields, "published") === false,
  due: ({ fields }) => fields.date,
};
