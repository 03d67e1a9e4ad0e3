// Predicates over front matter: `status == "ready" && !hold`.
import { type FrontMatter, fieldAt } from "./front-matter.js";
import { quote } from "./names.js";

/** A predicate that cannot be read; the message says what was expected, and where. */
export class PredicateInvalid extends Error {
  override name = "PredicateInvalid";
}

type Literal = string | number | boolean | null;

export type Predicate =
  | { is: "or" | "and"; parts: Predicate[] }
  | { is: "not"; part: Predicate }
  | { is: "field"; path: string }
  | { is: "equal" | "unequal"; path: string; to: Literal };

const token =
  /\s*(?:(&&|\|\||==|!=|!|\(|\))|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(-?\d+(?:\.\d+)?)(?![\w.-])|([\p{L}_][\p{L}\p{N}_.-]*))/uy;

type Token = { kind: "sign" | "text" | "number" | "word" | "end"; value: string; at: number };

const longest = 1000;

/**
 * Reads a predicate: fields (`status`, `extra.ready`), texts in either quotes, numbers, true, false, null;
 * `==` `!=` `!` `&&` `||` and parentheses. A field alone holds when it is there and is not false, null or empty.
 * @throws PredicateInvalid
 */
export function parsePredicate(given: string): Predicate {
  if (given.length > longest)
    throw new PredicateInvalid(`The predicate is longer than ${longest} characters.`);
  const tokens = tokenize(given);
  let next = 0;
  const peek = () => tokens[next] as Token;
  const take = () => tokens[next++] as Token;
  const takeSign = (sign: string) => {
    if (peek().kind !== "sign" || peek().value !== sign) return false;
    next++;
    return true;
  };
  const fail = (expected: string): never => {
    throw new PredicateInvalid(
      `The predicate ${quote(given)} cannot be read: expected ${expected} at character ${peek().at + 1}. A good one: status == "ready"`,
    );
  };

  const either = (): Predicate => several("or", "||", both);
  const both = (): Predicate => several("and", "&&", single);
  const several = (is: "or" | "and", sign: string, part: () => Predicate): Predicate => {
    const parts = [part()];
    while (takeSign(sign)) parts.push(part());
    return parts.length === 1 ? (parts[0] as Predicate) : { is, parts };
  };
  const single = (): Predicate => {
    if (takeSign("!")) return { is: "not", part: single() };
    if (takeSign("(")) {
      const inner = either();
      if (!takeSign(")")) fail("`)`");
      return inner;
    }
    if (peek().kind !== "word") fail("a field");
    const path = take().value;
    if (takeSign("==")) return { is: "equal", path, to: literal() };
    if (takeSign("!=")) return { is: "unequal", path, to: literal() };
    return { is: "field", path };
  };
  const literal = (): Literal => {
    const { kind, value } = peek();
    if (kind === "text") return take().value;
    if (kind === "number") return Number(take().value);
    const word = ({ true: true, false: false, null: null } as Record<string, Literal>)[value];
    if (kind !== "word" || word === undefined) return fail('a value: "text", a number, true, false or null');
    next++;
    return word;
  };

  const whole = either();
  if (peek().kind !== "end") fail("`&&`, `||` or the end");
  return whole;
}

function tokenize(given: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (given.slice(at).trim() !== "") {
    token.lastIndex = at;
    const found = token.exec(given);
    if (!found)
      throw new PredicateInvalid(
        `The predicate ${quote(given)} cannot be read at character ${at + 1}. A good one: status == "ready"`,
      );
    const [, sign, double, single, number, word] = found;
    const text = double ?? single;
    if (sign !== undefined) tokens.push({ kind: "sign", value: sign, at });
    else if (text !== undefined) tokens.push({ kind: "text", value: text.replace(/\\(.)/g, "$1"), at });
    else if (number !== undefined) tokens.push({ kind: "number", value: number, at });
    else tokens.push({ kind: "word", value: word as string, at });
    at = token.lastIndex;
  }
  return [...tokens, { kind: "end", value: "", at }];
}

/** Whether the front matter fulfils the predicate. An absent field equals null. Text and numbers never equal each other. */
export function holds(predicate: Predicate, fields: FrontMatter): boolean {
  switch (predicate.is) {
    case "or":
      return predicate.parts.some((part) => holds(part, fields));
    case "and":
      return predicate.parts.every((part) => holds(part, fields));
    case "not":
      return !holds(predicate.part, fields);
    case "field": {
      const value = fieldAt(fields, predicate.path);
      return value !== undefined && value !== null && value !== false && value !== "";
    }
    case "equal":
      return (fieldAt(fields, predicate.path) ?? null) === predicate.to;
    case "unequal":
      return (fieldAt(fields, predicate.path) ?? null) !== predicate.to;
  }
}
