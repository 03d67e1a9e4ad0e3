// A git server over ssh for tests: Debian's sshd as the current user, on a free port, with keys of its own.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Sandbox } from "./sandbox.js";

const program = "/usr/sbin/sshd";
/** Where there is none, its tests are left out, but never in CI on Linux. */
export const hasSsh = existsSync(program) || (process.platform === "linux" && Boolean(process.env.CI));

export async function sshServer(box: Sandbox) {
  const folder = join(box.folder, "ssh");
  mkdirSync(folder, { mode: 0o700 });
  const key = (name: string) => {
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, name)]);
    return join(folder, name);
  };
  const [host, user] = [key("host"), key("user")];
  const config = join(folder, "sshd_config");
  writeFileSync(
    config,
    [
      `HostKey ${host}`,
      `AuthorizedKeysFile ${user}.pub`,
      `PidFile ${folder}/pid`,
      "ListenAddress 127.0.0.1",
      "UsePAM no",
      "StrictModes no",
      "PasswordAuthentication no",
      "KbdInteractiveAuthentication no",
      "PermitRootLogin yes",
      "",
    ].join("\n"),
  );
  if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true, mode: 0o755 });
  const port = await freePort();
  const server = spawn(program, ["-D", "-e", "-f", config, "-p", String(port)], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.on("exit", () => reject(new Error(`sshd ended: ${log}`)));
    server.stderr.on("data", (chunk) => {
      log += chunk;
      if (/Server listening/.test(log)) resolve();
    });
  });
  const options = ["-F", "none", "-i", user, "-p", String(port)];
  const settings = [
    "StrictHostKeyChecking=no",
    "UserKnownHostsFile=/dev/null",
    "LogLevel=ERROR",
    "BatchMode=yes",
  ];
  const command = ["ssh", ...options, ...settings.flatMap((each) => ["-o", each])].join(" ");
  return {
    url: `ssh://${userInfo().username}@127.0.0.1:${port}${box.origin}`,
    env: { GIT_SSH_COMMAND: command },
    close: async () => {
      server.removeAllListeners("exit");
      const ended = new Promise((resolve) => server.on("exit", resolve));
      server.kill();
      await ended;
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
