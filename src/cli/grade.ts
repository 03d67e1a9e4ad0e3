// How firmly the branch is closed to pushes past the fence, where the store is a repository on GitHub.
import { githubClient } from "../github/client.js";
import { type BranchGrade, readGrade } from "../github/grade.js";
import { leaseRecordName } from "../protocol/lease.js";
import { refOf } from "../protocol/names.js";
import { onOut } from "./speak.js";

/** The grade, or null where the remote is not on the GitHub that the environment names (by default github.com). */
export async function gradeOf(
  url: string,
  branch: string,
  prefix: string,
  env: NodeJS.ProcessEnv,
): Promise<(BranchGrade & { branch: string }) | null> {
  const server = new URL(env.GITHUB_SERVER_URL || "https://github.com");
  const repository = repositoryOn(server, url);
  if (repository === null) return null;
  const elsewhere = server.host === "github.com" ? "" : `${server.origin}/api`;
  const client = githubClient({
    token: env.GITHUB_TOKEN || env.GH_TOKEN || "",
    apiUrl: env.GITHUB_API_URL || (elsewhere === "" ? "https://api.github.com" : `${elsewhere}/v3`),
    graphqlUrl:
      env.GITHUB_GRAPHQL_URL ||
      (elsewhere === "" ? "https://api.github.com/graphql" : `${elsewhere}/graphql`),
    userAgent: "fencepost",
  });
  const short = (ref: string) => ref.replace(/^refs\/heads\//, "");
  // Any lease stands for all: rules go by patterns.
  const record = short(refOf(prefix, leaseRecordName("any")));
  const grade = await readGrade(client, repository, short(branch), record, AbortSignal.timeout(20_000)).catch(
    (error: Error): BranchGrade => ({
      grade: "unknown",
      reasons: [`the rules of ${repository} could not be read (${error.message})`],
      advice: ["Try again when GitHub can be reached."],
      obstacles: [],
    }),
  );
  return { branch, ...grade };
}

/** `owner/name` of a URL on this server, in any of the forms that git takes. */
function repositoryOn(server: URL, url: string): string | null {
  const scp = /^(?:[^@/]+@)?([^:/]+):(?!\/\/)(.+)$/.exec(url);
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const [host, path] = parsed?.host
    ? [parsed.protocol === "ssh:" ? parsed.hostname : parsed.host, parsed.pathname.slice(1)]
    : [scp?.[1], scp?.[2] ?? ""];
  if (host !== server.host && host !== `ssh.${server.host}`) return null;
  const repository = path.replace(/^\/+|\/+$/g, "").replace(/\.git$/, "");
  return /^[^/]+\/[^/]+$/.test(repository) ? repository : null;
}

export function printGrade({ branch, grade, reasons, advice }: BranchGrade & { branch: string }): void {
  const colour = { closed: onOut.green, partial: onOut.yellow, open: onOut.yellow, unknown: onOut.dim }[
    grade
  ];
  const next = advice.length > 0 ? ` ${advice.join(" ")} See docs/gate.md.` : "";
  process.stdout.write(`${colour(grade)}  ${onOut.bold(branch)}: ${reasons.join("; ")}.${next}\n`);
}
