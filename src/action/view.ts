// What a summary shows, as values.
import type { Rescue } from "../gate/rescue.js";
import type { SeenLease } from "../protocol/lease.js";
import type { Instant } from "../protocol/record.js";
import type { StatsRecord } from "../protocol/stats.js";

export type SummaryOutcome =
  | "acquired"
  | "pushed"
  | "unchanged"
  | "skipped_overlap"
  | "moved"
  | "superseded"
  | "refused"
  | "unavailable"
  | "lost"
  | "failed"
  | "cancelled";

export interface SummaryView {
  outcome: SummaryOutcome;
  /** What happened, in a sentence or two. */
  text: string;
  lease: SeenLease;
  stats: StatsRecord | null;
  now: Instant;
  /** Where the repository is on the web; "" where that is not known. */
  repositoryUrl: string;
  /** The run that this summary belongs to. */
  runUrl: string;
  /** A full ref. */
  branch?: string | null;
  commit?: string | null;
  rescue?: Rescue | null;
}

export function links(
  env: NodeJS.ProcessEnv,
  repository: string,
): Pick<SummaryView, "repositoryUrl" | "runUrl"> {
  const server = env.GITHUB_SERVER_URL ?? "";
  if (!/^https?:\/\/[^\s()<>]+$/.test(server)) return { repositoryUrl: "", runUrl: "" };
  const runUrl = `${server}/${env.GITHUB_REPOSITORY}/actions/runs/${env.GITHUB_RUN_ID}`;
  return { repositoryUrl: `${server}/${repository}`, runUrl };
}
