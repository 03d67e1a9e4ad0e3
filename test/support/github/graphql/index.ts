/** The GraphQL API: one request in, one answer in GitHub's form out. */
import {
  execute,
  GraphQLError,
  type GraphQLFieldResolver,
  getOperationAST,
  type OperationDefinitionNode,
} from "graphql";
import { nodeId, parseNodeId } from "../node-ids.js";
import type { Token } from "../tokens.js";
import { covers } from "../tokens.js";
import type { Served, World } from "../world.js";
import { genericMessage, noNode, noRepository, SomethingWentWrong, shown, Typed } from "./errors.js";
import { mutations } from "./mutations.js";
import { githubSchema, prepare } from "./schema.js";
import { type GraphqlContext, objectValue, refValue, repositoryValue, type Value } from "./values.js";

export interface GraphqlBody {
  query?: unknown;
  variables?: unknown;
  operationName?: unknown;
}

/** Operation, name and top-level fields of a request, for the log; nothing where it is not GraphQL. */
export function graphqlOperation(body: Buffer): { operation: string; name: string | null; fields: string[] } {
  const unknown = { operation: "", name: null, fields: [] };
  try {
    const { query, operationName } = JSON.parse(body.toString()) as GraphqlBody;
    if (typeof query !== "string") return unknown;
    const found = getOperationAST(
      prepare(query).document,
      typeof operationName === "string" ? operationName : null,
    );
    if (!found) return unknown;
    return { operation: found.operation, name: found.name?.value ?? null, fields: fieldsOf(found) };
  } catch (error) {
    // What cannot be read is answered as such by serveGraphql.
    if (error instanceof SyntaxError || error instanceof GraphQLError) return unknown;
    throw error;
  }
}

function fieldsOf(operation: OperationDefinitionNode): string[] {
  return operation.selectionSet.selections.flatMap((one) => (one.kind === "Field" ? [one.name.value] : []));
}

/** What `repository`, `node` and the like answer. */
const root: Value = {
  ...mutations,
  repository: ({ owner, name }: { owner: string; name: string }, context: GraphqlContext) => {
    const repository = visible(context, `${owner}/${name}`);
    if (repository === null) throw noRepository(`${owner}/${name}`);
    return repositoryValue(context, repository);
  },
  node: ({ id }: { id: string }, context: GraphqlContext) => nodeOf(context, id),
  nodes: ({ ids }: { ids: string[] }, context: GraphqlContext) => ids.map((id) => nodeOf(context, id)),
  viewer: (_: unknown, { token, world }: GraphqlContext) => ({
    __typename: "User",
    login: token?.login,
    id: nodeId("U", String(token?.userId)),
    databaseId: token?.userId,
    name: token?.login,
    url: `${world.url}/${token?.login}`,
  }),
  rateLimit: (_: unknown, { token, world }: GraphqlContext) => {
    const { limit, used, reset } = world.limits.window(token, "graphql");
    return {
      cost: 1,
      limit,
      used: used + 1,
      remaining: limit - used - 1,
      nodeCount: 0,
      resetAt: world.clock.iso(reset * 1000),
    };
  },
};

function visible(context: GraphqlContext, fullName: string) {
  const repository = context.world.find(fullName);
  if (repository === undefined) return null;
  return !repository.isPrivate || (context.token !== null && covers(context.token, repository.fullName))
    ? repository
    : null;
}

async function nodeOf(context: GraphqlContext, id: string): Promise<unknown> {
  const { kind, parts } = parseNodeId(id) ?? { kind: "", parts: [] };
  const repository = visible(context, parts[0] ?? "");
  if (repository === null) throw noNode(id);
  if (kind === "R" && parts.length === 1) return repositoryValue(context, repository);
  if (kind === "REF") {
    const found = await context.view(repository).get(parts[1] ?? "");
    if (found !== null) return refValue(context, repository, found);
  } else {
    const value = objectValue(context, repository, await repository.objects.read(parts[1] ?? ""));
    if (value !== null) return value;
  }
  throw noNode(id);
}

/** Takes a field from the value, and says so loudly where this server has none: null would be a wrong answer. */
const fieldResolver: GraphQLFieldResolver<Value, GraphqlContext> = (source, args, context, info) => {
  const value = source[info.fieldName];
  if (value === undefined) {
    const lack = `the local GitHub has no ${info.parentType.name}.${info.fieldName}`;
    context.world.violations.push(lack);
    throw new Typed("NOT_IMPLEMENTED", lack);
  }
  return typeof value === "function" ? value.call(source, args, context, info) : value;
};

export async function serveGraphql(
  world: World,
  raw: Buffer,
  token: Token | null,
  sight: Pick<GraphqlContext, "view" | "between">,
): Promise<Served> {
  let body: GraphqlBody;
  try {
    body = JSON.parse(raw.toString()) as GraphqlBody;
  } catch {
    return json(400, {
      message: "Problems parsing JSON",
      documentation_url: "https://docs.github.com/graphql",
    });
  }
  if (typeof body?.query !== "string") {
    return json(200, { errors: [{ message: "A query attribute must be specified and must be a string." }] });
  }
  try {
    const { document, errors } = prepare(body.query);
    if (errors.length > 0) return json(200, { errors: errors.map(shown) });
    const result = await execute({
      schema: githubSchema(),
      document,
      rootValue: root,
      contextValue: { world, token, ...sight } satisfies GraphqlContext,
      variableValues: (body.variables ?? {}) as Record<string, unknown>,
      operationName: typeof body.operationName === "string" ? body.operationName : null,
      fieldResolver: fieldResolver as GraphQLFieldResolver<unknown, unknown>,
    });
    const wrong = result.errors?.find(({ originalError }) => originalError instanceof SomethingWentWrong);
    if (wrong !== undefined) return genericError(world, String(wrong.path?.[0] ?? ""));
    for (const { originalError } of result.errors ?? []) {
      if (
        originalError === undefined ||
        originalError instanceof Typed ||
        originalError instanceof GraphQLError
      )
        continue;
      world.violations.push(`the local GitHub failed: ${originalError.stack}`);
    }
    if (result.errors === undefined) return json(200, { data: result.data });
    return json(200, {
      ...("data" in result ? { data: result.data } : {}),
      errors: result.errors.map(shown),
    });
  } catch (error) {
    if (error instanceof GraphQLError) return json(200, { errors: [shown(error)] });
    throw error;
  }
}

/** The generic answer, which says nothing of what happened or whether. */
export function genericError(world: World, field: string): Served {
  const data = world.behaviour.genericErrorData === "field" && field !== "" ? { [field]: null } : null;
  return json(200, { data, errors: [{ message: genericMessage(world.clock.iso()) }] });
}

function json(status: number, body: unknown): Served {
  const headers = { "content-type": "application/json; charset=utf-8" };
  return { status, headers, body: Buffer.from(JSON.stringify(body)), counted: true };
}
