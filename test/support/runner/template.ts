// Reads YAML into GitHub's templates, by its own schemas for workflows and actions.
import { NoOperationTraceWriter } from "@actions/workflow-parser";
import { ACTION_ROOT } from "@actions/workflow-parser/actions/action-constants";
import { getActionSchema } from "@actions/workflow-parser/actions/action-schema";
import {
  TemplateContext,
  TemplateValidationErrors,
} from "@actions/workflow-parser/templates/template-context";
import { readTemplate } from "@actions/workflow-parser/templates/template-reader";
import type { LiteralToken } from "@actions/workflow-parser/templates/tokens/literal-token";
import { StringToken } from "@actions/workflow-parser/templates/tokens/string-token";
import { WORKFLOW_ROOT } from "@actions/workflow-parser/workflows/workflow-constants";
import { getWorkflowSchema } from "@actions/workflow-parser/workflows/workflow-schema";
import { YamlObjectReader } from "@actions/workflow-parser/workflows/yaml-object-reader";
import type { Token } from "./expression.js";

const kinds = {
  workflow: { root: WORKFLOW_ROOT, schema: getWorkflowSchema },
  action: { root: ACTION_ROOT, schema: getActionSchema },
};

export interface Template {
  context: TemplateContext;
  root: Token;
}

/** @throws with every error that the schema finds. */
export function parseTemplate(kind: keyof typeof kinds, path: string, content: string): Template {
  const { root: type, schema } = kinds[kind];
  const context = new TemplateContext(new TemplateValidationErrors(), schema(), new NoOperationTraceWriter());
  const file = context.getFileId(path);
  const reader = new ValueReader(file, content);
  for (const error of reader.errors) context.error(file, error.message, error.range);
  const root = reader.errors.length === 0 ? readTemplate(context, type, reader, file) : undefined;
  throwErrors(context, path);
  if (!root) throw new Error(`${path} is empty`);
  return { context, root };
}

export function throwErrors(context: TemplateContext, path: string): void {
  const errors = context.errors.getErrors().map((error) => error.message);
  if (errors.length > 0) throw new Error(`${path} is not valid: ${errors.join("; ")}`);
}

/**
 * Gives scalars without their source. The template reader, made for editors, takes the text around the expressions of
 * a scalar of several lines from its source, with the file's indentation; GitHub takes it from the value.
 */
class ValueReader extends YamlObjectReader {
  override allowLiteral(): LiteralToken | undefined {
    const token = super.allowLiteral();
    if (!(token instanceof StringToken)) return token;
    return new StringToken(token.file, token.range, token.value, token.definitionInfo);
  }
}
