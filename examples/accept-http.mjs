// A page behind an API that only the newest holder of a lease can write: the fence is advanced first, and the API compares too.
import { accept } from "fencepost";

/**
 * Puts one page under the token of a lease.
 * @param store where the fence is kept, such as `githubStore({ token, repository: "octo/blog" })`
 * @returns the outcome: `accepted`, or `superseded` with the token that was faster
 */
export async function putPage(store, url, { token, claim }, body) {
  return accept(store, url, { token, claim }, async (accepted) => {
    const reply = await fetch(url, {
      method: "PUT",
      body,
      // The idempotency key makes a request that is sent twice harmless; the token makes a late one so.
      headers: { "fencing-token": String(accepted), "idempotency-key": `${url} ${accepted}` },
      signal: AbortSignal.timeout(30_000),
    });
    if (reply.status === 409 || reply.status === 412)
      throw new Error(`The API refused token ${accepted} for ${url}: it has seen a higher one.`);
    if (!reply.ok)
      throw new Error(`The API answered ${reply.status} for ${url}; whether it was written is not known.`);
  });
}
