// `fencepost demo`: the whole story on this machine, with real processes and a real git server side, in half a minute.
import { chmod, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Command } from "commander";
import { systemClock } from "../clock.js";
import { canFreeze, openStage, type Stage } from "./demo-stage.js";
import { exit } from "./exit.js";
import { onOut } from "./speak.js";

export function demoCommand(finish: (code: number) => void): Command {
  return new Command("demo")
    .description(
      "show in half a minute, in a temporary folder, how a late push is refused (needs nothing but git)",
    )
    .action(async () => finish(await demo()));
}

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
