import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/console.ts";

test("the page of versions has those that the tests pin", () => {
  const tools = join(root, "test/tools");
  const modules = readdirSync(tools).map((name) => join(tools, name, "go.mod"));
  const lists = ["crates.txt", "python.txt"].map((name) => join(tools, name));
  const pins = [...modules.filter(existsSync), ...lists].map((path) => readFileSync(path, "utf8")).join("\n");
  const rows = readFileSync(join(root, "docs/versions.md"), "utf8").matchAll(/^\| (.+?) \| (\d\S+) \|/gm);
  const versions = [...rows].map(([, , version = ""]) => version);
  expect(versions.length).toBeGreaterThan(10);
  const isPinned = (version: string) => new RegExp(`\\sv?${version.replaceAll(".", "\\.")}(\\s|$)`, "m").test(pins);
  expect(versions.filter((version) => !isPinned(version))).toEqual([]);
});
