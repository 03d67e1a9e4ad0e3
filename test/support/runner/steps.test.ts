// Steps as the runner carries them out: scripts, JavaScript and composite actions, inputs, state, post order, masks.
import { describe, expect, test } from "vitest";
import { compositeAction, oneJob, scriptAction } from "./fixtures.js";
import { type RunOptions, runWorkflow, stepOf } from "./index.js";

async function job(yaml: string, options: Partial<RunOptions> = {}) {
  return (await runWorkflow({ yaml, ...options }).done).job("build");
}

describe("run steps", () => {
  test("outputs, environment, path and conditions", async () => {
    const result = await job(
      oneJob(
        `
- id: first
  run: |
    echo "word=hello" >> $GITHUB_OUTPUT
    echo "LATER=\${{ vars.v }}" >> $GITHUB_ENV
    mkdir bin && printf '#!/bin/sh\\necho from tool' > bin/tool && chmod +x bin/tool
    echo "$PWD/bin" >> $GITHUB_PATH
- id: second
  env: { OWN: "\${{ steps.first.outputs.word }} \${{ env.LATER }}" }
  run: echo "$OWN $TOP $LATER $GITHUB_REPOSITORY $CI $(tool)"
- if: steps.second.outcome == 'failure'
  id: never
  run: exit 1`,
        `env: { TOP: "\${{ github.run_id }}" }`,
      ),
      { vars: { v: "42" } },
    );
    expect(result.conclusion).toBe("success");
    expect(stepOf(result, "second").log).toContain("hello 42 1000000001 42 octo/blog true from tool");
    expect(stepOf(result, "never").conclusion).toBe("skipped");
  });

  test("a failure skips what follows but not always() and failure(), and continue-on-error hides it", async () => {
    const result = await job(
      oneJob(`
- { id: soft, run: exit 3, continue-on-error: true }
- { id: hard, run: exit 4 }
- { id: skipped, run: "true" }
- { id: failed, if: failure(), run: "true" }
- { id: always, if: always(), run: "echo \${{ job.status }} \${{ steps.soft.outcome }} \${{ steps.soft.conclusion }}" }`),
    );
    expect(result.conclusion).toBe("failure");
    expect(result.steps.map((step) => [step.id, step.outcome, step.conclusion])).toEqual([
      ["soft", "failure", "success"],
      ["hard", "failure", "failure"],
      ["skipped", "skipped", "skipped"],
      ["failed", "success", "success"],
      ["always", "success", "success"],
    ]);
    expect(stepOf(result, "always").log).toContain("failure failure success");
    expect(stepOf(result, "hard").annotations[0]?.message).toBe("Process completed with exit code 4.");
  });

  test("bash is without pipefail by default and with it when named; defaults apply", async () => {
    const steps = `
- { id: plain, run: "false | true; pwd" }
- { id: named, run: "false | true", shell: bash, continue-on-error: true }`;
    const result = await job(oneJob(steps, "defaults: { run: { working-directory: /tmp } }"));
    expect(stepOf(result, "plain").outcome).toBe("success");
    expect(stepOf(result, "plain").log).toContain("/tmp");
    expect(stepOf(result, "named").outcome).toBe("failure");
  });

  test("a step out of time fails", async () => {
    const result = await job(oneJob("- { id: slow, run: exec sleep 30, timeout-minutes: 1 }"), {
      times: { minute: 200, sigint: 200 },
    });
    expect(stepOf(result, "slow").outcome).toBe("failure");
    expect(stepOf(result, "slow").annotations[0]?.message).toContain("has timed out after 1 minutes");
    expect(result.conclusion).toBe("failure");
  });

  test("a script with expressions keeps its quotes, its braces and its here-documents", async () => {
    const result = await job(
      oneJob(`
- id: it
  run: |
    cat <<'EOF'
    it's {0} "\${{ github.actor }}" 'as' it {{was}}
      indented
    EOF`),
    );
    expect(stepOf(result, "it").log.slice(-2)).toEqual([`it's {0} "octocat" 'as' it {{was}}`, "  indented"]);
  });

  test("hashFiles covers the files of the workspace", async () => {
    const result = await job(
      oneJob(`
- run: mkdir d && echo 1 > d/a.txt
- { id: it, run: "echo \${{ hashFiles('d/*.txt') }} none=\${{ hashFiles('*.md') }}" }`),
    );
    expect(stepOf(result, "it").log.at(-1)).toMatch(/^[0-9a-f]{64} none=$/);
  });

  test("a bad file command fails the step", async () => {
    const result = await job(oneJob(`- { id: bad, run: 'echo nonsense >> $GITHUB_OUTPUT' }`));
    expect(stepOf(result, "bad").annotations.map((each) => each.message)).toEqual([
      "Unable to process file command 'output' successfully.",
      "Invalid format 'nonsense'",
    ]);
    expect(result.conclusion).toBe("failure");
  });
});

describe("logs", () => {
  test("commands, annotations, masks, stop-commands", async () => {
    const result = await job(
      oneJob(`
- id: talk
  run: |
    echo "::warning title=Careful,file=a.md,line=3::one%0Atwo"
    echo "::add-mask::hidden-word"
    echo "a hidden-word and \${{ secrets.KEY }}"
    echo "::stop-commands::pause"
    echo "::error::not an error"
    echo "::pause::"
    for n in $(seq 12); do echo "::notice::$n"; done
    echo "hidden-word" >> $GITHUB_STEP_SUMMARY`),
      { secrets: { KEY: "the-key" } },
    );
    const { annotations, log, summaries } = stepOf(result, "talk");
    expect(annotations[0]).toEqual({
      level: "warning",
      title: "Careful",
      file: "a.md",
      line: 3,
      message: "one\ntwo",
    });
    expect(annotations.filter((each) => each.level === "error")).toEqual([]);
    expect(annotations.filter((each) => each.level === "notice")).toHaveLength(10);
    expect(log).toContain("a *** and ***");
    expect(log.join("\n")).not.toContain("the-key");
    expect(summaries).toEqual(["***\n"]);
  });

  test("a summary over one mebibyte is dropped with an error, and the step goes on", async () => {
    const result = await job(
      oneJob(`
- { id: large, run: 'head -c 1048577 /dev/zero | tr "\\0" x >> $GITHUB_STEP_SUMMARY' }
- { id: small, run: 'echo fine >> $GITHUB_STEP_SUMMARY' }`),
    );
    expect(result.conclusion).toBe("success");
    expect(stepOf(result, "large").annotations[0]?.message).toContain(
      "supports content up to a size of 1024k",
    );
    expect(result.summary).toBe("fine\n");
  });
});

describe("JavaScript actions", () => {
  test("inputs, outputs and state; post runs in reverse order, also after a failure", async () => {
    const metadata = `inputs: { name: { default: none }, two words: { default: "\${{ github.actor }}" } }`;
    const action = await scriptAction(
      {
        main: `console.log("main", env.INPUT_NAME, env.INPUT_TWO_WORDS); put("STATE", "kept", env.INPUT_NAME); put("OUTPUT", "out", env.INPUT_NAME); if (env.INPUT_NAME === "b") process.exit(1);`,
        post: `console.log("post", env.STATE_kept, env.INPUT_NAME, env.GITHUB_ACTION); appendFileSync(env.GITHUB_STEP_SUMMARY, "post " + env.STATE_kept);`,
      },
      metadata,
    );
    const result = await job(
      oneJob(`
- { id: a, uses: me/it@v1, with: { name: a, other: x } }
- { id: b, uses: me/it@v1, with: { name: b } }
- { id: c, uses: me/it@v1 }`),
      { actions: { "me/it": action } },
    );
    expect(result.steps.map((step) => `${step.stage} ${step.id} ${step.outcome}`)).toEqual([
      "main a success",
      "main b failure",
      "main c skipped",
      "post b success",
      "post a success",
    ]);
    expect(stepOf(result, "a").log).toContain("main a octocat");
    expect(stepOf(result, "a").outputs).toEqual({ out: "a" });
    expect(stepOf(result, "a").annotations[0]?.message).toBe(
      "Unexpected input(s) 'other', valid inputs are ['name', 'two words']",
    );
    expect(stepOf(result, "b", "post").log).toContain("post b b b");
    expect(result.summary).toBe("post b\npost a");
  });

  test.each([
    ["true", "success"],
    ["false", "failure"],
  ])("defaults are evaluated again for post: after %s it sees %s", async (command, status) => {
    const action = await scriptAction(
      { main: `console.log("main", env.INPUT_STATUS)`, post: `console.log("post", env.INPUT_STATUS)` },
      `inputs: { status: { default: "\${{ job.status }}" } }`,
    );
    const result = await job(oneJob(`- { id: it, uses: me/it@v1 }\n- run: "${command}"`), {
      actions: { "me/it": action },
    });
    expect(stepOf(result, "it").log).toContain("main success");
    expect(stepOf(result, "it", "post").log).toContain(`post ${status}`);
  });

  test("pre runs first and registers its post before any main does", async () => {
    const early = await scriptAction({ pre: `console.log("early")`, main: "", post: "" });
    const plain = await scriptAction({ main: "", post: "", postIf: "success()" });
    const result = await job(
      oneJob(`- { id: plain, uses: me/plain@v1 }\n- { id: early, uses: me/early@v1 }`),
      {
        actions: { "me/early": early, "me/plain": plain },
      },
    );
    expect(result.steps.map((step) => `${step.stage} ${step.id}`)).toEqual([
      "pre early",
      "main plain",
      "main early",
      "post plain",
      "post early",
    ]);
  });

  test("an action in the workspace is found when its step runs", async () => {
    const result = await job(
      oneJob(`
- run: |
    mkdir -p tools/act
    echo 'console.log("local", process.cwd() === process.env.GITHUB_WORKSPACE)' > tools/act/main.js
    cat > tools/act/action.yml <<'EOF'
    { name: act, description: act, runs: { using: node24, main: main.js } }
    EOF
- { id: it, uses: ./tools/act }`),
    );
    expect(stepOf(result, "it").log.at(-1)).toBe("local true");
  });

  test("a failed pre skips the steps, but not always() and the post", async () => {
    const early = await scriptAction({ pre: "process.exit(1)", main: "", post: "" });
    const yaml = oneJob(`- { id: early, uses: me/early@v1 }\n- { id: always, if: always(), run: "true" }`);
    const result = await job(yaml, { actions: { "me/early": early } });
    expect(result.steps.map((step) => `${step.stage} ${step.id} ${step.conclusion}`)).toEqual([
      "pre early failure",
      "main early skipped",
      "main always success",
      "post early success",
    ]);
  });

  test("an unknown action fails the set-up before any step", async () => {
    const result = await job(oneJob(`- run: echo hi\n- uses: no/where@v1`));
    expect(result.conclusion).toBe("failure");
    expect(result.steps).toEqual([]);
    expect(result.annotations[0]?.message).toContain("Unable to resolve action no/where@v1");
  });
});

describe("composite actions", () => {
  test("inputs, outputs, nested state and posts, and a failure inside", async () => {
    const inner = await scriptAction(
      {
        main: `put("STATE", "who", env.INPUT_WHO); put("OUTPUT", "who", env.INPUT_WHO);`,
        post: `console.log("inner post", env.STATE_who)`,
      },
      "inputs: { who: { required: true } }",
    );
    const outer = await compositeAction(`
inputs: { who: { default: nobody } }
outputs: { greeting: { value: "\${{ steps.say.outputs.text }}" } }
runs:
  using: composite
  steps:
    - { id: one, uses: me/inner@v1, with: { who: "\${{ inputs.who }} one" } }
    - { id: two, uses: me/inner@v1, with: { who: "\${{ inputs.who }} two" } }
    - id: say
      shell: bash
      env: { WHO: "\${{ steps.one.outputs.who }}" }
      run: |
        echo "text=hello $WHO from $AROUND" >> $GITHUB_OUTPUT
        test -f "$GITHUB_ACTION_PATH/action.yml"
        echo inside >> $GITHUB_STEP_SUMMARY
    - { if: inputs.who == 'bad', shell: bash, run: exit 1 }
    - { if: failure(), shell: bash, run: "echo cleaned up" }
`);
    const result = await job(
      oneJob(`
- { id: good, uses: me/outer@v1, with: { who: ann }, env: { AROUND: here } }
- { id: bad, uses: me/outer@v1, with: { who: bad } }`),
      { actions: { "me/inner": inner, "me/outer": outer } },
    );
    expect(stepOf(result, "good").outputs).toEqual({ greeting: "hello ann one from here" });
    expect(stepOf(result, "good").log).not.toContain("cleaned up");
    expect(stepOf(result, "bad").outcome).toBe("failure");
    expect(stepOf(result, "bad").log).toContain("cleaned up");
    const posts = stepOf(result, "good", "post").log.filter((line) => line.startsWith("inner post"));
    expect(posts).toEqual(["inner post ann two", "inner post ann one"]);
    expect(result.summary).toBe("inside\n\ninside\n");
  });
});
