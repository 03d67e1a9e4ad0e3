import { defineConfig } from "vitest/config";

const report = process.env.FENCEPOST_TEST_REPORT;

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 90_000,
    hookTimeout: 60_000,
    pool: "forks",
    // Each file has its own temporary folders and ports, so files may run side by side.
    fileParallelism: true,
    reporters: report ? ["dot", "json"] : ["default"],
    ...(report ? { outputFile: { json: report } } : {}),
  },
});
