import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { programs } from "../support/cli/markdown.ts";
import { pages } from "../support/cli/page.ts";
import { root } from "../support/console.ts";

/** What does nothing compiles, too. */
test("each App on a page is synthesized", () => {
  const all = pages().flatMap((page) =>
    programs(readFileSync(join(root, page), "utf8")).map((text) => ({ page, text })),
  );
  const apps = all.filter(({ text }) => text.includes("new App("));
  expect(apps.length).toBeGreaterThan(4);
  expect(apps.filter(({ text }) => !/\bsynth\(/.test(text)).map(({ page }) => page)).toEqual([]);
});

test("the TypeScript of all pages compiles, against the package as it is built", () => {
  const files = new Map(
    pages().flatMap((page) => {
      const texts = programs(readFileSync(join(root, page), "utf8"));
      return texts.map((text, i): [string, string] => [join(root, `${page}.${i + 1}.ts`), text]);
    }),
  );
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.getSourceFile = (path, target) => {
    const text = host.readFile(path);
    return text === undefined ? undefined : ts.createSourceFile(path, text, target);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  const found = ts.getPreEmitDiagnostics(program);
  expect(ts.formatDiagnostics(found, host)).toBe("");
  expect(files.size).toBeGreaterThan(8);
}, 120_000);
