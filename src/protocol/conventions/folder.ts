// A plain folder: every file in it is pending until the publish moves or removes it. `date` says when.
import type { Convention } from "./convention.js";

export const folder: Convention = {
  name: "folder",
  isPending: () => true,
  due: ({ fields }) => fields.date,
};
