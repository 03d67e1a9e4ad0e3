// Expands `strategy.matrix` into the legs of a job.
import { isDeepStrictEqual } from "node:util";
import type { Value } from "./expression.js";

export type Leg = Record<string, Value>;

/**
 * The legs, in GitHub's order. A job without a matrix has one leg, null.
 * The rules of `include` and `exclude` are those of docs.github.com, "Running variations of jobs in a workflow".
 */
export function legsOf(matrix: Value): (Leg | null)[] {
  if (matrix === null) return [null];
  const { include, exclude, ...axes } = mapping(matrix);
  const excluded = rows(exclude);
  const base = product(axes).filter((leg) => !excluded.some((row) => matches(leg, row)));
  const legs = base.map((leg) => ({ ...leg }));
  for (const row of rows(include)) {
    const hosts = base.flatMap((leg, index) => (overwrites(leg, row) ? [] : [index]));
    if (hosts.length === 0) legs.push({ ...row });
    for (const index of hosts) Object.assign(legs[index] as Leg, row);
  }
  if (legs.length === 0) throw new Error("Matrix vector does not contain any values");
  return legs;
}

/** `build (20, linux)`, as GitHub names a leg whose job has no name of its own. */
export function legName(job: string, leg: Leg | null): string {
  const values = leg === null ? [] : Object.values(leg).flatMap(scalars);
  return values.length > 0 ? `${job} (${values.join(", ")})` : job;
}

function product(axes: Leg): Leg[] {
  const names = Object.keys(axes);
  if (names.length === 0) return [];
  return names.reduce<Leg[]>(
    (legs, name) => {
      const values = axes[name];
      if (!Array.isArray(values) || values.length === 0)
        throw new Error(`Matrix vector '${name}' does not contain any values`);
      return legs.flatMap((leg) => values.map((value) => ({ ...leg, [name]: value })));
    },
    [{}],
  );
}

function matches(leg: Leg, row: Leg): boolean {
  return Object.entries(row).every(([name, value]) => isDeepStrictEqual(leg[name], value));
}

function overwrites(leg: Leg, row: Leg): boolean {
  return Object.entries(row).some(([name, value]) => name in leg && !isDeepStrictEqual(leg[name], value));
}

function rows(value: Value | undefined): Leg[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new Error("include and exclude must be sequences");
  return value.map(mapping);
}

function mapping(value: Value): Leg {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new Error("A mapping was expected");
  return value;
}

function scalars(value: Value): string[] {
  if (value === null) return [];
  return typeof value === "object" ? Object.values(value).flatMap(scalars) : [String(value)];
}
