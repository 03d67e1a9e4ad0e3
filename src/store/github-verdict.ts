// What a second look at the refs says about a write whose outcome is unknown. Pure: values in, a verdict out.
import type { Tip } from "../github/queries.js";
import type { Versioned } from "../protocol/record.js";
import type { Change } from "./store.js";

export type Verdict =
  | { verdict: "applied"; written: (Versioned | null)[] }
  | { verdict: "conflict" }
  /** The expected tips are still shown. No proof of anything, since a read may lag behind the write. */
  | { verdict: "unmoved" };

export interface Sent {
  /** The commits that were sent, where their ids are known; by change. */
  commits: readonly (Versioned | null)[] | null;
  /** Whether GitHub was asked to make the commit, so that only its text and its parent tell it. */
  unnamed: boolean;
}

export function judge(changes: readonly Change[], tips: readonly (Tip | null)[], sent: Sent): Verdict {
  const ours = changes.map((change, i) => findOurs(change, tips[i] ?? null, sent, i));
  // All or nothing: one that is provably ours proves the others.
  if (ours.some((found) => found !== null))
    return {
      verdict: "applied",
      written: changes.map(({ next }, i) => (next === null ? null : (ours[i] ?? sent.commits?.[i] ?? null))),
    };
  const onlyRemovals = changes.every(({ next }) => next === null);
  if (onlyRemovals && tips.every((tip) => tip === null))
    return { verdict: "applied", written: changes.map(() => null) };
  const moved = changes.some(({ expected }, i) => (tips[i]?.oid ?? null) !== expected);
  return { verdict: moved ? "conflict" : "unmoved" };
}

/** Our write at the tip, or just below it, where somebody has built on it since. */
function findOurs(change: Change, tip: Tip | null, sent: Sent, i: number): Versioned | null {
  if (tip === null || change.next === null) return null;
  const { before, ...top } = tip;
  const { message } = change.next;
  const known = sent.commits?.[i]?.oid;
  for (const seen of [top, before]) {
    if (seen === null) continue;
    if (seen.oid === known) return seen;
    const child = seen.parents.length === 1 && seen.parents[0] === change.expected;
    if (sent.unnamed && child && sameText(seen.message, message)) return seen;
  }
  return null;
}

/** Equal but for white space, which a server may tidy. The nonce in every record makes texts unlike each other. */
export function sameText(a: string, b: string): boolean {
  return tidy(a) === tidy(b);
}

function tidy(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/**
 * The message as GitHub takes it apart: headline, empty line, body. Null where putting them together again would give
 * another text, which a reader could not decode.
 */
export function messageParts(message: string): { headline: string; body: string } | null {
  const [headline = "", ...lines] = message.split("\n");
  const rest = lines.join("\n");
  if (headline === "" || headline !== headline.trim()) return null;
  if (rest.trim() === "") return { headline, body: "" };
  if (!rest.startsWith("\n")) return null;
  return { headline, body: rest.replace(/^\n+/, "").trimEnd() };
}
