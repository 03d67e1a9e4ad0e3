// Beats as lines of text, for a pipe or a file that others may write to as well.
import type { Beat } from "./heartbeat.js";

/** It begins with a line break, so that whatever stands before it, cut off or of somebody else's, spoils only itself. */
export function beatLine(beat: Beat<unknown>): string {
  return `\n${JSON.stringify(beat)}\n`;
}

/** The beat of a line; null for a line that is none. */
export function beatOf<B extends Beat<unknown>>(line: string): B | null {
  try {
    const read = JSON.parse(line);
    return isBeat(read) ? (read as B) : null;
  } catch {
    return null;
  }
}

function isBeat(read: Partial<Record<string, unknown>> | null): boolean {
  switch (read?.event) {
    case "renewed":
      return isObject(read.holding) && isObject(read.sentAt);
    case "failing":
      return typeof read.why === "string";
    case "ended":
      return true;
    case "lost":
      return typeof read.why === "string" && typeof read.detail === "string";
    default:
      return false;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
