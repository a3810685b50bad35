import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/console.ts";

/** Pages that list figures and rare cases. */
const long = ["performance.md", "limits.md"];

test("README and each page about a topic stay near 900 words", () => {
  const topics = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md") && !long.includes(name));
  const pages = ["README.md", ...topics.map((name) => join("docs", name))];
  const words = (page: string) => readFileSync(join(root, page), "utf8").trim().split(/\s+/).length;
  expect(pages.filter((page) => words(page) > 950)).toEqual([]);
});
