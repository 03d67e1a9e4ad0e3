// What the steps that push say of a heartbeat that is there, and does not renew.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { beatsFile, endFile } from "../../src/action/held.js";
import { warnOfPulse } from "../../src/action/pulse.js";
import { workflowOf } from "../../src/action/workflow.js";
import { systemClock } from "../../src/clock.js";

const ttl = 900_000;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fp-pulse-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A reading so many milliseconds ago. */
function before(ms: number) {
  const { wall, monotonic } = systemClock.read();
  return { wall: wall - ms, monotonic: monotonic - ms };
}

async function warnings(age: number): Promise<string> {
  const lines: string[] = [];
  const workflow = workflowOf({}, (line) => lines.push(line));
  await warnOfPulse(workflow, { pid: process.pid, folder, ttl, sentAt: before(age) });
  return lines.join("\n");
}

it("nothing while a renewal may still be on its way: a third of the TTL, and a fifth for the request", async () => {
  expect(await warnings(ttl / 3 + ttl / 5)).toBe("");
});

it("a warning with its last word when no renewal is newer", async () => {
  writeFileSync(beatsFile(folder), '{"of":"lease","event":"failing","why":"no network"}\n');
  const said = await warnings(ttl * 0.7);
  expect(said).toMatch(/^::warning .*has not renewed for 10m30s, and should every 5m/);
  expect(said).toContain("Its last word was: no network.");
});

it("nothing after a renewal, however long ago the acquisition was", async () => {
  const renewed = { of: "lease", event: "renewed", holding: {}, sentAt: before(1000) };
  writeFileSync(beatsFile(folder), `${JSON.stringify(renewed)}\n`);
  expect(await warnings(ttl)).toBe("");
});

it("nothing when it ended by itself, having said why", async () => {
  writeFileSync(endFile(folder), "");
  expect(await warnings(ttl)).toBe("");
});
