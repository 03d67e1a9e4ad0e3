// How jobs end: cancel and its ladder of signals, the loss of the machine, orphans, open output.
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { compositeAction, oneJob, scriptAction } from "./fixtures.js";
import { runWorkflow, stepOf } from "./index.js";
import { processesOf } from "./orphans.js";

const quick = { sigint: 800, sigterm: 800, stdio: 400 };

/** An action that says when it is up, and holds on to life as `handlers` say. */
const stubborn = (handlers: string) =>
  scriptAction(
    {
      main: `${handlers} setInterval(() => {}, 1000); put("STATE", "kept", "yes"); console.log("tracking", env.RUNNER_TRACKING_ID);`,
      post: `console.log("post", env.STATE_kept, env.INPUT_STATUS)`,
    },
    `inputs: { status: { default: "\${{ job.status }}" } }`,
  );

test.each([
  ["SIGINT", `process.on("SIGINT", () => { console.log("got SIGINT"); process.exit(0); });`, ["got SIGINT"]],
  [
    "SIGTERM",
    `process.on("SIGINT", () => console.log("got SIGINT")); process.on("SIGTERM", () => { console.log("got SIGTERM"); process.exit(0); });`,
    ["got SIGINT", "got SIGTERM"],
  ],
  [
    "SIGKILL",
    `process.on("SIGINT", () => console.log("got SIGINT")); process.on("SIGTERM", () => console.log("got SIGTERM"));`,
    ["got SIGINT", "got SIGTERM"],
  ],
])("a cancel goes up to %s, then post runs", async (_last, handlers, seen) => {
  const action = await stubborn(handlers);
  const yaml = oneJob(`
- { id: it, uses: me/it@v1 }
- { id: next, run: echo next }
- { id: asked, if: cancelled(), run: echo asked }
- { id: always, if: always(), run: echo always }`);
  const run = runWorkflow({ yaml, actions: { "me/it": action }, times: quick });
  await run.seen("tracking");
  run.cancel();
  const result = (await run.done).job("build");
  expect(result.conclusion).toBe("cancelled");
  expect(stepOf(result, "it").log.filter((line) => line.startsWith("got"))).toEqual(seen);
  expect(stepOf(result, "it").annotations.at(-1)?.message).toBe("The operation was canceled.");
  expect(result.steps.map((step) => `${step.stage} ${step.id} ${step.conclusion}`)).toEqual([
    "main it cancelled",
    "main next skipped",
    "main asked success",
    "main always success",
    "post it success",
  ]);
  expect(stepOf(result, "it", "post").log).toContain("post yes cancelled");
});

test("a running step whose condition holds for a cancelled job is left alone, and so is such a job", async () => {
  const yaml = `on: [workflow_dispatch]
jobs:
  build:
    runs-on: x
    steps:
      - { id: it, if: always(), run: "echo up; sleep 0.3; echo done" }
  kept:
    runs-on: x
    if: always()
    steps:
      - { id: it, run: "echo up; sleep 0.3; echo done" }
  later:
    needs: build
    runs-on: x
    steps: [{ run: "true" }]
`;
  const run = runWorkflow({ yaml, times: quick });
  await run.seen("up");
  run.cancel();
  const result = await run.done;
  expect(stepOf(result.job("build"), "it").log).toContain("done");
  expect(result.job("build").conclusion).toBe("cancelled");
  expect(result.job("kept").conclusion).toBe("success");
  expect(result.job("later").conclusion).not.toBe("success");
  expect(result.conclusion).toBe("cancelled");
});

test("a cancel reaches the step that runs inside a composite action, and its posts run", async () => {
  const inner = await stubborn("");
  const outer = await compositeAction(`
runs:
  using: composite
  steps:
    - { id: one, uses: me/inner@v1 }
    - { shell: bash, run: echo next }
    - { if: always(), shell: bash, run: echo inside always }`);
  const actions = { "me/inner": inner, "me/outer": outer };
  const run = runWorkflow({ yaml: oneJob("- { id: it, uses: me/outer@v1 }"), actions, times: quick });
  await run.seen("tracking");
  run.cancel();
  const result = (await run.done).job("build");
  expect(stepOf(result, "it").conclusion).toBe("cancelled");
  expect(stepOf(result, "it").log).not.toContain("next");
  expect(stepOf(result, "it").log).toContain("inside always");
  expect(stepOf(result, "it", "post").log).toContain("post yes cancelled");
});

test("waiting for a line that never comes ends with the run", async () => {
  const run = runWorkflow({ yaml: oneJob("- run: echo hello") });
  await expect(run.seen("good-bye")).rejects.toThrow("ended without a line with good-bye");
  expect(await run.seen(/^hel+o$/)).toBe("hello");
});

test("after a cancel, the time for all posts together is limited", async () => {
  const action = await scriptAction({
    main: `console.log("up"); setInterval(() => {}, 1000)`,
    post: `console.log("posting"); setInterval(() => {}, 1000)`,
  });
  const run = runWorkflow({
    yaml: oneJob("- { id: it, uses: me/it@v1 }"),
    actions: { "me/it": action },
    times: { ...quick, cancel: 1500 },
  });
  await run.seen("up");
  run.cancel();
  const result = (await run.done).job("build");
  expect(result.abandoned).toBe(true);
  expect(stepOf(result, "it", "post").log).toContain("posting");
});

test("the loss of the machine ends everything at once, without post", async () => {
  const action = await scriptAction({
    main: `import { spawn } from "node:child_process"; spawn("sleep", ["600"], { detached: true, stdio: "ignore" }).unref(); setInterval(() => {}, 1000); console.log("tracking", env.RUNNER_TRACKING_ID);`,
    post: `console.log("post")`,
  });
  const run = runWorkflow({ yaml: oneJob("- { id: it, uses: me/it@v1 }"), actions: { "me/it": action } });
  const id = (await run.seen("tracking")).split(" ")[1] ?? "";
  await run.kill();
  const result = (await run.done).job("build");
  expect(result.abandoned).toBe(true);
  expect(result.conclusion).toBe("failure");
  expect(result.steps.map((step) => step.stage)).toEqual(["main"]);
  expect(await processesOf(id)).toEqual([]);
});

test("a detached process outlives its step and is ended with the job", async () => {
  const action = await scriptAction({
    main: `import { spawn } from "node:child_process"; const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" }); child.unref(); put("STATE", "pid", child.pid); console.log("tracking", env.RUNNER_TRACKING_ID);`,
    post: `process.kill(Number(env.STATE_pid), 0); console.log("still there")`,
  });
  const run = runWorkflow({
    yaml: oneJob("- { id: it, uses: me/it@v1 }\n- run: 'true'"),
    actions: { "me/it": action },
  });
  const id = (await run.seen("tracking")).split(" ")[1] ?? "";
  const result = (await run.done).job("build");
  expect(stepOf(result, "it", "post").log).toContain("still there");
  expect(stepOf(result, "it").leakedStdio).toBe(false);
  expect(result.log.some((line) => line.startsWith("Terminate orphan process: pid"))).toBe(true);
  expect(await processesOf(id)).toEqual([]);
});

test("a child that holds the output open delays its step, which says so", async () => {
  const result = (
    await runWorkflow({ yaml: oneJob(`- { id: it, run: "sleep 600 & echo done" }`), times: quick }).done
  ).job("build");
  expect(stepOf(result, "it")).toMatchObject({ leakedStdio: true, outcome: "success" });
});

test("a job out of time is cancelled", async () => {
  const yaml = oneJob("- { id: slow, run: exec sleep 30 }", "timeout-minutes: 2");
  const result = (await runWorkflow({ yaml, times: { ...quick, minute: 150 } }).done).job("build");
  expect(result.conclusion).toBe("cancelled");
  expect(result.annotations[0]?.message).toContain("maximum execution time of 2 minutes");
});

test("no folder is left behind, and the environment of this process does not leak in", async () => {
  process.env.LEAK = "yes";
  const yaml = oneJob(`- { id: it, run: 'echo "$PWD|$LEAK|$HOME"' }`);
  const result = (await runWorkflow({ yaml }).done).job("build");
  delete process.env.LEAK;
  const [workspace = "", leak, home] = stepOf(result, "it").log.at(-1)?.split("|") ?? [];
  expect(leak).toBe("");
  expect(home).not.toBe(process.env.HOME);
  const root = workspace.split("/").find((part) => part.startsWith("fencepost-runner-")) ?? "?";
  expect(await readdir(tmpdir())).not.toContain(root);
});
