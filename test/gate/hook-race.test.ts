// A takeover between the advertisement and the transaction, against the gate: and which guard refuses the late write.
import { chmodSync, existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { gitLater, hookFile, install, seenLease, successor, take } from "../support/gate.js";
import { leaseRef, type Sandbox, sandbox } from "../support/sandbox.js";

let box: Sandbox;
beforeEach(() => {
  box = sandbox();
});
afterEach(() => box.dispose());

const main = "refs/heads/main";
const lease = leaseRef("blog");

type Gate = "off" | "pre-receive alone" | "reference-transaction alone" | "both";
type Form = "the branch alone" | "with the lease, not atomic" | "with the lease, atomic";

/** A push that is held back after `pre-receive` has judged it, until somebody else has taken the lease. */
async function latePush(gate: Gate, form: Form): Promise<{ landed: boolean; words: string }> {
  await install(box);
  const judge = join(box.origin, "hooks", "pre-receive.judge");
  if (gate === "pre-receive alone" || gate === "both") renameSync(hookFile(box, "pre-receive"), judge);
  if (gate === "off" || gate === "pre-receive alone") rmSync(hookFile(box, "reference-transaction"));
  const [inside, go, slow] = ["inside", "go", "slow"].map((name) => join(box.folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(
    hookFile(box, "pre-receive"),
    `#!/bin/sh
lines=$(cat)
if [ -x ${judge} ]; then printf '%s\\n' "$lines" | ${judge} || exit 1; fi
[ -f ${slow} ] || exit 0
touch ${inside}
until [ -f ${go} ]; do sleep 0.02; done
`,
  );
  chmodSync(hookFile(box, "pre-receive"), 0o755);

  const clone = box.clone("late");
  take(box, clone, "late");
  const head = box.commit(clone, "work");
  const seen = seenLease(box, clone);
  if (!seen) throw new Error("no lease");
  const next = successor(box, clone, seen, { event: "pushed", published: { [main]: head } });
  writeFileSync(slow, "");
  const args = {
    "the branch alone": [`${head}:${main}`],
    "with the lease, not atomic": [`${head}:${main}`, `${next}:${lease}`],
    "with the lease, atomic": ["--atomic", `${head}:${main}`, `${next}:${lease}`],
  }[form];
  const push = gitLater(box, clone, ["push", box.origin, ...args]);
  const stopped = push.then(() => true);
  while (!existsSync(inside) && !(await Promise.race([stopped, delay(20, false)])));
  rmSync(slow);
  take(box, box.clone("other"), "other");
  writeFileSync(go, "");
  const words = (await push).stderr;
  expect(seenLease(box, clone)?.record.holder.host).toBe("other");
  return { landed: box.tip(main) === head, words };
}

describe("a late write after a takeover during the push", () => {
  it.each<[Gate, Form]>([
    ["both", "the branch alone"],
    ["both", "with the lease, not atomic"],
    ["both", "with the lease, atomic"],
    ["reference-transaction alone", "the branch alone"],
    ["reference-transaction alone", "with the lease, not atomic"],
    ["pre-receive alone", "the branch alone"],
    ["pre-receive alone", "with the lease, atomic"],
  ])("is refused with %s: %s", async (gate, form) => {
    const { landed, words } = await latePush(gate, form);
    expect(words).toMatch(/fencepost: refs|cannot lock ref|failed to update ref|stale info/);
    expect(landed).toBe(false);
  });

  // The twins: each guard away, the late write comes through.
  it.each<[Gate, Form]>([
    ["off", "the branch alone"],
    ["off", "with the lease, not atomic"],
    // What a push is cannot be told in pre-receive, and the branch moves although the lease does not.
    ["pre-receive alone", "with the lease, not atomic"],
  ])("comes through with %s: %s", async (gate, form) => {
    expect((await latePush(gate, form)).landed).toBe(true);
  });
});
