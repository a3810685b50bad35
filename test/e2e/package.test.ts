import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { root } from "../support/console.ts";
import { checkout, npm, say, shellEnvironment } from "../support/e2e-npm.ts";
import { orSkip } from "../support/tools.ts";

// The package as npm makes and installs it, in projects as its users have them.

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** For every subpath: a program that imports it alone, and what it prints. In those of JSON files, `json` is imported. */
const uses: Record<string, { program: string; prints: string }> = {
  ".": {
    program: `
      import { type Claim, formatAddress, memory, parsePool, plan, unwrap } from "nodeippool";
      const pool = unwrap(parsePool("lan", { range: { cidr: "10.20.0.0/24" } }));
      const claims: Claim[] = [{ owner: { kind: "Printer", name: "lobby" }, name: "lan", pool: "lan" }];
      void memory().read().then((snapshot) => {
        const { assign } = plan({ pools: [pool], claims, snapshot });
        console.log(assign.map((line) => formatAddress(line.address)).join());
      });`,
    prints: "10.20.0.1",
  },
  "./schema": {
    program: `
      import { readManifests, type SourceFile } from "nodeippool/schema";
      const text = "{apiVersion: nmstate.io/v1, kind: NodeIPPool, metadata: {name: lan}, spec: {range: {cidr: 10.20.0.0/24}}}";
      const file: SourceFile = { path: "pool.yaml", text };
      console.log(readManifests([file]).pools.map((pool) => pool.name).join());`,
    prints: "lan",
  },
  "./state": {
    program: `
      import { memory, type StateBackend } from "nodeippool/state";
      const backend: StateBackend = memory();
      void backend.read().then((snapshot) => console.log(snapshot.allocations.length));`,
    prints: "0",
  },
  "./nmstate": {
    program: `
      import { childName } from "nodeippool/nmstate";
      console.log(childName("static-ip", "node01"));`,
    prints: "static-ip--node01",
  },
  "./package.json": { program: "console.log(json.name);", prints: "nodeippool" },
  "./schemas/nodeippool.schema.json": { program: "console.log(json.title);", prints: "NodeIPPool" },
};

const kinds = {
  "an ES module project": {
    module: "module",
    packages: [],
    compilerOptions: {
      module: "nodenext",
      target: "es2022",
      lib: ["es2022"],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: true,
      resolveJsonModule: true,
    },
    importJson: (subpath: string) => `import json from "nodeippool${subpath.slice(1)}" with { type: "json" };\n`,
    tsc: join(root, "node_modules/.bin/tsc"),
  },
  // The tsconfig.json of cdk8s' own template, with the TypeScript that resolves for it by typesVersions.
  "a CommonJS project of cdk8s": {
    module: "commonjs",
    packages: ["typescript@~5.9.3"],
    compilerOptions: {
      alwaysStrict: true,
      experimentalDecorators: true,
      inlineSourceMap: true,
      inlineSources: true,
      lib: ["es2016"],
      module: "CommonJS",
      noEmitOnError: true,
      noFallthroughCasesInSwitch: true,
      noImplicitAny: true,
      noImplicitReturns: true,
      noImplicitThis: true,
      noUnusedLocals: true,
      noUnusedParameters: true,
      resolveJsonModule: true,
      strict: true,
      strictNullChecks: true,
      strictPropertyInitialization: true,
      stripInternal: true,
      target: "ES2017",
    },
    importJson: (subpath: string) => `import json = require("nodeippool${subpath.slice(1)}");\n`,
    tsc: "node_modules/.bin/tsc",
  },
};

const folder = mkdtempSync(join(tmpdir(), "nodeippool-package-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let packing: Promise<string[]> | undefined;
let files: string[];
beforeEach(async (context) => {
  packing ??= pack();
  files = await orSkip(context, packing);
});

/** Packs a clone, unpacks the tarball, and lists what it holds. */
async function pack(): Promise<string[]> {
  const clone = join(folder, "clone");
  checkout(clone);
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  await npm(clone, "pack", "--silent", "--pack-destination", folder);
  await say(folder, "tar", ["-xzf", tarball]);
  const entries = readdirSync(join(folder, "package"), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 9));
}

const tarball = join(folder, `nodeippool-${manifest.version}.tgz`);

/** A shell where `node` is the Node of the tests, which is as new as the package needs. */
function withOurNode(): NodeJS.ProcessEnv {
  const shell = shellEnvironment();
  return { ...shell, PATH: [dirname(process.execPath), shell.PATH].join(delimiter) };
}

test("the tarball holds what users need, and nothing else", () => {
  const sources = readdirSync(join(folder, "clone/src"), { recursive: true, encoding: "utf8" });
  const modules = sources.filter((name) => name.endsWith(".ts")).map((name) => name.slice(0, -3));
  const built = modules.flatMap((name) => [`dist/${name}.d.ts`, `dist/${name}.js`]);
  const rest = ["LICENSE", "README.md", "deploy/crd/nodeippools.nmstate.io.yaml", "package.json"];
  expect(files.toSorted()).toEqual([...built, ...rest, "schemas/nodeippool.schema.json"].sort());
});

test("nothing in it is of this machine, and there are no source maps", () => {
  const traces = [root, folder, `${homedir()}/`, "../shared", "sourceMappingURL"];
  const found = files.flatMap((name) => {
    const text = readFileSync(join(folder, "package", name), "utf8");
    return traces.filter((trace) => text.includes(trace)).map((trace) => `${trace} in ${name}`);
  });
  expect(found).toEqual([]);
});

test("every subpath that package.json exports is tried below", () => {
  expect(Object.keys(uses)).toEqual(Object.keys(manifest.exports));
});

describe.for(Object.entries(kinds))("%s", ([name, { module, packages, compilerOptions, importJson, tsc }]) => {
  const project = join(folder, name.replaceAll(" ", "-"));
  const fileOf = (subpath: string) => subpath.replace(/\W+/g, "_");
  let installing: Promise<string> | undefined;
  beforeEach(async (context) => {
    installing ??= install();
    await orSkip(context, installing);
  });

  function install(): Promise<string> {
    mkdirSync(project);
    const write = (path: string, text: string) => writeFileSync(join(project, path), text);
    write("package.json", JSON.stringify({ name: "app", private: true, type: module }));
    write("tsconfig.json", JSON.stringify({ compilerOptions }));
    write("console.d.ts", "declare const console: { log(...values: unknown[]): void };");
    for (const [subpath, { program }] of Object.entries(uses))
      write(`${fileOf(subpath)}.ts`, subpath.endsWith(".json") ? importJson(subpath) + program : program);
    return npm(project, "install", tarball, ...packages);
  }

  test("programs type-check and run", async () => {
    expect(await say(project, tsc, ["-p", "."], withOurNode())).toBe("");
    for (const [subpath, { prints }] of Object.entries(uses))
      expect(await say(project, "node", [`${fileOf(subpath)}.js`], withOurNode()), subpath).toBe(`${prints}\n`);
  });

  test("the command works", async () => {
    const run = (...args: string[]) => say(project, "node_modules/.bin/nodeippool", args, withOurNode());
    expect(await run("--version")).toBe(`${manifest.version}\n`);
    expect(await run("--help")).toContain("Usage: nodeippool");
    const example = join(root, "examples/static-ip");
    const plan = await run("plan", join(example, "manifests"), "--nodes", join(example, "nodes.txt"));
    expect(plan).toContain("Plan: 6 to allocate, 0 kept, 0 to release.");
    expect(existsSync(join(project, "nodeippool.lock"))).toBe(false);
  });
});
