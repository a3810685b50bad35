import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { SlowestFirst } from "./test/support/slowest-first.ts";

/** The package by its own name, as examples import it: the sources. */
const alias = [
  { find: /^nodeippool$/, replacement: join(import.meta.dirname, "index.ts") },
  { find: /^nodeippool\/(schema|state|pipeline)$/, replacement: join(import.meta.dirname, "$1/index.ts") },
  { find: /^nodeippool\/(nmstate|metal3)$/, replacement: join(import.meta.dirname, "integrations/$1/index.ts") },
];

/** Real git, killed processes, real kernels, API servers and Pulumi engines: minutes, not seconds. */
const slow = ["test/{e2e,git,crash,cluster,pulumi}/**/*.test.ts"];

export default defineConfig({
  test: {
    maxWorkers: availableParallelism(),
    // Simulators make much that soon is garbage: a larger young generation is collected less often.
    execArgv: ["--max-semi-space-size=64", "--min-semi-space-size=32"],
    globalSetup: "test/support/temporary-folder.ts",
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        resolve: { alias },
        test: {
          name: "fast",
          include: ["test/**/*.test.ts"],
          exclude: slow,
          testTimeout: 30_000,
          // Loading what a file imports takes longer than most files; none of them leaves anything behind.
          isolate: false,
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
