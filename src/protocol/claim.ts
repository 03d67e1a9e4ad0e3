// A claim: one attempt of one job of one run. It, and never an actor, owns a lease.
import * as v from "valibot";

const short = v.pipe(v.string(), v.maxLength(300));

export const claimSchema = v.looseObject({
  /** Random; the only thing that makes two claims the same. */
  id: v.pipe(v.string(), v.regex(/^[A-Za-z0-9-]{8,64}$/)),
  repository: v.optional(short),
  runId: v.optional(short),
  runAttempt: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  workflow: v.optional(short),
  job: v.optional(short),
  /** The leg of a matrix. */
  leg: v.optional(short),
  host: v.optional(short),
  pid: v.optional(v.pipe(v.number(), v.integer())),
  /** Where a person can watch it. */
  url: v.optional(v.pipe(short, v.regex(/^https?:\/\//))),
});

export type Claim = v.InferOutput<typeof claimSchema>;

/** A claim from outside. @throws TypeError that names the field */
export function checkedClaim(given: unknown): Claim {
  const parsed = v.safeParse(claimSchema, given);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw new TypeError(`The claim cannot be used: ${v.getDotPath(issue) ?? "it"}: ${issue.message}.`);
}

export function sameClaim(a: Pick<Claim, "id">, b: Pick<Claim, "id">): boolean {
  return a.id === b.id;
}

/** Whether `earlier` is a previous attempt of the run that `mine` belongs to. Such an attempt has finished by definition. */
export function isEarlierAttempt(earlier: Claim, mine: Claim): boolean {
  return (
    earlier.runId !== undefined &&
    earlier.runId === mine.runId &&
    earlier.repository === mine.repository &&
    earlier.runAttempt !== undefined &&
    mine.runAttempt !== undefined &&
    earlier.runAttempt < mine.runAttempt
  );
}

/** A claim in words: `octo/blog run 812345.1 (write)`, or `vm-1 process 4242`. One line. */
export function describeClaim(claim: Claim): string {
  const where =
    claim.runId !== undefined
      ? `${claim.repository ?? "?"} run ${claim.runId}.${claim.runAttempt ?? 1}`
      : [claim.host ?? "unknown host", ...(claim.pid === undefined ? [] : [`process ${claim.pid}`])].join(
          " ",
        );
  const what = [claim.job, claim.leg].filter((part) => part !== undefined && part !== "").join(", ");
  return oneLine(what === "" ? where : `${where} (${what})`);
}

/** Text on one line, without control characters: what a record's subject and a log line can carry. */
export function oneLine(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();
}
