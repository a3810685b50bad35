import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { blockWith } from "../support/cli/markdown.ts";
import { root } from "../support/console.ts";

test.each([
  ["manifests/network.yaml", "name: storage-nic\n"],
  ["nodes.txt", "control01 "],
])("README shows %s of examples/first-day as it is", (name, text) => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  expect(blockWith(readme, text)).toBe(readFileSync(join(root, "examples/first-day", name), "utf8"));
});

test("the page about integrations shows the example, and the heart of the toy, as they are", () => {
  const page = readFileSync(join(root, "docs/integrations.md"), "utf8");
  const example = readFileSync(join(root, "examples/integration/printers.ts"), "utf8");
  expect(blockWith(page, "// An integration")).toBe(example);
  const toy = readFileSync(join(root, "test/support/toy-in-cluster.ts"), "utf8");
  expect(toy).toContain(`\n${blockWith(page, "const recording")}\n`);
});
