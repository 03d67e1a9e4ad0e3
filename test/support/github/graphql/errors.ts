/** Errors in the form that GitHub gives them. */

import { randomBytes } from "node:crypto";
import type { GraphQLError } from "graphql";
import { refusal, type Token } from "../tokens.js";

/** An error with a type, such as NOT_FOUND, FORBIDDEN, STALE_DATA, UNPROCESSABLE. */
export class Typed extends Error {
  constructor(
    readonly type: string,
    message: string,
    readonly details: Record<string, unknown> = {},
  ) {
    super(message);
  }
}

/** Whatever goes wrong in `updateRefs` shows only as this: nothing to branch on. */
export class SomethingWentWrong extends Error {
  /** `inside`: what really happened, for the reader of a test's log. */
  constructor(readonly inside: string) {
    super("Something went wrong while executing your query");
  }
}

export function genericMessage(iso: string): string {
  const id = Array.from({ length: 4 }, () => randomBytes(2).toString("hex").toUpperCase()).join(":");
  return (
    `Something went wrong while executing your query on ${iso}. ` +
    `Please include \`${id}\` when reporting this issue.`
  );
}

export function forbidden(token: Token | null): Typed {
  const message = token === null ? "Resource not accessible" : refusal(token);
  return new Typed("FORBIDDEN", message, { extensions: { saml_failure: false } });
}

export function noRepository(fullName: string): Typed {
  return new Typed("NOT_FOUND", `Could not resolve to a Repository with the name '${fullName}'.`);
}

export function noNode(id: string): Typed {
  return new Typed("NOT_FOUND", `Could not resolve to a node with the global id of '${id}'.`);
}

/** GitHub's order of keys: type, path, extensions, locations, message. */
export function shown(error: GraphQLError): Record<string, unknown> {
  const original = error.originalError;
  return {
    ...(original instanceof Typed ? { type: original.type } : {}),
    ...(error.path === undefined ? {} : { path: error.path }),
    ...(original instanceof Typed ? original.details : {}),
    ...(error.locations === undefined ? {} : { locations: error.locations }),
    message: error.message,
  };
}
