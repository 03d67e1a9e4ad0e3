// Zenn: `published: false`. Due at `published_at`, which is always Japanese time.
// With `published: true` Zenn itself waits for `published_at`, so that article is not pending here.
// https://zenn.dev/zenn/articles/zenn-cli-guide and https://zenn.dev/zenn/articles/connect-to-github
import { type Convention, DraftUnreadable, flag } from "./convention.js";

export const zenn: Convention = {
  name: "zenn",
  timezone: "Asia/Tokyo",
  isPending: ({ fields }) => {
    const published = flag(fields, "published");
    if (published === undefined) throw new DraftUnreadable("published: is missing; Zenn takes true or false");
    return !published;
  },
  due: ({ fields }) => fields.published_at,
};
