import { defineConfig } from "vitest/config";

const report = process.env.FENCEPOST_TEST_REPORT;

export default defineConfig({
  // GitHub's parser is published with source maps but without the sources, and vite warns of each file.
  logLevel: "error",
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 90_000,
    hookTimeout: 60_000,
    pool: "forks",
    // Much of the time is spent waiting for leases to expire, so one more than there are cores.
    maxWorkers: 3,
    // Each file has its own temporary folders and ports, so files may run side by side.
    fileParallelism: true,
    // GitHub's parser imports JSON without saying so, which Node refuses and vite understands.
    server: { deps: { inline: [/@actions\/(workflow-parser|expressions)/] } },
    // What a passing test prints is for whoever runs it alone.
    silent: report ? "passed-only" : false,
    reporters: report ? ["dot", "json"] : ["default"],
    ...(report ? { outputFile: { json: report } } : {}),
  },
});
