import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Real git, killed processes, real kernels, real API servers: minutes, not seconds. */
const slow = ["test/{e2e,git,crash,cluster}/**/*.test.ts"];

export default defineConfig({
  test: {
    // Half of the tests wait for commands they started.
    maxWorkers: availableParallelism(),
    projects: [
      { test: { name: "fast", include: ["test/**/*.test.ts"], exclude: slow, testTimeout: 30_000 } },
      { test: { name: "e2e", include: slow, testTimeout: 300_000, hookTimeout: 900_000, fileParallelism: false } },
    ],
  },
});
