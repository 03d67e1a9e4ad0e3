/** GitHub's own description of its REST API: finds the operation of a request, and checks requests and answers. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Ajv, type ValidateFunction } from "ajv";
import formats from "ajv-formats";

type Json = Record<string, unknown>;

export interface Operation {
  /** Such as `git/update-ref`. */
  id: string;
  method: string;
  /** Such as `/repos/{owner}/{repo}/git/refs/{ref}`. */
  path: string;
  documentation: string;
  /** Statuses that the description names. */
  responses: Record<string, unknown>;
  requestBody: unknown;
}

let loaded: Json | undefined;
const operations = new Map<string, Operation>();
const checks = new Map<string, ValidateFunction | null>();
// Messages and not data are wanted; GitHub's examples and extensions are no errors here.
const ajv = new Ajv({ strict: false, allErrors: false, validateFormats: true, logger: false });
(formats as unknown as (target: Ajv) => void)(ajv);

/** The document is large (13 MB) and read once per process, when the first REST request comes. */
function document(): Json {
  if (loaded === undefined) {
    const file = createRequire(import.meta.url).resolve("@octokit/openapi/generated/api.github.com.json");
    loaded = JSON.parse(readFileSync(file, "utf8")) as Json;
  }
  return loaded;
}

export function operation(method: string, path: string): Operation {
  const key = `${method} ${path}`;
  const known = operations.get(key);
  if (known !== undefined) return known;
  const found = (document().paths as Record<string, Json>)[path]?.[method.toLowerCase()] as Json | undefined;
  if (found === undefined) throw new Error(`GitHub's description has no ${key}`);
  const made: Operation = {
    id: String(found.operationId),
    method,
    path,
    documentation: String((found.externalDocs as Json | undefined)?.url ?? "https://docs.github.com/rest"),
    responses: found.responses as Record<string, unknown>,
    requestBody: found.requestBody,
  };
  operations.set(key, made);
  return made;
}

/** Names of parameters whose values may contain slashes. */
const LONG = ["ref", "path", "branch"];

/** Matches the paths of a template such as `/repos/{owner}/{repo}/git/refs/{ref}`. */
export function patternOf(template: string): RegExp {
  const escaped = template.replace(/[.+]/g, "\\$&");
  return new RegExp(
    `^${escaped.replace(/\{(\w+)\}/g, (_, name: string) => (LONG.includes(name) ? "(.+)" : "([^/]+)"))}$`,
  );
}

/** Whether GitHub has an operation for this request, whatever this server has. */
export function describes(method: string, path: string): boolean {
  const paths = Object.entries(document().paths as Record<string, Json>);
  return paths.some(
    ([template, methods]) => method.toLowerCase() in methods && patternOf(template).test(path),
  );
}

/** What is wrong with an answer, or null. Statuses without a description must look like GitHub's basic error. */
export function answerFault(of: Operation, status: number, body: unknown): string | null {
  const key = `${of.id} ${status}`;
  if (!checks.has(key)) checks.set(key, compile(answerSchema(of, status)));
  const check = checks.get(key) ?? null;
  if (check === null) return body === undefined ? null : `${key}: a body where the description has none`;
  if (body === undefined) return `${key}: no body where the description has one`;
  return check(body) ? null : `${key}: ${ajv.errorsText(check.errors, { dataVar: "body" })}`;
}

/** What is wrong with the body of a request, in the manner of GitHub's "Invalid request." texts, or null. */
export function requestFault(of: Operation, body: unknown): string | null {
  const key = `${of.id} request`;
  if (!checks.has(key)) checks.set(key, compile(jsonSchema(of.requestBody)));
  const check = checks.get(key) ?? null;
  if (check === null || check(body ?? {})) return null;
  const error = check.errors?.[0];
  const missing = (error?.params as { missingProperty?: string } | undefined)?.missingProperty;
  if (error?.keyword === "required" && missing !== undefined)
    return `Invalid request.\n\n"${missing}" wasn't supplied.`;
  return `Invalid request.\n\nFor '${(error?.instancePath ?? "").slice(1) || "links/0/schema"}', ${error?.message}.`;
}

function answerSchema(of: Operation, status: number): unknown {
  const described = of.responses[String(status)];
  const schema = described === undefined ? null : jsonSchema(described);
  // Some errors are described by their status alone; the real ones have GitHub's basic form all the same.
  if (schema === null && status >= 400) return { $ref: "#/components/schemas/basic-error" };
  return described === undefined ? { not: {} } : schema;
}

function jsonSchema(described: unknown): unknown {
  const content = resolve(described as Json | undefined)?.content as Record<string, Json> | undefined;
  return content?.["application/json"]?.schema ?? content?.["application/scim+json"]?.schema ?? null;
}

/** Follows a reference to a shared response or body. */
function resolve(node: Json | undefined): Json | undefined {
  if (typeof node?.$ref !== "string") return node;
  const parts = node.$ref.slice(2).split("/");
  return parts.reduce<Json | undefined>((at, part) => at?.[part] as Json | undefined, document());
}

/** Compiles one schema together with just the components that it reaches. */
function compile(schema: unknown): ValidateFunction | null {
  if (schema === null) return null;
  const components: Json = {};
  const waiting: unknown[] = [schema];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (typeof node !== "object" || node === null) continue;
    const ref = (node as Json).$ref;
    if (typeof ref === "string") {
      const name = ref.slice("#/components/schemas/".length);
      if (!(name in components)) {
        components[name] = (document().components as { schemas: Json }).schemas[name];
        waiting.push(components[name]);
      }
    }
    waiting.push(...Object.values(node));
  }
  const schemas = Object.fromEntries(
    Object.entries(components).map(([name, one]) => [name, toJsonSchema(one)]),
  );
  return ajv.compile({ ...(toJsonSchema(schema) as Json), components: { schemas } });
}

/** OpenAPI 3.0 writes `nullable: true` where JSON Schema has the type "null". */
function toJsonSchema(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(toJsonSchema);
  if (typeof node !== "object" || node === null) return node;
  const { nullable, example, examples, ...rest } = node as Json;
  const made = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, toJsonSchema(value)]));
  // A property may itself be called `nullable` or `example`; then it is a schema and stays.
  if (typeof nullable === "object" && nullable !== null) made.nullable = toJsonSchema(nullable);
  if (isSchema(example)) made.example = toJsonSchema(example);
  if (isSchema(examples)) made.examples = toJsonSchema(examples);
  return nullable === true ? { anyOf: [made, { type: "null" }] } : made;
}

function isSchema(node: unknown): boolean {
  return (
    typeof node === "object" && node !== null && ("type" in node || "$ref" in node) && !Array.isArray(node)
  );
}
