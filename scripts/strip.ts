// The package as JavaScript, in a second: what `npm test` runs before the tests that start it. Nothing is checked, and no
// declarations are written; `npm run build` does both.
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, resolve } from "node:path";
import ts from "typescript";

const root = resolve(import.meta.dirname, "..");
const { config } = ts.readConfigFile(join(root, "tsconfig.build.json"), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
const sources = (config.include as readonly string[]).flatMap((room) =>
  room.endsWith(".ts") ? room : globSync(`${room}/**/*.ts`, { cwd: root }),
);

/** The text of what is in programs of Pulumi is in the states of stacks: to the byte as the build writes it. */
function compiled(path: string, text: string): string {
  if (!path.startsWith("provider/"))
    return stripTypeScriptTypes(text).replace(/(\bfrom |\bimport |\bimport\()("\.[^"]*)\.ts"/g, '$1$2.js"');
  const compilerOptions = { ...options, module: ts.ModuleKind.ESNext };
  return ts.transpileModule(text, { compilerOptions, fileName: path }).outputText;
}

const written = new Set(sources.map((path) => path.replace(/ts$/, "js")));
for (const old of globSync("**/*.js", { cwd: join(root, "dist") }))
  if (!written.has(old)) rmSync(join(root, "dist", old));
for (const path of sources) {
  const output = join(root, "dist", path.replace(/ts$/, "js"));
  mkdirSync(dirname(output), { recursive: true });
  writeFileSync(output, compiled(path, readFileSync(join(root, path), "utf8")));
}
