// The rows of a summary that tell of a draft, or of the slots of a schedule.
import type { Slot } from "../protocol/catch-up.js";
import type { Oid } from "../protocol/record.js";
import { code, plain } from "./markdown.js";
import { fileLink, type Repository } from "./places.js";

export interface DraftView {
  path: string;
  /** Of `maxAttempts`; none where the draft was not claimed. */
  attempt?: number | undefined;
  maxAttempts?: number | undefined;
  state?: "published" | "pending" | "dead" | "lost" | undefined;
  /** Text of anybody's. */
  reason?: string | undefined;
  /** ISO 8601. */
  next?: string | undefined;
}

export interface SlotsView {
  run: readonly Slot[];
  dropped: number;
  /** Whether they are done now. */
  done: boolean;
}

/** More slots than this are only counted. */
const slotsShown = 10;

export function draftFacts(
  draft: DraftView | undefined,
  repository: Repository,
  at: string | Oid | undefined,
): [string, string][] {
  if (draft === undefined) return [];
  const { attempt, maxAttempts, state, reason, next } = draft;
  const rows: [string, string][] = [["Draft", fileLink(repository, draft.path, at)]];
  if (attempt !== undefined)
    rows.push(["Attempt", `${attempt}${maxAttempts === undefined ? "" : ` of ${maxAttempts}`}`]);
  if (state === "published") rows.push(["Draft is", "published"]);
  if (state === "lost") rows.push(["Draft is", "no longer held by this run"]);
  const why = reason === undefined ? "" : `: ${plain(reason)}`;
  if (state === "dead")
    rows.push([
      "Draft is",
      `dead${why}. Edit it, or bring it back with ${code("fencepost redrive DRAFT --reason TEXT")}`,
    ]);
  if (state === "pending")
    rows.push([
      "Draft is",
      `pending${why}. ${next ? `Tried again after ${plain(next)}` : "Tried again soon"}`,
    ]);
  return rows;
}

export function slotFacts(slots: SlotsView | undefined): [string, string][] {
  if (slots === undefined) return [];
  const shown = slots.run.slice(0, slotsShown).map(({ key }) => code(key));
  const more = slots.run.length - shown.length;
  const rows: [string, string][] = [
    [
      slots.done ? "Slots done" : "Slots that stay due",
      [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", "),
    ],
  ];
  if (slots.dropped > 0) rows.push(["Slots dropped", String(slots.dropped)]);
  return rows;
}
