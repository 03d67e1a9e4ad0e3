// Jobs of a workflow: needs, outputs, matrices, conditions, inputs, tokens.
import { expect, test } from "vitest";
import { oneJob } from "./fixtures.js";
import { runWorkflow, stepOf, type TokenRequest } from "./index.js";

test("outputs reach dependants, and a matrix can be made of them", async () => {
  const yaml = `on: [workflow_dispatch]
jobs:
  plan:
    runs-on: x
    outputs: { drafts: "\${{ steps.list.outputs.drafts }}", secret: "\${{ steps.list.outputs.secret }}" }
    steps:
      - id: list
        run: |
          echo 'drafts=["a","b"]' >> $GITHUB_OUTPUT
          echo 'secret=\${{ secrets.KEY }}' >> $GITHUB_OUTPUT
  write:
    needs: plan
    runs-on: x
    strategy: { max-parallel: 1, matrix: { draft: "\${{ fromJSON(needs.plan.outputs.drafts) }}" } }
    outputs: { last: "\${{ matrix.draft }}" }
    steps:
      - { id: it, run: "echo \${{ matrix.draft }} \${{ strategy.job-index }} of \${{ strategy.job-total }}" }
  end:
    needs: [write]
    runs-on: x
    steps:
      - { id: it, run: "echo \${{ needs.write.result }} \${{ needs.write.outputs.last }}" }
`;
  const result = await runWorkflow({ yaml, secrets: { KEY: "hush-hush" } }).done;
  expect(result.conclusion).toBe("success");
  expect(result.job("plan").outputs).toEqual({ drafts: '["a","b"]' });
  expect(result.job("plan").annotations[0]?.message).toContain("Skip output 'secret'");
  expect(result.legs("write").map((leg) => leg.name)).toEqual(["write (a)", "write (b)"]);
  expect(result.legs("write").map((leg) => stepOf(leg, "it").log.at(-1))).toEqual(["a 0 of 2", "b 1 of 2"]);
  expect(stepOf(result.job("end"), "it").log.at(-1)).toBe("success b");
});

test("a failed need skips all that follows, save by its own condition", async () => {
  const yaml = `on: [workflow_dispatch]
jobs:
  bad: { runs-on: x, steps: [{ run: exit 1 }] }
  next: { needs: bad, runs-on: x, steps: [{ run: "true" }] }
  rescue: { needs: next, if: "always()", runs-on: x, steps: [{ id: it, run: "echo \${{ needs.next.result }}" }] }
  after: { needs: rescue, runs-on: x, steps: [{ run: "true" }] }
  alarm: { needs: next, if: failure(), runs-on: x, steps: [{ run: "true" }] }
  forgiven: { continue-on-error: true, runs-on: x, steps: [{ run: exit 1 }] }
`;
  const result = await runWorkflow({ yaml }).done;
  expect(Object.fromEntries(result.jobs.map((job) => [job.id, job.conclusion]))).toEqual({
    bad: "failure",
    next: "skipped",
    rescue: "success",
    after: "skipped",
    alarm: "success",
    forgiven: "failure",
  });
  expect(stepOf(result.job("rescue"), "it").log.at(-1)).toBe("skipped");
  expect(result.conclusion).toBe("failure");
});

test("fail-fast cancels the other legs, and can be turned off", async () => {
  const yaml = (failFast: boolean) =>
    oneJob(
      `- { run: 'if [ "\${{ matrix.leg }}" = a ]; then exit 1; else exec sleep 1; fi' }`,
      `strategy: { fail-fast: ${failFast}, matrix: { leg: [a, b] } }`,
    );
  const conclusions = async (failFast: boolean) =>
    (await runWorkflow({ yaml: yaml(failFast) }).done).legs("build").map((leg) => leg.conclusion);
  expect(await conclusions(true)).toEqual(["failure", "cancelled"]);
  expect(await conclusions(false)).toEqual(["failure", "success"]);
});

test("dispatch inputs are typed, checked and defaulted", async () => {
  const yaml = `on:
  workflow_dispatch:
    inputs:
      dry: { type: boolean, default: true }
      who: { type: choice, options: [ann, bob], required: true }
jobs:
  build:
    runs-on: x
    steps:
      - { id: it, if: inputs.dry, run: "echo \${{ inputs.who }} \${{ github.event.inputs.dry }}" }
`;
  const event = (inputs: Record<string, string>) => ({ name: "workflow_dispatch", inputs });
  const result = await runWorkflow({ yaml, event: event({ who: "ann" }) }).done;
  expect(stepOf(result.job("build"), "it").log.at(-1)).toBe("ann true");
  await expect(runWorkflow({ yaml, event: event({}) }).done).rejects.toThrow("Required input 'who'");
  await expect(runWorkflow({ yaml, event: event({ who: "eve" }) }).done).rejects.toThrow("not in the list");
  await expect(runWorkflow({ yaml, event: { name: "push" } }).done).rejects.toThrow("no 'push' trigger");
});

test("each job's token is asked for with its permissions, and is hidden", async () => {
  const asked: TokenRequest[] = [];
  const yaml = `on: [schedule, workflow_dispatch]
permissions: { contents: read }
concurrency: { group: "g-\${{ github.ref_name }}" }
jobs:
  build:
    runs-on: x
    permissions: { contents: write, issues: write }
    steps:
      - { id: app, uses: actions/create-github-app-token@v2, with: { app-id: 1, private-key: k, permission-contents: write } }
      - { id: it, run: "echo \${{ github.token }} \${{ steps.app.outputs.token }} \${{ secrets.GITHUB_TOKEN == github.token }}" }
`;
  const mintToken = (request: TokenRequest) => {
    asked.push(request);
    return `token-for-${request.for}`;
  };
  const result = await runWorkflow({ yaml, mintToken }).done;
  expect(asked.map(({ for: what, permissions }) => [what, permissions])).toEqual([
    ["job", { contents: "write", issues: "write" }],
    ["app", { contents: "write" }],
  ]);
  expect(stepOf(result.job("build"), "it").log.at(-1)).toBe("*** *** true");
  expect(result.concurrency).toEqual({ group: "g-main" });
});

test("what is not a workflow, or not reproduced, is refused", async () => {
  await expect(runWorkflow({ yaml: "on: push\njobs: { a: { steps: [] } }" }).done).rejects.toThrow(
    "is not valid",
  );
  const called = "on: [workflow_dispatch]\njobs: { a: { uses: o/r/.github/workflows/x.yml@v1 } }";
  await expect(runWorkflow({ yaml: called }).done).rejects.toThrow("calls another workflow");
});
