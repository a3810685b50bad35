import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type Cell, cellState } from "../../examples/state-backend/state.ts";
import { root } from "../support/console.ts";
import { contract } from "./state-backend.ts";

/** A store that takes every second write for somebody else's turn. */
function cellInMemory(): Cell & { readonly version: string } {
  let held: { text: string; version: string } | undefined;
  let puts = 0;
  return {
    get version() {
      return held?.version ?? "none";
    },
    get: async () => held,
    put: async (text, version) => {
      if (++puts % 2 === 1 || version !== held?.version) return false;
      held = { text, version: `${puts}` };
      return true;
    },
  };
}

contract("the example's backend", () => {
  const cell = cellInMemory();
  return { open: () => cellState("a cell", cell), stamp: async () => cell.version };
});

it("the page about backends shows the example as it is", () => {
  const [page, example] = ["docs/own-backend.md", "examples/state-backend/state.ts"].map((path) =>
    readFileSync(join(root, path), "utf8"),
  ) as [string, string];
  expect(page).toContain(`\`\`\`ts\n${example}\`\`\``);
});
