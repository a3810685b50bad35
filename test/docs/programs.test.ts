import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import ts from "typescript";
import { describe, expect, it, test } from "vitest";
import { programs } from "../support/cli/markdown.ts";
import { pages } from "../support/cli/page.ts";
import { entries, Surface } from "../support/cli/surface.ts";
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

/** The declarations that the package would have, as its sources have them: to write them takes longer than to check all pages. */
function declared(path: string): string | undefined {
  const [, name] = /^dist\/(.*)\.d\.ts$/.exec(relative(root, path)) ?? [];
  return name === undefined || !existsSync(join(root, `${name}.ts`))
    ? undefined
    : `export * from "${join(root, name)}.ts";`;
}

const files = new Map(
  pages().flatMap((page) => {
    const texts = programs(readFileSync(join(root, page), "utf8"));
    return texts.map((text, i): [string, string] => [join(root, `${page}.${i + 1}.ts`), text]);
  }),
);

/** The package, and the TypeScript of all pages: to read both at once takes half the time. */
function programOfAll(): { readonly program: ts.Program; readonly host: ts.CompilerHost } {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile } = host;
  // What no export names a type of, and takes seconds to read.
  const isUnnamed = (path: string) =>
    /\/node_modules\/(?:@kubernetes\/client-node|@pulumi\/kubernetes)(?:\/|$)/.test(path);
  host.fileExists = (path) => files.has(path) || declared(path) !== undefined || (!isUnnamed(path) && fileExists(path));
  const { directoryExists } = host;
  host.directoryExists = (path) => !isUnnamed(path) && directoryExists?.(path) === true;
  host.readFile = (path) => files.get(path) ?? declared(path) ?? readFile(path);
  host.getSourceFile = (path, target) => {
    const text = host.readFile(path);
    return text === undefined ? undefined : ts.createSourceFile(path, text, target);
  };
  return { program: ts.createProgram([...entries(), ...files.keys()], options, host), host };
}

const { program, host } = programOfAll();

test("the TypeScript of all pages compiles, against the package", () => {
  // What the sources say is for `npm run check`.
  const found = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()].concat(
    [...files.keys()].flatMap((path) => ts.getPreEmitDiagnostics(program, program.getSourceFile(path))),
  );
  expect(ts.formatDiagnostics(found, host)).toBe("");
  expect(files.size).toBeGreaterThan(8);
}, 120_000);

// What users of the package see: the exports of its subpaths, and all that their types name.
describe("the package", () => {
  const surface = new Surface(program);

  it("exports nothing without a doc comment", () => {
    expect(surface.undocumented()).toEqual([]);
  });

  it("names no type in an export that it does not export, of itself or of another package", () => {
    expect(surface.hidden()).toEqual([]);
  });
});
