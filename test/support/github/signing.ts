/** Whose name the server writes into commits, and the signature that marks those it vouches for. */
import { randomBytes } from "node:crypto";
import type { Clock } from "./clock.js";
import type { Identity } from "./objects.js";
import type { Token } from "./tokens.js";

/** The committer of what GitHub commits on a caller's behalf. */
export const GITHUB = { name: "GitHub", email: "noreply@github.com" };

export function authorOf(token: Token | null, clock: Clock): Identity {
  const login = token?.login ?? "octocat";
  const id = token?.userId ?? 583231;
  const email = `${id}+${login}@users.noreply.github.com`;
  return { name: login, email, seconds: clock.seconds(), zone: "+0000" };
}

/** Shaped as GitHub's, and valid only by this server's word. */
export function signatureOf(): string {
  const body = randomBytes(48).toString("base64");
  return `-----BEGIN PGP SIGNATURE-----\n\n${body}\n-----END PGP SIGNATURE-----\n`;
}
