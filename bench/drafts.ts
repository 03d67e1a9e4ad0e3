// What a sweep costs with 10,000 drafts, of which 200 have records: time and memory of the command line.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runSweep } from "../test/action/sweeps.js";
import { post } from "../test/support/blog.js";
import { hub } from "../test/support/hub.js";
import { type Sandbox, sandbox } from "../test/support/sandbox.js";

export interface PlanCost {
  milliseconds: number;
  megabytes: number;
  counts: Record<string, number>;
}

/** 10,000 drafts on a branch of a bare repository, 200 of them with a record. */
async function tenThousand(box: Sandbox, repository: string): Promise<string[]> {
  const lines = [
    "reset refs/heads/big",
    "commit refs/heads/big",
    "committer x <x@x> 1700000000 +0000",
    "data 1",
    "x",
  ];
  for (let i = 0; i < 10_000; i++) {
    const text = `${post(`p${i}`)}${"A line of text.\n".repeat(60)}`;
    lines.push(`M 100644 inline posts/${i % 100}/${i}.md`, `data ${Buffer.byteLength(text)}`, text);
  }
  const imported = spawnSync("git", ["fast-import", "--quiet"], {
    cwd: repository,
    env: box.env,
    input: `${lines.join("\n")}\n`,
  });
  if (imported.status !== 0) throw new Error(`git fast-import failed: ${imported.stderr}`);
  const convention = ["--drafts", "posts/**/*.md", "--convention", "hugo", "--branch", "big"];
  const args = ["sweep", ...convention, "--store", repository, "--json"];
  const marked = await box.cli([...args, "--max-start", "200"]);
  if (JSON.parse(marked.stdout).started.length !== 200)
    throw new Error(`200 were to be started: ${marked.stderr}`);
  return args;
}

/** Requests to the API of a sweep by the action over 10,000 drafts, of which 200 have records. */
export async function sweepRequests(): Promise<number> {
  const on = await hub();
  const box = sandbox();
  try {
    await tenThousand(box, on.github.repository().dir);
    const inputs = { drafts: "posts/**/*.md", branch: "big", "max-start": 0 };
    on.github.resetCounts();
    const swept = await runSweep(on, { inputs });
    if (swept.headings.already_started !== 200)
      throw new Error(`200 are starting: ${JSON.stringify(swept.headings)}`);
    const { rest, graphql } = on.github.counts();
    return rest + graphql;
  } finally {
    box.dispose();
    await on.close();
  }
}

export async function planTenThousand(box: Sandbox): Promise<PlanCost> {
  const args = await tenThousand(box, box.origin);
  const probe = join(box.folder, "probe.mjs");
  const seen = join(box.folder, "memory");
  const file = JSON.stringify(seen);
  const probing = `String(process.resourceUsage().maxRSS)`;
  writeFileSync(
    probe,
    `import fs from "node:fs"; process.on("exit", () => fs.writeFileSync(${file}, ${probing}));`,
  );
  const start = performance.now();
  const swept = await box.cli([...args, "--max-start", "0"], {
    env: { NODE_OPTIONS: `--import=${probe}` },
  });
  const milliseconds = performance.now() - start;
  const megabytes = Number(readFileSync(seen, "utf8")) / 1024;
  return { milliseconds, megabytes, counts: JSON.parse(swept.stdout).counts };
}
