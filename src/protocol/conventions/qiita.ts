// Qiita: `ignorePublish: true` on an article that has no `id` yet; Qiita writes the id when it is posted.
// In the setup that `qiita init` makes, everything else on the branch is posted at the next push.
// https://github.com/increments/qiita-cli (README, and src/commands/publish.ts for ignorePublish)
import { type Convention, firstOf, flag } from "./convention.js";

export const qiita: Convention = {
  name: "qiita",
  isPending: ({ fields }) => flag(fields, "ignorePublish") === true && firstOf(fields, "id") === undefined,
  // Qiita has no date of its own for this; its `updated_at` is written by Qiita.
  due: ({ fields }) => firstOf(fields, "publish_at", "date"),
};
