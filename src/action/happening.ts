// What happened in this run, in one line: the outcome's word, and a sentence for a person who was not there.
import type { Rescue } from "../gate/rescue.js";
import { type Claim, describeClaim } from "../protocol/claim.js";
import { formatDuration } from "../protocol/duration.js";
import { expiresAt, isMine, type SeenLease } from "../protocol/lease.js";
import { defaultPrefix } from "../protocol/names.js";
import type { Instant, Oid } from "../protocol/record.js";
import type { DraftView } from "./draft-facts.js";
import { code, link, plain } from "./markdown.js";
import { branchLink, commitLink, type Repository, shortRef } from "./places.js";

export type Happening =
  /** `published`: ref by ref, what the push put there. */
  | { outcome: "pushed"; published: Record<string, Oid> }
  /** The job held the lease, and nothing was to be pushed. */
  | { outcome: "acquired" }
  | { outcome: "unchanged" }
  /** `row`: runs in a row that met the same holder. `why`: a clause, where it was the draft that was held. */
  | { outcome: "skipped_overlap"; row?: number; why?: string }
  /** Nothing to do. `why`: a clause, as text. */
  | { outcome: "nothing_due" | "not_pending" | "backing_off" | "dead"; why: string }
  /** `why`: a clause of the server's or git's, as text. `of`: what was lost. */
  | {
      outcome: "moved" | "superseded" | "refused" | "lost";
      why?: string;
      rescue?: Rescue;
      of?: "lease" | "draft";
      /** False where it did not even come to a push. */
      sent?: false;
    }
  /** The job's own end. */
  | { outcome: "failed" | "cancelled" };

export interface Story extends Repository {
  happening: Happening;
  /** "" where a draft is all that was held. */
  lease: string;
  draft?: DraftView | undefined;
  /** This run. */
  run: Claim;
  /** The token under which this run held the lease; none if it never did. */
  token?: number | undefined;
  /** The store's time. */
  now: Instant;
  /** The lease as it was seen last. */
  seen: SeenLease | null;
  /** The full ref of the branch that this run pushes to. */
  branch?: string | undefined;
  /** What this run pushes to, where it is another repository. */
  destination?: string | undefined;
  /** The runner ends with the job, and what is only there with it. */
  fleeting?: boolean | undefined;
}

/** More refs than this are only counted. */
const refsShown = 10;

const signs: Record<Happening["outcome"], string> = {
  pushed: "✅",
  acquired: "✅",
  unchanged: "✅",
  skipped_overlap: "⏭️",
  nothing_due: "⏭️",
  not_pending: "⏭️",
  backing_off: "⏳",
  dead: "⚠️",
  moved: "⚠️",
  superseded: "🛑",
  refused: "🛑",
  lost: "🛑",
  failed: "❌",
  cancelled: "⏹️",
};

/** Markdown of one line: sign, outcome, sentence. */
export function headline(story: Story): string {
  const { outcome } = story.happening;
  return `${signs[outcome]} **${outcome.replaceAll("_", "\\_")}**: ${sentence(story)}`;
}

function sentence(here: Story): string {
  const { happening, destination } = here;
  const story = destination === undefined ? here : { ...here, repository: destination };
  const where = destination === undefined ? "" : ` of ${code(destination)}`;
  const branch = story.branch === undefined ? "the branch" : `${branchLink(story, story.branch)}${where}`;
  switch (happening.outcome) {
    case "pushed":
      return `this run pushed ${publishedWords(story, happening.published)}${under(story)}.`;
    case "acquired":
      return story.draft
        ? `this run worked on the draft${under(story)}. It was not asked to push.`
        : `this run held the lease${under(story)}. It had nothing to push.`;
    case "unchanged":
      return `${branch} already has everything that this run made, so nothing was pushed.${failedAttempt(story)}`;
    case "skipped_overlap":
      return `this run did nothing, because ${happening.why === undefined ? holderWords(story) : plain(happening.why)}.${rowWords(happening.row)} Nothing failed and nothing is lost: the next run takes up the work.`;
    case "nothing_due":
    case "not_pending":
    case "backing_off":
    case "dead":
      return `this run did nothing. ${sentenceOf(happening.why)}`;
    case "moved":
      return `${branch} has moved on and this run's commits do not follow it${because(happening.why)}. Nothing was pushed.${rescued(story, happening.rescue)}`;
    case "superseded":
      return `another run took the ${heldBy(story, happening.of)} over${takeoverWords(story)}, so the late push was refused and ${branch} is untouched by this run${because(happening.why)}.${rescued(story, happening.rescue)}`;
    case "refused":
      if (happening.sent === false)
        return `this run could not push to ${branch}${because(happening.why)}, and trying again will not help until that is changed.${rescued(story, happening.rescue)}`;
      return `the server did not take the push to ${branch}${because(happening.why)}. Nothing was pushed, and trying again will not help until that is changed.${rescued(story, happening.rescue)}`;
    case "lost":
      return `this run could not renew its ${heldBy(story, happening.of)} in time and stopped calling itself the holder${because(happening.why)}. Nothing was pushed.${rescued(story, happening.rescue)}`;
    case "failed":
      return `the job failed, so nothing was pushed.${freed(story)}`;
    case "cancelled":
      return `the job was cancelled, so nothing was pushed.${freed(story)}`;
  }
}

function publishedWords(story: Story, published: Record<string, Oid>): string {
  const all = Object.entries(published);
  const words = all
    .slice(0, refsShown)
    .map(([ref, oid]) =>
      ref.startsWith("refs/heads/")
        ? `${branchLink(story, ref)} to ${commitLink(story, oid)}`
        : `${code(shortRef(ref))} at ${commitLink(story, oid)}`,
    );
  if (all.length > refsShown) words.push(`${all.length - refsShown} more refs`);
  return words.length === 0 ? "nothing" : words.join(", ");
}

function under({ token }: Story): string {
  return token === undefined ? "" : ` under token ${token}`;
}

function holderWords({ seen, now }: Story): string {
  if (seen === null) return "another run held the lease";
  const { record } = seen;
  const who = link(plain(describeClaim(record.holder)), record.holder.url);
  return `${who} holds the lease with token ${record.token} (for ${formatDuration(now - Date.parse(record.since))} now)`;
}

function heldBy(story: Story, of: "lease" | "draft" | undefined): string {
  return of ?? (story.lease === "" ? "draft" : "lease");
}

function failedAttempt({ draft }: Story): string {
  return draft === undefined || draft.state === "published"
    ? ""
    : " Nothing came out for the draft, so this attempt has failed.";
}

function sentenceOf(why: string): string {
  const words = plain(why);
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}

function rowWords(row: number | undefined): string {
  return row === undefined || row < 2 ? "" : ` ${row} runs in a row met this holder.`;
}

function takeoverWords({ token, seen }: Story): string {
  if (seen === null || token === undefined || seen.record.token <= token) return "";
  if (seen.record.event === "unlocked") return ` (a person unlocked token ${token})`;
  const who = link(plain(describeClaim(seen.record.holder)), seen.record.holder.url);
  return ` (${who} has token ${seen.record.token}, this run had ${token})`;
}

function because(why: string | undefined): string {
  const words = plain(why ?? "").replace(/\.$/, "");
  return words === "" ? "" : ` (${words})`;
}

function freed({ seen, run, token, now }: Story): string {
  if (seen === null || token === undefined || seen.record.token !== token) return "";
  if (seen.record.state === "released") return " The lease is free again.";
  return isMine(seen, { token, claim: run }) && expiresAt(seen) > now
    ? ` The lease frees itself in ${formatDuration(expiresAt(seen) - now)}.`
    : "";
}

function rescued(story: Story, kept: Rescue | undefined): string {
  if (kept === undefined) return "";
  const commit = commitLink(story, kept.commit);
  const loss = story.fleeting
    ? ` They are gone with this runner when the job ends. If a rule refused them a branch, allow pushes to ${code(`${story.prefix ?? defaultPrefix}/rescue/**`)}.`
    : "";
  switch (kept.kept) {
    case "ref":
      return ` Its commits are kept on ${branchLink(story, kept.ref)} (${commit}).`;
    case "bundle":
      return ` Its commits (${commit}) are kept in a bundle on the runner, ${code(kept.file)}; \`git fetch <bundle> refs/heads/rescued\` gets them.${loss}`;
    case "clone":
      return ` Its commits could be kept nowhere else${because(kept.why)}: they are only in the runner's clone, as ${commit}.${loss}`;
  }
}
