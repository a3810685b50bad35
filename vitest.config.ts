import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { SlowestFirst } from "./test/support/slowest-first.ts";

/** Real git, killed processes, real kernels, API servers and Pulumi engines: minutes, not seconds. */
const slow = ["test/{e2e,git,crash,cluster,pulumi}/**/*.test.ts"];

/** Simulators make much that soon is garbage: a larger young generation is collected less often. */
const execArgv = ["--max-semi-space-size=64", "--min-semi-space-size=32"];

export default defineConfig({
  test: {
    maxWorkers: availableParallelism(),
    execArgv,
    globalSetup: "test/support/temporary-folder.ts",
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        test: {
          name: "fast",
          include: ["test/**/*.test.ts"],
          exclude: slow,
          testTimeout: 30_000,
          // Loading what a file imports takes longer than most files; none of them leaves anything behind.
          isolate: false,
          // As Node loads them: the test runner's own loader would transform each, and slow down each call of an import.
          experimental: { viteModuleRunner: false, nodeLoader: false },
          execArgv: [...execArgv, `--import=${import.meta.resolve("./test/support/package-sources.ts")}`],
        },
      },
      {
        test: {
          name: "e2e",
          include: slow,
          testTimeout: 300_000,
          hookTimeout: 900_000,
        },
      },
    ],
  },
});
