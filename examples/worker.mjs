// A Cloudflare Worker that publishes on a cron trigger, without git: one file, in one commit, behind a lease. If another run
// holds the lease it does nothing; if this one was taken over meanwhile, GitHub refuses its write.
//
// wrangler.toml:  [triggers] crons = ["0 * * * *"], and [vars] REPOSITORY = "octo/blog"
// A secret GITHUB_TOKEN with "Contents: Read and write" on that repository (npx wrangler secret put GITHUB_TOKEN).
import { acquire, githubStore, publishCommit, release } from "fencepost";

export default {
  async scheduled(event, env) {
    const { GITHUB_TOKEN: token, REPOSITORY: repository, API_URL: apiUrl, GRAPHQL_URL: graphqlUrl } = env;
    const store = githubStore({ token, repository, ...(apiUrl ? { apiUrl, graphqlUrl } : {}) });
    const lease = await acquire(store, { lease: "hourly", ttl: "5m", holder: "worker hourly" });
    if (lease.outcome !== "acquired") return console.log(`skipped_overlap: held by ${lease.holder}`);
    let { holding } = lease;
    try {
      const hour = new Date(event.scheduledTime).toISOString().slice(0, 13);
      const result = await publishCommit(store, holding, {
        branch: "main",
        message: `Report of ${hour}`,
        files: { [`reports/${hour}.md`]: await report(hour) },
      });
      if (result.outcome === "pushed") holding = result.holding;
      else if (result.outcome !== "unchanged") throw new Error(`${result.outcome}: ${result.why}`);
      console.log(`${result.outcome}: ${result.commit}`);
    } finally {
      await release(store, holding);
    }
  },
};

/** Whatever there is to publish. */
async function report(hour) {
  return `# ${hour}\n\nAll is well. 順調です。\n`;
}
