// `fencepost demo`: the whole story on this machine, with real processes and a real git server side, in half a minute.
import { execFileSync, spawn } from "node:child_process";
import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { systemClock } from "../clock.js";
import { exit } from "./exit.js";
import { onOut } from "./speak.js";

export function demoCommand(finish: (code: number) => void): Command {
  return new Command("demo")
    .description(
      "show in half a minute, in a temporary folder, how a late push is refused (needs nothing but git)",
    )
    .action(async () => finish(await demo()));
}

/** Windows cannot stop and continue a process. There a person declares the third run dead instead. */
const canFreeze = process.platform !== "win32";

async function demo(): Promise<number> {
  const stage = await openStage();
  const { run, title, tell, evidence, clone } = stage;
  try {
    tell(`A bare repository stands in for the server: ${stage.origin}`);

    title("1. One run works");
    await run(clone("one"), [
      "run",
      "--lease",
      "blog",
      "--push",
      "main",
      "--",
      "git",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "article 1",
    ]).ended;
    evidence("the branch, and the lease beside it", "log", "--format=%h %s", "-3", "main");
    evidence(undefined, "log", "--format=%h %s", "fencepost/lease/blog");

    title("2. A second run overlaps, and is skipped");
    const busy = run(
      clone("two"),
      ["run", "--lease", "blog", "--", process.execPath, "-e", waitFor(join(stage.folder, "done"))],
      true,
    );
    await busy.until(/acquired/);
    const skipped = await run(clone("three"), [
      "run",
      "--lease",
      "blog",
      "--",
      "git",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "never",
    ]).ended;
    tell(`Its command did not run. Exit code ${skipped.code}: skipped, which is not a failure.`);
    await writeFile(join(stage.folder, "done"), "");
    await busy.ended;

    title(
      canFreeze
        ? "3. A third run works, and is frozen in the middle"
        : "3. A third run works, and seems to hang",
    );
    const late = clone("late");
    const go = join(stage.folder, "go");
    const ttl = canFreeze ? "4s" : "15m";
    const work = `require("child_process").execFileSync("git",["commit","-q","--allow-empty","-m","article 2, by the late run"]);console.log("committed");${waitFor(go)}`;
    const third = run(
      late,
      ["run", "--lease", "blog", "--ttl", ttl, "--push", "main", "--", process.execPath, "-e", work],
      true,
    );
    await third.until(/committed/);
    if (canFreeze) {
      process.kill(-(third.pid as number), "SIGSTOP");
      tell(
        `SIGSTOP: the run and its heartbeat stand still, like a paused machine. Its lease ends in ${ttl}.`,
      );
      await writeFile(go, "");
    } else {
      tell("A person looks at it, and declares it dead:");
      await run(stage.origin, [
        "unlock",
        "blog",
        "--store",
        stage.origin,
        "--token",
        "3",
        "--reason",
        "demo: it seems to hang",
      ]).ended;
    }

    title("4. A fourth run takes over, and publishes");
    await run(clone("four"), [
      "run",
      "--lease",
      "blog",
      "--wait",
      "20s",
      "--push",
      "main",
      "--",
      "git",
      "commit",
      "-q",
      "--allow-empty",
      "-m",
      "article 2, by the fourth run",
    ]).ended;

    title("5. The third run wakes up, and pushes");
    if (canFreeze) process.kill(-(third.pid as number), "SIGCONT");
    else await writeFile(go, "");
    const refused = await third.ended;
    stage.show(refused.stderr);
    tell(`Exit code ${refused.code}. The branch has only the newer work, and the refused commit is kept:`);
    evidence("main", "log", "--format=%h %s", "-4", "main");
    evidence(
      "rescue ref",
      "for-each-ref",
      "--format=%(objectname:short) %(refname:short)  %(subject)",
      "refs/heads/fencepost/rescue",
    );

    title("6. The worst moment: the lease is taken over in the middle of a push");
    const race = await takeoverDuringPush(stage);
    stage.show(race.stderr);
    tell(
      "git had read the refs before the takeover. So it was the server that compared, in the transaction that would have moved main.",
    );
    evidence("main", "log", "--format=%h %s", "-4", "main");

    title("The audit trail of the lease, newest first");
    evidence(undefined, "log", "--format=%h %s", "fencepost/lease/blog");
    const held =
      refused.code === exit.superseded &&
      race.code === exit.superseded &&
      skipped.code === exit.skipped_overlap;
    const sound =
      held &&
      stage.git("log", "--format=%s", "main").trim() ===
        "article 2, by the fourth run\narticle 1\nan empty blog";
    tell(
      sound
        ? onOut.green("No late write came through.")
        : onOut.red("This is not what should have happened. Please report it."),
    );
    return sound ? exit.ok : 1;
  } finally {
    await stage.close();
  }
}

/** A hook of the server holds the push after git has read the refs, until the lease has changed hands. */
async function takeoverDuringPush(stage: Stage) {
  const [inHook, go, hook] = [
    join(stage.folder, "in-hook"),
    join(stage.folder, "go-on"),
    join(stage.origin, "hooks", "pre-receive"),
  ] as const;
  const args = [
    "run",
    "--lease",
    "blog",
    "--ttl",
    "1m",
    "--push",
    "main",
    "--",
    "git",
    "commit",
    "-q",
    "--allow-empty",
    "-m",
    "article 3, superseded in mid-push",
  ];
  const holder = stage.run(stage.clone("race"), args, true);
  await holder.until(/acquired/);
  const slash = (path: string) => path.replaceAll("\\", "/");
  await writeFile(
    hook,
    `#!/bin/sh\nwhile read -r old new ref; do case "$ref" in refs/heads/main) touch '${slash(inHook)}'; n=0; until [ -f '${slash(go)}' ] || [ $n -gt 100 ]; do sleep 0.1; n=$((n+1)); done;; esac; done\n`,
  );
  await chmod(hook, 0o755);
  while (!(await stat(inHook).catch(() => null))) await systemClock.sleep(50);
  await stage.run(stage.origin, [
    "unlock",
    "blog",
    "--store",
    stage.origin,
    "--token",
    String(stage.token()),
    "--reason",
    "demo: takeover in mid-push",
  ]).ended;
  await writeFile(go, "");
  return holder.ended;
}

/** A program that ends when the file is there, or after half a minute. */
function waitFor(file: string): string {
  return `let n=0;const t=setInterval(()=>{if(require("fs").existsSync(${JSON.stringify(file)})||n++>600)clearInterval(t)},50)`;
}

interface Played {
  pid: number | undefined;
  ended: Promise<{ code: number; stderr: string }>;
  until(pattern: RegExp): Promise<void>;
}

type Stage = Awaited<ReturnType<typeof openStage>>;

async function openStage() {
  const folder = await mkdtemp(join(tmpdir(), "fencepost-demo-"));
  const origin = join(folder, "server.git");
  const identity = { NAME: "demo", EMAIL: "demo@example.org" };
  const roles = ["AUTHOR", "COMMITTER"].flatMap((role) =>
    Object.entries(identity).map(([part, value]) => [`GIT_${role}_${part}`, value]),
  );
  // The person's own settings and hooks have no part in the demo.
  const env = {
    ...process.env,
    ...Object.fromEntries(roles),
    GIT_CONFIG_GLOBAL: join(folder, "gitconfig"),
    GIT_CONFIG_NOSYSTEM: "1",
  };
  await writeFile(join(folder, "gitconfig"), "");
  const out = (text: string) => process.stdout.write(`${text}\n`);
  const gitIn = (cwd: string, ...args: string[]) =>
    execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  gitIn(folder, "init", "-q", "--bare", origin);
  gitIn(origin, "symbolic-ref", "HEAD", "refs/heads/main");
  const clone = (name: string) => {
    gitIn(folder, "clone", "-q", origin, name);
    return join(folder, name);
  };
  const seed = clone("seed");
  gitIn(seed, "commit", "-q", "--allow-empty", "-m", "an empty blog");
  gitIn(seed, "push", "-q", "origin", "HEAD:refs/heads/main");
  const show = (text: string) => {
    for (const line of text.trimEnd().split("\n")) out(`   ${onOut.dim("|")} ${line}`);
  };
  const children = new Set<number>();

  /** Plays a command; quietly where the story shows it later. */
  function run(cwd: string, args: string[], quietly = false): Played {
    const shown = args.map((arg) =>
      arg === process.execPath ? "node" : / /.test(arg) ? JSON.stringify(arg) : arg,
    );
    const line = shown.join(" ").replace(/ -e ".*$/s, " -e …");
    out(`   ${onOut.bold(`$ fencepost ${line}`)}`);
    const child = spawn(process.execPath, [process.argv[1] ?? "", ...args], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: canFreeze,
    });
    if (child.pid) children.add(child.pid);
    let stdout = "";
    let stderr = "";
    let wake = () => {};
    child.stdout.on("data", (chunk) => {
      stdout += chunk;
      wake();
    });
    child.stderr.on("data", (chunk) => {
      stderr += chunk;
      wake();
    });
    const ended = new Promise<{ code: number; stderr: string }>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => {
        if (child.pid) children.delete(child.pid);
        if (!quietly) show(stderr);
        resolve({ code: code ?? 1, stderr });
        wake();
      });
    });
    const until = (pattern: RegExp) =>
      new Promise<void>((resolve, reject) => {
        wake = () => {
          if (pattern.test(stdout + stderr)) resolve();
          else if (child.exitCode !== null) reject(new Error(`the demo's run ended early:\n${stderr}`));
        };
        wake();
      });
    return { pid: child.pid, ended, until };
  }

  return {
    folder,
    origin,
    clone,
    run,
    show,
    git: (...args: string[]) => gitIn(origin, ...args),
    token: () =>
      Number(/#(\d+)/.exec(gitIn(origin, "log", "-1", "--format=%s", "fencepost/lease/blog"))?.[1]),
    title: (text: string) => out(`\n${onOut.bold(onOut.cyan(text))}`),
    tell: (text: string) => out(`   ${text}`),
    evidence(what: string | undefined, ...args: string[]) {
      if (what) out(`   ${onOut.dim(`git ${args[0]}: ${what}`)}`);
      show(gitIn(origin, ...args));
    },
    async close() {
      for (const pid of children)
        try {
          process.kill(canFreeze ? -pid : pid, "SIGKILL");
        } catch {
          // It has ended by itself.
        }
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}
