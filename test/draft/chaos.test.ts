// Two sweeps and two executors at once over fifty drafts, killed at random: each is published exactly once.
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { globs, post, published, publishing, pushFiles } from "../support/blog.js";
import { type Running, type Sandbox, sandbox } from "../support/sandbox.js";

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.dispose());

/** mulberry32: the same numbers for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const total = 50;
const paths = Array.from({ length: total }, (_, i) => `posts/記事 ${i}.md`);
const limits = [
  "--ttl",
  "4s",
  "--skew",
  "0s",
  "--max-attempts",
  "100",
  "--backoff",
  "0s",
  "--attempts",
  "20",
];

it("none is published twice, none is lost, and the headings always add up", async () => {
  const seed = Number(process.env.FENCEPOST_SEED ?? 20261130);
  const random = seeded(seed);
  pushFiles(box, Object.fromEntries(paths.map((path) => [path, post(path)])));
  const sums: number[] = [];
  let kills = 0;
  const end = performance.now() + 75_000;
  const done = () => new Set(published(box)).size === total || performance.now() > end;

  async function mayDie(running: Running): Promise<void> {
    // About one in five is killed, at any moment of its work.
    if (random() < 0.2) {
      await Promise.race([delay(random() * 1500), running.ended]);
      if (running.child.exitCode === null) {
        kills++;
        process.kill(-(running.child.pid as number), "SIGKILL");
      }
    }
    const { stdout } = await running.ended;
    const told = stdout.trim().startsWith("{") ? JSON.parse(stdout) : {};
    if (told.counts)
      sums.push((Object.values(told.counts) as number[]).reduce((a, b) => a + b, 0) - told.total);
  }
  async function sweeper(clone: string) {
    while (!done()) {
      const args = ["sweep", ...globs, "--event", "--json", "--max-start", "4", ...limits];
      await mayDie(box.start([...args, "--", "sh", "-c", publishing], { cwd: clone }));
    }
  }
  async function executor(clone: string) {
    while (!done()) {
      const left = paths.filter((path) => !published(box).includes(path));
      const path = left[Math.floor(random() * left.length)];
      if (path === undefined) return;
      box.git(clone, "fetch", "--quiet", "origin", "main");
      box.git(clone, "reset", "--quiet", "--hard", "FETCH_HEAD");
      const args = ["run", "--draft", path, "--convention", "hugo", "--push", "main", ...limits];
      await mayDie(box.start([...args, "--", "sh", "-c", publishing], { cwd: clone }));
    }
  }

  const clones = ["s1", "s2", "e1", "e2"].map((name) => box.clone(name)) as [string, string, string, string];
  await Promise.all([sweeper(clones[0]), sweeper(clones[1]), executor(clones[2]), executor(clones[3])]);

  const all = published(box);
  console.log(`seed ${seed}: ${all.length} publishes, ${kills} kills, ${sums.length} complete sweeps`);
  expect(all.sort()).toEqual([...paths].sort());
  expect(new Set(sums)).toEqual(new Set([0]));
  const shown = await box.cli(["drafts", ...globs, "--json", "--store", box.origin]);
  expect(JSON.parse(shown.stdout)).toMatchObject({ total, counts: { not_pending: total } });
  expect((await box.cli(["doctor", "--json", "--store", box.origin])).code).toBe(0);
});
