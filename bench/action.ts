// What the action costs: API requests per step at a local GitHub, CPU time, bundle sizes, and the start of its main step.
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { commitStep, type Hub, leased, root } from "../test/support/hub.js";

const draft = "---\ntitle: a\ndraft: true\n---\n";

export type Requests = Record<string, number>;

/** Requests to the API, by step. Each is the difference between two runs, or a run of its own. */
export async function actionRequests(on: Hub): Promise<Requests> {
  const folder = mkdtempSync(join(tmpdir(), "fp-cost-"));
  const go = join(folder, "go");
  const counted = async (act: () => Promise<unknown>) => {
    const before = on.github.requests.length;
    await act();
    return on.github.requests.slice(before).filter((request) => request.kind !== "git");
  };
  const plain = (more = "true", inputs = {}) =>
    on.run(leased(commitStep("posts/x.md", more), { push: "false", ...inputs }));
  try {
    const first = await counted(() => plain());
    const again = await counted(() => plain());
    const pushed = await counted(() => on.run(leased(commitStep("posts/y.md"))));
    const renewed = await counted(() => plain("sleep 4.5", { ttl: "10s" }));
    const holder = on.start(
      leased(commitStep("posts/z.md", `echo ready; until [ -f ${go} ]; do sleep 0.05; done`)),
    );
    await holder.seen("ready");
    await plain();
    const skipped = await counted(() => plain());
    const skippedBlindly = await counted(() => on.run(leased(commitStep(), {}, "contents: write")));
    const waited = await counted(async () => {
      const waiter = on.start(leased(commitStep("posts/w.md"), { "on-overlap": "wait", push: "false" }));
      await waiter.seen(/Waiting for/);
      await new Promise((resolve) => setTimeout(resolve, 12_000));
      writeFileSync(go, "");
      await Promise.all([waiter.done, holder.done]);
    });
    await on.github.commit("main", { "drafts/a.md": draft, "drafts/b.md": draft }, "two drafts");
    const works = (path: string, inputs = {}) =>
      on.run(leased(commitStep("posts/d.md"), { lease: "", draft: path, convention: "hugo", ...inputs }));
    const drafted = await counted(() => works("drafts/a.md"));
    const unpushed = await counted(() => works("drafts/b.md", { push: "false" }));
    const slots = (schedule: string) => plain("true", { lease: "slots", schedule });
    await slots("0 * * * *");
    // Another schedule under the same lease has its first slot.
    const slotted = await counted(() => slots("30 * * * *"));
    // The main step's requests come before the post step's single release.
    return {
      "acquire, the first time ever": first.length - 1,
      acquire: again.length - 1,
      release: 1,
      renew: renewed.length - again.length,
      "fenced push": pushed.length - again.length,
      "skip, with the question whether the holder has finished": skipped.length,
      "skip, where that may not be asked": skippedBlindly.filter((request) => request.counted).length,
      "a job for a draft that is claimed for the first time, pushed": drafted.length,
      "the same without a push": unpushed.length,
      "a job for a slot: acquire and release": slotted.length,
      "unpaid 304 answers while waiting": waited.filter((request) => request.status === 304).length,
      "paid requests of a wait of 12 s, its acquire and both releases": waited.filter(
        (request) => request.counted,
      ).length,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** CPU seconds, ours and git's, of a main and a post step that acquire, push one commit, and release. */
export async function cpuSeconds(on: Hub): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "fp-cpu-"));
  const git = (...args: string[]) => execFileSync("git", args, { cwd: folder, stdio: "ignore" });
  try {
    git("clone", "-q", on.github.repository().dir, "clone");
    git(
      "-C",
      "clone",
      "-c",
      "user.name=a",
      "-c",
      "user.email=a@a",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "measured",
    );
    const files = ["GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_ENV", "GITHUB_STEP_SUMMARY"].map((name) => [
      name,
      join(folder, name),
    ]);
    for (const [, path = ""] of files) writeFileSync(path, "");
    const env = {
      PATH: process.env.PATH,
      HOME: folder,
      RUNNER_TEMP: folder,
      GITHUB_ACTIONS: "true",
      GITHUB_WORKSPACE: join(folder, "clone"),
      GITHUB_REPOSITORY: "octo/blog",
      GITHUB_RUN_ID: "1",
      GITHUB_REF: "refs/heads/main",
      GITHUB_SERVER_URL: on.github.url,
      GITHUB_API_URL: on.github.apiUrl,
      GITHUB_GRAPHQL_URL: on.github.graphqlUrl,
      INPUT_TOKEN: on.github.token({ contents: "write", actions: "read", label: "cpu" }),
      INPUT_LEASE: "cpu",
      INPUT_PUSH: "true",
      INPUT_HEARTBEAT: "false",
      "INPUT_JOB-STATUS": "success",
    };
    const step = async (name: string, more: Record<string, string>) => {
      const script = 'node=$1; shift; "$node" "$1" >/dev/null; times';
      const args = ["-c", script, "bash", process.execPath, join(root, "dist", name, "index.js")];
      const { stdout } = await promisify(execFile)("bash", args, {
        env: { ...env, ...Object.fromEntries(files), ...more },
      });
      const children = stdout.trim().split("\n").at(-1) ?? "";
      return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
        (sum, [, m, s]) => sum + Number(m) * 60 + Number(s),
        0,
      );
    };
    const main = await step("main", {});
    const state = readFileSync(join(folder, "GITHUB_STATE"), "utf8");
    const held = [...state.matchAll(/^held<<(.+)\n([\s\S]*?)\n\1$/gm)].at(-1)?.[2] ?? "";
    return main + (await step("post", { STATE_held: held }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How large the bundles are, and how much later than `node -e 0` the main step starts. */
export function bundleFacts(): { sizes: Record<string, number>; startupMs: number } {
  const dist = join(root, "dist");
  const sizes = Object.fromEntries(
    readdirSync(dist).map((name) => [name, statSync(join(dist, name, "index.js")).size]),
  );
  const time = (...args: string[]) => {
    const times = Array.from({ length: 7 }, () => {
      const start = performance.now();
      try {
        execFileSync(process.execPath, args, { stdio: "ignore", env: { PATH: process.env.PATH } });
      } catch {
        // Without inputs the step ends with an error, after all of it was loaded.
      }
      return performance.now() - start;
    });
    return times.sort((a, b) => a - b)[3] ?? Number.NaN;
  };
  const bare = time("-e", "0");
  return { sizes, startupMs: time(join(dist, "main", "index.js")) - bare };
}
