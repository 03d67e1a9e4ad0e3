// Runs the user's command in a checkout of the new tip, for `on-moved: regenerate`.
import { constants } from "node:os";
import spawn from "cross-spawn";
import type { OnMoved } from "./moved.js";

/** `aside`: send the command's standard output to our standard error. */
export function regenerating(
  how: OnMoved["how"],
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  aside: boolean,
): OnMoved {
  if (how !== "regenerate") return { how };
  const [program = "", ...args] = command;
  return {
    how,
    command: (folder, config, signal) =>
      new Promise((resolve) => {
        const start = Number(env.GIT_CONFIG_COUNT ?? 0);
        const identity = Object.fromEntries(
          config.flatMap(([key, value], i) => [
            [`GIT_CONFIG_KEY_${start + i}`, key],
            [`GIT_CONFIG_VALUE_${start + i}`, value],
          ]),
        );
        const count = config.length > 0 ? { GIT_CONFIG_COUNT: String(start + config.length) } : {};
        const child = spawn(program, args, {
          cwd: folder,
          env: { ...env, ...identity, ...count, FENCEPOST_REGENERATE: "1" },
          stdio: ["ignore", aside ? 2 : "inherit", "inherit"],
          ...(signal ? { signal } : {}),
        });
        child.on("error", () => resolve(127));
        child.on("exit", (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
      }),
  };
}
