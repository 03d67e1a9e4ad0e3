// A command that cannot be signalled, as one that changed its user: nothing throws, and nobody waits for it for ever.
import { afterEach, expect, it, vi } from "vitest";
import { grace, startCommand } from "../../src/cli/command.js";
import { type FakeClock, fakeClock } from "../support/fake-clock.js";

const pids: number[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const pid of pids.splice(0)) process.kill(-pid, "SIGKILL");
});

function unreachable(clock: FakeClock) {
  const said: string[] = [];
  const kill = vi.spyOn(process, "kill").mockImplementation((pid) => {
    pids[0] = -pid;
    throw Object.assign(new Error("kill EPERM"), { code: "EPERM" });
  });
  const command = startCommand({
    command: ["sleep", "60"],
    cwd: "/",
    env: process.env,
    outputAside: false,
    clock,
    complain: (text) => said.push(text),
  });
  return { command, kill, said };
}

it("a signal that cannot be passed on is told", () => {
  const { command, said } = unreachable(fakeClock());
  command.signal("SIGTERM");
  expect(said.join()).toMatch(/^SIGTERM could not be passed on to the command, process \d+/);
});

it("is left alone five seconds after SIGKILL, and that it still runs is said with its process id", async () => {
  const clock = fakeClock();
  const { command, kill, said } = unreachable(clock);
  let ended = false;
  const end = command.end().then(() => {
    ended = true;
  });
  await clock.advance(grace);
  expect(kill.mock.calls.map(([, name]) => name)).toEqual(["SIGTERM", "SIGKILL"]);
  await clock.advance(4999);
  expect(ended).toBe(false);
  await clock.advance(1);
  await end;
  expect(said.join()).toMatch(new RegExp(`^The command still runs as process ${pids[0]},`));
  expect(clock.sleepers()).toBe(0);
});
