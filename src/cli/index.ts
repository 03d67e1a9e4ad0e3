#!/usr/bin/env node
// The command line: names the commands, and turns what they end with into exit codes.
import { Command, CommanderError } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { systemClock } from "../clock.js";
import { demoCommand } from "./demo.js";
import { doctorCommand } from "./doctor.js";
import { draftsCommand } from "./drafts.js";
import { explain } from "./exit.js";
import { gateCommand } from "./gate.js";
import { heartbeatProcess } from "./heartbeat.js";
import { logCommand } from "./log.js";
import { pushCommand } from "./push.js";
import { redriveCommand } from "./redrive.js";
import { runCommand } from "./run.js";
import { onOut, voice } from "./speak.js";
import { statusCommand } from "./status.js";
import { sweepCommand } from "./sweep.js";
import { unlockCommand } from "./unlock.js";

// A reader or a terminal that went away (`| head`, a closed window) is no reason to fall over with a lease in hand.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
  });

const finish = (code: number) => {
  process.exitCode = code;
};

const program = new Command("fencepost")
  .description("Leases, fencing tokens and a fenced git push for workflows that run unattended.")
  .configureHelp({ styleTitle: (text) => onOut.bold(text) })
  .version(manifest.version)
  .addHelpText("after", "\nTry it here and now, with nothing but git: fencepost demo");

const commands = [
  runCommand,
  pushCommand,
  sweepCommand,
  draftsCommand,
  redriveCommand,
  statusCommand,
  logCommand,
  unlockCommand,
  doctorCommand,
  gateCommand,
  demoCommand,
];
for (const make of commands) program.addCommand(make(finish));
program.addCommand(new Command("heartbeat").action(heartbeatProcess), { hidden: true });
for (const command of [program, ...program.commands])
  command
    .exitOverride()
    .showHelpAfterError("See --help.")
    .configureOutput({ outputError: () => {} });

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError && error.exitCode === 0) finish(0);
  else {
    const { code, outcome, message } = explain(error);
    finish(code);
    voice(systemClock).bad(message.replace(/^error: /, ""));
    if (process.argv.includes("--json"))
      process.stdout.write(`${JSON.stringify({ outcome, why: message })}\n`);
  }
}
