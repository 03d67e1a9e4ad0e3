import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Each file has its own temporary folders and ports, so files may run side by side.
    fileParallelism: true,
    pool: "forks",
  },
});
