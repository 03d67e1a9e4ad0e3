// Tells a definite refusal by a git server from a race and from a fault, by the words that git and servers use.

import { redact } from "./program.js";
import type { RefLine } from "./push.js";

/** A definite no, and what the person can change. */
export interface Refusal {
  /** `access` and `rules` are the server's will; `missing` is a wrong address; `unsupported` is what it cannot do. */
  kind: "access" | "rules" | "missing" | "unsupported";
  /** The server's own words. */
  words: string;
  advice: string;
}

const signs: readonly (readonly [RegExp, Refusal["kind"], string])[] = [
  [
    /does not support --atomic push/,
    "unsupported",
    "Without atomic pushes a late write cannot be refused, so nothing was sent. Enable receive.advertiseAtomic on the server, or use another one.",
  ],
  [
    /without [`'"]?workflows?[`'"]? (permission|scope)/,
    "rules",
    "The commits change .github/workflows, which GITHUB_TOKEN may never do. Push with the token of an app that has the workflows permission, or leave those files out.",
  ],
  [
    /GH013|push declined due to repository rule/,
    "rules",
    "A ruleset protects the branch. Add the pushing app or deploy key to its bypass list (GITHUB_TOKEN cannot be added), or push to another branch and open a pull request.",
  ],
  [
    /GH006|[Pp]rotected branch/,
    "rules",
    "The branch is protected. Allow the pushing identity in its protection, or push to another branch and open a pull request.",
  ],
  [
    /'refs\/heads\/[^']*' exists; cannot create/,
    "unsupported",
    "A branch of that very name exists, and git cannot hold other branches below it. Rename that branch, or keep the records elsewhere with --ref-prefix (input ref-prefix).",
  ],
  [
    /branch is currently checked out/,
    "rules",
    "The remote is a clone with that branch checked out. Push to a bare repository.",
  ],
  [
    /hook declined|ref updates aborted by hook|hidden ref|deletion prohibited|denying /,
    "rules",
    "A hook or rule of the server declined it; see its words.",
  ],
  [
    /\(already exists\)/,
    "rules",
    "A tag of that name is at another commit there. Choose another tag, or remove that one on purpose.",
  ],
  [
    /Authentication failed|could not read (Username|Password)|returned error: 40[13]|(?<!\(|(Load key|Warning:|debug\d:) .*)Permission denied|[Ww]rite access .* not granted|insufficient permission|not authorized|[Aa]ccess denied|Invalid credentials|unable to (create|write) .*: Read-only|dubious ownership/,
    "access",
    "Check that the credentials used here may write to this repository (on GitHub: `permissions: contents: write`).",
  ],
  [
    /does not appear to be a git repository|[Rr]epository .*not found|returned error: 404|No such remote|not a git repository/,
    "missing",
    "Check the address of the store or remote.",
  ],
  [
    /mismatched algorithms|object format/,
    "unsupported",
    "The repository uses another object format than the one it was opened with.",
  ],
];

/** Words of a lost race, or of a fault in between: the outcome has to be read again. */
const undecided =
  /cannot lock ref|atomic (transaction|push) failed|failed to update ref|reference already exists|stale info|fetch first|non-fast-forward|Internal Server Error|report status/;

/**
 * The definite refusal in what git answered, or null when it is a race, a fault, or unclear. Free text counts only
 * where the server rejected a ref, or where nothing is said of any ref, since remarks come with pushes that were
 * accepted too. Even so words are only words: look at the remote before acting on them.
 */
export function findRefusal(stderr: string, lines: readonly RefLine[] = []): Refusal | null {
  const verdicts = lines.filter((line) => line.flag === "!").map((line) => line.summary);
  const byServer = verdicts.filter((verdict) => verdict.startsWith("[remote rejected]"));
  const text = lines.length === 0 || byServer.length > 0 ? stderr.split("\n") : [];
  const candidates = [...text, ...verdicts];
  for (const [sign, kind, advice] of signs) {
    const line = candidates.find((candidate) => sign.test(candidate));
    if (line !== undefined) return { kind, words: withRemarks(line, stderr), advice };
  }
  const other = byServer.find((verdict) => !undecided.test(verdict));
  if (other === undefined) return null;
  return {
    kind: "rules",
    words: withRemarks(other, stderr),
    advice: "The server declined it for the reason it gives.",
  };
}

/** The line that decided, and what the server itself remarked, since that is where a hook says why. */
function withRemarks(line: string, stderr: string): string {
  const remarks = stderr
    .split("\n")
    .filter(
      (other) => other.startsWith("remote:") && other.replace("remote:", "").trim() !== "" && other !== line,
    )
    .map(tidy);
  const shown = remarks.slice(0, 5).join("; ").slice(0, 500);
  return shown === "" ? tidy(line) : `${tidy(line)} (the server says: ${shown})`;
}

function tidy(line: string): string {
  return redact(line.trim().replace(/^(remote: )?((fatal|error): )?/, ""));
}
