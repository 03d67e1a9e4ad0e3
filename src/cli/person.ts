// Who a person is, as git or the machine knows them: for the audit trail.
import { userInfo } from "node:os";
import { oneLine } from "../protocol/claim.js";
import type { Place } from "./place.js";

export function person(place: Place): string {
  const setting = (key: string) => place.clone?.config.findLast(([name]) => name === key)?.[1];
  const name =
    process.env.GITHUB_ACTOR || setting("user.name") || setting("user.email") || userInfo().username;
  return oneLine(name).slice(0, 100);
}
