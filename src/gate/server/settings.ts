// What a repository's git config says about its gate, read strictly: a value that cannot be used protects, and lets nothing pass.
import picomatch from "picomatch";
import type { Behind, Rule } from "../../protocol/gate.js";
import { defaultPrefix, leaseName, NameInvalid, quote, refPrefix } from "../../protocol/names.js";

/** One pattern of refs, and what they move behind. */
export interface Protection {
  pattern: string;
  rule: Rule;
}

export interface Settings {
  prefix: string;
  /** Those with settings of their own, and the others. */
  own: readonly Protection[];
  general: readonly Protection[];
  ruleOf: (ref: string) => Rule | null;
  /** Who may use the escape; `*` is anyone. */
  allow: readonly string[];
  /** Settings that cannot be used, in words. */
  problems: readonly string[];
}

/** Key and value of each setting, in order; a key without a value is a switch that is on. */
export type Entries = readonly (readonly [key: string, value: string])[];

/** The settings that `git config` has to be asked for. */
export const settingPattern = "^(fencepost\\.|core\\.ignorecase$)";

/** Reads what `git config --null --get-regexp` printed. */
export function parseEntries(text: string): Entries {
  return text
    .split("\0")
    .filter((entry) => entry !== "")
    .map((entry) => {
      const end = entry.indexOf("\n");
      return end < 0 ? [entry, "true"] : [entry.slice(0, end), entry.slice(end + 1)];
    });
}

export function readSettings(entries: Entries): Settings {
  const problems: string[] = [];
  const last = (key: string) => entries.findLast(([name]) => name === key)?.[1];
  const prefix = prefixOf(last("fencepost.prefix"), problems);
  const ignoreCase = last("core.ignorecase") === "true";
  const matcher = (pattern: string) => matcherOf(pattern, ignoreCase, problems);
  const protection = (pattern: string, key: string): Protection & { matches: (ref: string) => boolean } => {
    const [lease, fence, drafts] = ["lease", "fence", "drafts"].map((name) => last(`${key}.${name}`));
    const rule = ruleOf({ lease, fence, drafts }, quote(pattern));
    if ("problem" in rule) problems.push(rule.problem);
    return { pattern, rule, matches: matcher(pattern) };
  };
  const own = sections(entries).map((pattern) => protection(pattern, `fencepost.${pattern}`));
  const patterns = entries.filter(([key]) => key === "fencepost.protect").map(([, value]) => value);
  const general = [...new Set(patterns)]
    .filter((pattern) => own.every((each) => each.pattern !== pattern))
    .map((pattern) => protection(pattern, "fencepost"));
  const broken = problems.find((problem) => problem.startsWith(anything));
  const known = /^fencepost\.(protect|prefix|allow|(.+\.)?(lease|fence|drafts))$/s;
  for (const [key] of entries)
    if (key.startsWith("fencepost.") && !known.test(key)) problems.push(`${quote(key)} is no setting`);
  return {
    prefix,
    own,
    general,
    allow: entries.filter(([key]) => key === "fencepost.allow").map(([, value]) => value),
    problems,
    ruleOf(ref) {
      // What a pattern or a prefix was meant to be cannot be known, so everything may have been meant.
      if (broken !== undefined) return { problem: broken };
      const rules = own.filter((each) => each.matches(ref));
      if (rules.length === 0) return general.find((each) => each.matches(ref))?.rule ?? null;
      return agreed(rules);
    },
  };
}

const anything = "the setting ";

/** One rule of several for the same ref. Which of two leases was meant cannot be known. */
function agreed(rules: readonly Protection[]): Rule {
  const [first, ...others] = rules as [Protection, ...Protection[]];
  const other = others.find((each) => JSON.stringify(each.rule) !== JSON.stringify(first.rule));
  if (other === undefined) return first.rule;
  return {
    problem: `it is meant by ${quote(first.pattern)} and by ${quote(other.pattern)}, which do not say the same`,
  };
}

/** The patterns with a section of their own. */
function sections(entries: Entries): string[] {
  const found = entries.flatMap(([key]) => /^fencepost\.(.+)\.(lease|fence|drafts)$/s.exec(key)?.[1] ?? []);
  return [...new Set(found)];
}

interface Needs {
  lease: string | undefined;
  fence: string | undefined;
  drafts: string | undefined;
}

function ruleOf({ lease, fence, drafts }: Needs, what: string): Rule {
  const behind: Behind[] = [];
  for (const [kind, name] of [["lease", lease] as const, ["fence", fence] as const]) {
    if (name === undefined) continue;
    try {
      behind.push({ kind, name: leaseName(name) });
    } catch (error) {
      if (error instanceof NameInvalid) return { problem: `fencepost.${kind} for ${what}: ${error.message}` };
      throw error;
    }
  }
  const on = drafts === undefined ? false : switches.get(drafts.toLowerCase());
  if (on === undefined)
    return { problem: `fencepost.drafts for ${what} is ${quote(drafts ?? "")}, and neither true nor false` };
  if (on) behind.push({ kind: "draft" });
  if (behind.length > 0) return { behind };
  return { problem: `no lease is named for ${what}; set fencepost.lease` };
}

/** As git reads them. */
const switches = new Map([
  ...["true", "yes", "on", "1"].map((word) => [word, true] as const),
  ...["false", "no", "off", "0", ""].map((word) => [word, false] as const),
]);

function prefixOf(given: string | undefined, problems: string[]): string {
  try {
    return refPrefix(given ?? defaultPrefix);
  } catch (error) {
    if (!(error instanceof NameInvalid)) throw error;
    problems.push(`${anything}fencepost.prefix cannot be used: ${error.message}`);
    return defaultPrefix;
  }
}

/** `*` stops at a `/`, `**` does not. */
function matcherOf(pattern: string, nocase: boolean, problems: string[]): (ref: string) => boolean {
  const problem = patternProblem(pattern);
  if (problem !== null) {
    problems.push(`${anything}${problem}`);
    return () => false;
  }
  // Refs may contain what a regular expression takes for the end of a line.
  const flags = nocase ? "is" : "s";
  return picomatch(pattern, { windows: false, dot: true, nonegate: true, nocase, flags });
}

/** Why a pattern of refs cannot be used, or null. */
export function patternProblem(pattern: string): string | null {
  if (/^refs\/[^\s~^:\\]+$/.test(pattern) && !pattern.startsWith("refs/!")) return null;
  return `${quote(pattern)} is no pattern of refs. A good one: refs/heads/main, or refs/heads/site-*`;
}
