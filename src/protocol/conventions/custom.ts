// A convention of the user's own: a predicate over the front matter, and the field of the due date.
import { fieldAt } from "../front-matter.js";
import { holds, parsePredicate } from "../predicate.js";
import type { Convention } from "./convention.js";

/**
 * @param pending such as `status == "ready"`.
 * @param due the field with the due date, such as `publish.at`; without it every draft is due now.
 * @throws PredicateInvalid
 */
export function custom(pending: string, due?: string): Convention {
  const predicate = parsePredicate(pending);
  return {
    name: "custom",
    isPending: ({ fields }) => holds(predicate, fields),
    due: ({ fields }) => (due === undefined ? undefined : fieldAt(fields, due)),
  };
}
