// Evaluates workflow expressions and templates with GitHub's own expression library.
import { createHash } from "node:crypto";
import { globSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { data, Evaluator, Lexer, Parser } from "@actions/expressions";
import type { FunctionDefinition } from "@actions/expressions/funcs/info";
import { TokenType } from "@actions/expressions/lexer";
import { truthy } from "@actions/expressions/result";
import {
  isBasicExpression,
  isBoolean,
  isMapping,
  isNumber,
  isSequence,
  isString,
} from "@actions/workflow-parser";
import type { TemplateToken } from "@actions/workflow-parser/templates/tokens/template-token";

export type Value = string | number | boolean | null | Value[] | { [key: string]: Value };
export type Token = TemplateToken;

export interface Scope {
  /** By name: github, env, steps and so on. */
  contexts: Record<string, Value>;
  functions: Map<string, FunctionDefinition>;
}

/** The names that an expression may use. Each is there in every scope, if only as an empty mapping, as in the runner. */
const contextNames = "github inputs vars needs strategy matrix secrets steps job runner env".split(" ");

export function evaluateExpression(expression: string, scope: Scope): Value {
  return toValue(evaluateData(expression, scope));
}

/** Whether a condition holds. It is an expression without its `${{ }}`. */
export function holds(condition: string, scope: Scope): boolean {
  return truthy(evaluateData(condition, scope));
}

/** The value of a template: literals as they are, expressions evaluated. */
export function evaluate(token: Token | undefined, scope: Scope): Value {
  if (token === undefined) return null;
  if (isBasicExpression(token)) return evaluateExpression(token.expression, scope);
  if (isString(token) || isNumber(token) || isBoolean(token)) return token.value;
  if (isSequence(token)) return [...token].map((item) => evaluate(item, scope));
  if (isMapping(token))
    return Object.fromEntries(
      [...token].map((pair) => [evaluateText(pair.key, scope), evaluate(pair.value, scope)]),
    );
  return null;
}

/** The value of a template as text, by GitHub's rules for turning values into text. */
export function evaluateText(token: Token | undefined, scope: Scope): string {
  return textOf(evaluate(token, scope));
}

/** The values of a mapping as texts: `env:`, `with:`, `outputs:`. */
export function evaluateTexts(token: Token | undefined, scope: Scope): Record<string, string> {
  const value = evaluate(token, scope);
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw new Error("A mapping was expected");
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, textOf(item)]));
}

export function textOf(value: Value): string {
  if (value !== null && typeof value === "object")
    throw new Error("A text was expected, not a sequence or mapping");
  return toData(value).coerceString();
}

export interface Status {
  success: (ids: string[]) => boolean;
  failure: (ids: string[]) => boolean;
  cancelled: () => boolean;
}

export function statusFunctions(status: Status): FunctionDefinition[] {
  const names = (args: data.ExpressionData[]) => args.map((arg) => arg.coerceString());
  return [
    definition("always", () => new data.BooleanData(true)),
    definition("cancelled", () => new data.BooleanData(status.cancelled())),
    definition("success", (...args) => new data.BooleanData(status.success(names(args)))),
    definition("failure", (...args) => new data.BooleanData(status.failure(names(args)))),
  ];
}

/** One SHA-256 over the SHA-256 of each file; empty where no file matches. */
export function hashFilesIn(workspace: string): FunctionDefinition {
  return definition("hashFiles", (...patterns) => {
    const found = patterns.flatMap((pattern) => globSync(pattern.coerceString(), { cwd: workspace }));
    const files = [...new Set(found)]
      .map((path) => resolve(workspace, path))
      .filter((path) => statSync(path).isFile());
    const total = createHash("sha256");
    for (const path of files.sort()) total.update(createHash("sha256").update(readFileSync(path)).digest());
    return new data.StringData(files.length > 0 ? total.digest("hex") : "");
  });
}

export function scopeOf(contexts: Record<string, Value>, functions: FunctionDefinition[] = []): Scope {
  return { contexts, functions: new Map(functions.map((each) => [each.name.toLowerCase(), each])) };
}

function definition(name: string, call: FunctionDefinition["call"]): FunctionDefinition {
  return { name, minArgs: 0, maxArgs: Number.MAX_SAFE_INTEGER, call };
}

function evaluateData(expression: string, scope: Scope): data.ExpressionData {
  const tree = new Parser(lex(expression), contextNames, [...scope.functions.values()]).parse();
  if (!tree) return new data.Null();
  const contexts = contextNames.map((name) => ({ key: name, value: toData(scope.contexts[name] ?? {}) }));
  return new Evaluator(tree, new data.Dictionary(...contexts), scope.functions).evaluate();
}

function lex(expression: string): ReturnType<Lexer["lex"]>["tokens"] {
  const { tokens } = new Lexer(expression).lex();
  for (const token of tokens) {
    // The lexer of 0.3 undoubles only the first '' of a string, which spoils scripts with several quotes.
    if (token.type === TokenType.STRING) token.value = token.lexeme.slice(1, -1).replaceAll("''", "'");
  }
  return tokens;
}

function toData(value: Value): data.ExpressionData {
  return JSON.parse(JSON.stringify(value), data.reviver);
}

function toValue(value: data.ExpressionData): Value {
  return JSON.parse(JSON.stringify(value, data.replacer));
}
