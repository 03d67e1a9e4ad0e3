// A row that only the newest holder of a lease can write: the fence is advanced first, and the row compares as well.
//
// The table needs one more column:
//   ALTER TABLE page ADD COLUMN fence bigint NOT NULL DEFAULT 0;
import { accept } from "fencepost";

/**
 * Writes one page under the token of a lease.
 * @param store where the fence is kept, such as `githubStore({ token, repository: "octo/blog" })`
 * @param query runs one statement: `(text, values) => Promise<{ rowCount }>`, as `pool.query` of `pg` does
 * @returns the outcome: `accepted`, or `superseded` with the token that was faster
 */
export async function writePage(store, query, { token, claim }, { id, body }) {
  return accept(store, `page ${id}`, { token, claim }, async (accepted) => {
    // The comparison is in the statement that writes, so nothing can come in between.
    const { rowCount } = await query("UPDATE page SET body = $1, fence = $2 WHERE id = $3 AND fence < $2", [
      body,
      accepted,
      id,
    ]);
    if (rowCount !== 1)
      throw new Error(`Page ${id} was not written: a higher token has written it, or there is no such page.`);
  });
}
