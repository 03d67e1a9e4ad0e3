// `fencepost run` as people use it: real processes on a real bare repository.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { leaseRecord, leaseRef, type Sandbox, sandbox } from "../support/sandbox.js";

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.dispose());

const store = () => ["--store", box.origin];

describe("overlap", () => {
  it("lets exactly one of two runs work, and the other names the holder", async () => {
    const gate = join(box.folder, "go");
    const first = box.start([
      "run",
      "--lease",
      "blog",
      ...store(),
      "--",
      "sh",
      "-c",
      `until [ -f ${gate} ]; do sleep 0.05; done`,
    ]);
    await first.until(/acquired/);
    const second = await box.cli([
      "run",
      "--lease",
      "blog",
      ...store(),
      "--json",
      "--",
      "touch",
      join(box.folder, "ran"),
    ]);
    expect(second.code).toBe(75);
    expect(second.stderr).toMatch(
      new RegExp(`skipped_overlap: "blog" is held by .* process ${first.child.pid}, token 1, since`),
    );
    expect(JSON.parse(second.stdout)).toMatchObject({
      outcome: "skipped_overlap",
      token: 1,
      holder: { pid: first.child.pid },
    });
    expect(existsSync(join(box.folder, "ran"))).toBe(false);
    writeFileSync(gate, "");
    expect((await first.ended).code).toBe(0);
  });

  it("runs twenty at once with --wait one after the other, under the tokens 1 to 20 (C23)", async () => {
    const log = join(box.folder, "log");
    const script = `echo "begin $FENCEPOST_TOKEN" >> ${log}; sleep 0.02; echo "end $FENCEPOST_TOKEN" >> ${log}`;
    const runs = Array.from({ length: 20 }, () =>
      box.cli([
        "run",
        "--lease",
        "blog",
        ...store(),
        "--wait",
        "5m",
        "--ttl",
        "2m",
        "--",
        "sh",
        "-c",
        script,
      ]),
    );
    const failed = (await Promise.all(runs)).filter((run) => run.code !== 0);
    expect(failed).toEqual([]);
    const tokens = Array.from({ length: 20 }, (_, i) => i + 1);
    expect(readFileSync(log, "utf8").trim().split("\n")).toEqual(
      tokens.flatMap((n) => [`begin ${n}`, `end ${n}`]),
    );
  });

  it("gives up after --wait without having run the command", async () => {
    const first = box.start(["run", "--lease", "blog", ...store(), "--", "sleep", "60"]);
    await first.until(/acquired/);
    const second = await box.cli([
      "run",
      "--lease",
      "blog",
      ...store(),
      "--wait",
      "1s",
      "--",
      "touch",
      join(box.folder, "ran"),
    ]);
    expect(second.code).toBe(75);
    expect(second.stderr).toMatch(/waiting for "blog".*held by[\s\S]*skipped_overlap after waiting 1s/);
    expect(existsSync(join(box.folder, "ran"))).toBe(false);
  });
});

describe("a holder that dies or freezes", () => {
  it("is replaced after the TTL, under the next token", async () => {
    const first = box.start(["run", "--lease", "blog", ...store(), "--ttl", "3s", "--", "sleep", "60"]);
    await first.until(/acquired/);
    process.kill(-(first.child.pid as number), "SIGKILL");
    const early = await box.cli(["run", "--lease", "blog", ...store(), "--", "true"]);
    expect(early.code).toBe(75);
    const next = await box.cli([
      "run",
      "--lease",
      "blog",
      ...store(),
      "--wait",
      "20s",
      "--ttl",
      "3s",
      "--",
      "sh",
      "-c",
      "echo token $FENCEPOST_TOKEN",
    ]);
    expect(next.code).toBe(0);
    expect(next.stdout).toBe("token 2\n");
    expect(next.stderr).toMatch(/it had expired/);
  });

  it.each([
    // The command goes on in its own group and finishes: the run wakes up, pushes, and meets the fence.
    ["while its command finishes", false, "superseded"],
    // Nothing of it went on: it wakes up in doubt, and ends its command.
    ["with its command", true, "lost"],
  ] as const)(
    "that was frozen %s is too late when it wakes, and its commits are kept",
    async (_, both, outcome) => {
      const main = box.tip("refs/heads/main");
      const clone = box.clone("frozen");
      const go = join(box.folder, "go");
      const script = `git commit -q --allow-empty -m late && echo committed $$ && until [ -f ${go} ]; do sleep 0.05; done`;
      const args = [
        "run",
        "--lease",
        "blog",
        "--ttl",
        "4s",
        "--push",
        "main",
        "--json",
        "--",
        "sh",
        "-c",
        script,
      ];
      const late = box.start(args, { cwd: clone });
      await late.until(/committed \d+/);
      const groups = [
        late.child.pid as number,
        ...(both ? [Number(/committed (\d+)/.exec(late.said())?.[1])] : []),
      ];
      for (const pid of groups) process.kill(-pid, "SIGSTOP");
      if (!both) writeFileSync(go, "");
      const next = await box.cli([
        "run",
        "--lease",
        "blog",
        ...store(),
        "--wait",
        "20s",
        "--",
        "sh",
        "-c",
        "echo token $FENCEPOST_TOKEN",
      ]);
      expect(next.stdout).toBe("token 2\n");
      for (const pid of groups) process.kill(-pid, "SIGCONT");
      const ended = await late.ended;
      expect(ended.code).toBe(76);
      expect(JSON.parse(ended.stdout)).toMatchObject({ outcome, token: 1, rescue: { kept: "ref" } });
      expect(box.tip("refs/heads/main")).toBe(main);
      expect(box.tip("refs/heads/fencepost/rescue/blog/1")).toBe(box.git(clone, "rev-parse", "HEAD"));
    },
  );

  it("ends its command when the lease is taken from it: SIGTERM to the whole group", async () => {
    const pids = join(box.folder, "pids");
    const script = `trap 'echo ended > ${box.folder}/term; exit 0' TERM; sleep 300 & echo $! > ${pids}; echo ready; wait`;
    const run = box.start([
      "run",
      "--lease",
      "blog",
      ...store(),
      "--ttl",
      "2s",
      "--json",
      "--",
      "sh",
      "-c",
      script,
    ]);
    await run.until(/ready/);
    const unlocked = await box.cli(["unlock", "blog", ...store(), "--token", "1", "--reason", "test"]);
    expect(unlocked.code).toBe(0);
    const ended = await run.ended;
    expect(ended.code).toBe(76);
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "superseded", token: 1 });
    expect(existsSync(join(box.folder, "term"))).toBe(true);
    expect(alive(Number(readFileSync(pids, "utf8")))).toBe(false);
    expect(leaseRecord(box, leaseRef("blog"))).toMatchObject({
      token: 2,
      state: "released",
      event: "unlocked",
    });
  });

  it("kills a command that ignores SIGTERM, so that nothing goes on working without a lease", async () => {
    const script = `trap '' TERM; echo $$ > ${box.folder}/pid; echo ready; while :; do sleep 0.2; done`;
    const run = box.start(["run", "--lease", "blog", ...store(), "--ttl", "6s", "--", "sh", "-c", script]);
    await run.until(/ready/);
    await box.cli(["unlock", "blog", ...store(), "--token", "1", "--reason", "test"]);
    expect((await run.ended).code).toBe(76);
    expect(alive(Number(readFileSync(join(box.folder, "pid"), "utf8")))).toBe(false);
  });

  it("calls itself lost when the store cannot be reached for two thirds of the TTL (C21)", async () => {
    const run = box.start([
      "run",
      "--lease",
      "blog",
      ...store(),
      "--ttl",
      "3s",
      "--json",
      "--",
      "sleep",
      "60",
    ]);
    await run.until(/acquired/);
    const away = `${box.origin}.away`;
    execFileSync("mv", [box.origin, away]);
    const ended = await run.ended;
    expect(ended.code).toBe(76);
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: "lost" });
    expect(ended.stderr).toMatch(
      /could not renew[\s\S]*no renewal of "blog" succeeded for two thirds of its TTL/,
    );
    execFileSync("mv", [away, box.origin]);
  });
});

describe("the heartbeat", () => {
  it("keeps a lease beyond its TTL, and is started again when it is killed", async () => {
    const run = box.start(["run", "--lease", "blog", ...store(), "--ttl", "6s", "--", "sleep", "9"]);
    await run.until(/acquired/);
    // It is started after that line.
    const child = () =>
      spawnSync("pgrep", ["-P", String(run.child.pid), "-f", "heartbeat"], { encoding: "utf8" });
    let heartbeat = child();
    while (heartbeat.status !== 0) {
      await delay(20);
      heartbeat = child();
    }
    process.kill(Number(heartbeat.stdout), "SIGKILL");
    await delay(7500);
    const other = await box.cli(["run", "--lease", "blog", ...store(), "--", "true"]);
    expect(other.code).toBe(75);
    const ended = await run.ended;
    expect(ended.code).toBe(0);
    expect(ended.stderr).toMatch(/heartbeat process ended; starting it again/);
    expect(box.git(box.origin, "log", "--format=%s", leaseRef("blog"))).toMatch(/#1 renewed/);
  });

  it("leaves no process and no folder behind", async () => {
    const run = await box.cli(["run", "--lease", "blog", ...store(), "--", "true"]);
    expect(run.code).toBe(0);
    expect(readdirSync(join(box.folder, "tmp"))).toEqual([]);
    const left = execFileSync(
      "sh",
      ["-c", `grep -lz "HOME=${box.folder}/home" /proc/[0-9]*/environ 2>/dev/null || true`],
      { encoding: "utf8" },
    );
    expect(left).toBe("");
  });

  it("does not renew with --no-heartbeat, and the command is ended at two thirds of the TTL", async () => {
    const run = await box.cli([
      "run",
      "--lease",
      "blog",
      ...store(),
      "--ttl",
      "2s",
      "--no-heartbeat",
      "--json",
      "--",
      "sleep",
      "30",
    ]);
    expect(run.code).toBe(76);
    expect(JSON.parse(run.stdout)).toMatchObject({ outcome: "lost" });
    expect(box.git(box.origin, "log", "--format=%s", leaseRef("blog"))).not.toMatch(/renewed/);
  });
});

describe("the command", () => {
  it("gets the lease, the token and the claim, and its exit code is ours", async () => {
    const script = 'echo "$FENCEPOST_LEASE $FENCEPOST_TOKEN $FENCEPOST_CLAIM"; exit 7';
    const run = await box.cli(["run", "--lease", "My Lease", ...store(), "--", "sh", "-c", script]);
    expect(run.code).toBe(7);
    expect(run.stdout).toMatch(/^My Lease 1 [0-9a-f-]{36}\n$/);
    const next = await box.cli([
      "run",
      "--lease",
      "My Lease",
      ...store(),
      "--json",
      "--",
      "sh",
      "-c",
      "echo out; exit 3",
    ]);
    expect(next.code).toBe(3);
    expect(JSON.parse(next.stdout)).toMatchObject({
      lease: "My Lease",
      outcome: "acquired",
      token: 2,
      commandExit: 3,
    });
    expect(next.stderr).toMatch(/^out$/m);
  });

  it("that cannot be started gives 127, and the lease is free again", async () => {
    const run = await box.cli(["run", "--lease", "blog", ...store(), "--", "no-such-program-here"]);
    expect(run.code).toBe(127);
    expect(run.stderr).toMatch(/"no-such-program-here" could not be started/);
    expect(leaseRecord(box, leaseRef("blog"))).toMatchObject({ state: "released", token: 1 });
  });

  it("that fails publishes nothing", async () => {
    const clone = box.clone("a");
    const main = box.tip("refs/heads/main");
    const run = await box.cli(
      [
        "run",
        "--lease",
        "blog",
        "--push",
        "main",
        "--",
        "sh",
        "-c",
        "git commit -q --allow-empty -m x; exit 5",
      ],
      { cwd: clone },
    );
    expect(run.code).toBe(5);
    expect(box.tip("refs/heads/main")).toBe(main);
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
  ] as const)("receives %s when we do, and the lease is released", async (name, code) => {
    const script = `trap 'echo got it; exit 0' ${name.slice(3)}; echo ready; while :; do sleep 0.05; done`;
    const clone = box.clone("a");
    const run = box.start(["run", "--lease", "blog", "--push", "main", "--", "sh", "-c", script], {
      cwd: clone,
    });
    await run.until(/ready/);
    process.kill(run.child.pid as number, name);
    const ended = await run.ended;
    expect(ended.code).toBe(code);
    expect(ended.stdout).toMatch(/got it/);
    expect(leaseRecord(box, leaseRef("blog"))).toMatchObject({ state: "released", token: 1 });
  });

  it("is not run, and nothing is written, when the signal comes while waiting", async () => {
    const first = box.start(["run", "--lease", "blog", ...store(), "--", "sleep", "60"]);
    await first.until(/acquired/);
    const before = box.tip(leaseRef("blog"));
    const second = box.start([
      "run",
      "--lease",
      "blog",
      ...store(),
      "--wait",
      "5m",
      "--",
      "touch",
      join(box.folder, "ran"),
    ]);
    await second.until(/waiting for/);
    process.kill(second.child.pid as number, "SIGTERM");
    expect((await second.ended).code).toBe(143);
    expect(box.tip(leaseRef("blog"))).toBe(before);
    expect(existsSync(join(box.folder, "ran"))).toBe(false);
  });
});

/** Whether a process still works; one that has ended and was not yet reaped does not. */
function alive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
