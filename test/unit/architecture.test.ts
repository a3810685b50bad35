import { describe, expect, it } from "vitest";
import {
  circles,
  commandsNamed,
  exportsOf,
  importsOf,
  impurities,
  layerOf,
  longFunctions,
  type Rules,
  type Source,
  sourceOf,
  sources,
  violations,
} from "../support/source-graph.ts";

/**
 * core <- schema <- integrations, core <- kube <- state; integrations, state <- pipeline <- surfaces. Surfaces import
 * no other one, but that the command line starts the controller; detect, which runs in pods, knows addresses alone; an integration imports no other one; the record knows no manifests, so state needs no schema.
 */
const integrationMay = ["core", "schema", "integrations/contract", "integrations/networks"];
const controllerMay = ["core", "schema", "integrations/contract", "pipeline", "kube", "state"];
const rules: Rules = {
  core: ["ip-address"],
  schema: ["core", "yaml"],
  "integrations/contract": ["core", "schema"],
  "integrations/networks": ["core", "schema", "integrations/contract"],
  "integrations/nmstate": [...integrationMay, "node:crypto"],
  "integrations/capi": [...integrationMay],
  "integrations/metal3": [...integrationMay],
  "integrations/whereabouts": [...integrationMay, "node:crypto"],
  "integrations/ipamclaim": [...integrationMay, "node:crypto"],
  "integrations/workload": [...integrationMay],
  pipeline: [
    "core",
    "schema",
    "integrations/contract",
    "integrations/networks",
    "integrations/nmstate",
    "integrations/capi",
    "integrations/metal3",
    "integrations/whereabouts",
    "integrations/ipamclaim",
    "integrations/workload",
    "state",
    "yaml",
  ],
  kube: ["core", "yaml", "@kubernetes/client-node", "node:*"],
  state: [
    "core",
    "kube",
    "node:child_process",
    "node:crypto",
    "node:fs",
    "node:path",
    "node:timers/promises",
    "node:zlib",
  ],
  provider: [
    "core",
    "schema",
    "integrations/contract",
    "integrations/networks",
    "integrations/nmstate",
    "pipeline",
    "state",
    "nodeippool/provider/runtime",
    "@pulumi/pulumi",
    "@pulumi/kubernetes",
    "node:fs",
    "node:module",
    "node:path",
  ],
  constructs: [
    "core",
    "schema",
    "integrations/contract",
    "integrations/networks",
    "integrations/nmstate",
    "integrations/metal3",
    "integrations/whereabouts",
    "integrations/workload",
    "pipeline",
    "state",
    "cdk8s",
    "constructs",
    "node:fs",
  ],
  detect: ["core", "node:child_process", "node:timers/promises"],
  controller: [...controllerMay, "controller/cache"],
  "controller/cache": [...controllerMay, "node:crypto"],
  "controller/record": [...controllerMay, "controller", "controller/cache"],
  "controller/allocate": [...controllerMay, "controller", "controller/cache", "controller/record"],
  "controller/write": [
    ...controllerMay,
    "controller",
    "controller/cache",
    "controller/record",
    "controller/allocate",
    "node:crypto",
  ],
  "controller/reconcile": [
    ...controllerMay,
    "controller",
    "controller/cache",
    "controller/record",
    "controller/allocate",
    "controller/write",
  ],
  "controller/run": [
    ...controllerMay,
    "controller",
    "controller/cache",
    "controller/record",
    "controller/allocate",
    "controller/write",
    "controller/reconcile",
    "prom-client",
    "node:http",
    "node:net",
  ],
  cli: [
    "core",
    "schema",
    "integrations/contract",
    "integrations/networks",
    "integrations/nmstate",
    "integrations/metal3",
    "integrations/capi",
    "integrations/workload",
    "pipeline",
    "kube",
    "state",
    "detect",
    "controller",
    "controller/allocate",
    "controller/cache",
    "controller/run",
    "commander",
    "@bomb.sh/tab",
    "@bomb.sh/tab/commander",
    "node:*",
  ],
  "index.ts": ["core", "integrations/nmstate", "state", "constructs"],
};
const pure = [
  "core",
  "schema",
  "integrations/contract",
  "integrations/networks",
  "integrations/nmstate",
  "integrations/metal3",
  "integrations/whereabouts",
  "integrations/ipamclaim",
  "integrations/capi",
  "integrations/workload",
];
const files = sources();

/** What a file imports of an API server or of HTTP that is not its business. */
function strangersToKube(file: Source): string[] {
  if (layerOf(file.path) === "kube" || file.path === "controller/run/server.ts") return [];
  const mayKnow = /^(state\/kubernetes\/|controller\/|cli\/)/.test(file.path);
  return importsOf(file)
    .filter(
      (name) =>
        /^(node:https?2?|node:net|node:tls|undici|@kubernetes\/.*)$/.test(name) || (!mayKnow && /^kube\//.test(name)),
    )
    .map((name) => `${file.path} -> ${name}`);
}

describe("the house", () => {
  it("has the layers that the rules name, and no others", () => {
    expect(new Set(files.map(({ path }) => layerOf(path)))).toEqual(new Set(Object.keys(rules)));
  });

  it("imports what its layer may: core <- schema <- integrations, state <- constructs, provider, cli", () => {
    expect(violations(files, rules)).toEqual([]);
  });

  it("has no files that import each other, be it for types alone", () => {
    expect(circles(files)).toEqual([]);
  });

  it("knows API servers in kube alone, serves HTTP in one file, and kube in state/kubernetes, controller and cli alone", () => {
    expect(files.flatMap(strangersToKube)).toEqual([]);
  });

  it.each(pure)("%s has no I/O, clock, randomness, locale, async, process or console", (layer) => {
    expect(files.filter(({ path }) => layerOf(path) === layer).flatMap(impurities)).toEqual([]);
  });

  it("names verbs and flags in surfaces, and in the table of what each has for a remedy", () => {
    const isInner = ({ path }: Source) =>
      !["cli", "constructs", "provider"].includes(layerOf(path)) && path !== "core/advice.ts";
    const inner = files.filter(isInner);
    expect(inner.flatMap(commandsNamed)).toEqual([]);
  });

  it("has files of at most 300 lines", () => {
    const lines = ({ tree }: Source) => tree.text.trimEnd().split("\n").length;
    expect(files.filter((file) => lines(file) > 300).map((file) => `${file.path}: ${lines(file)}`)).toEqual([]);
  });

  it("has functions of at most 40 lines", () => {
    expect(files.flatMap((file) => longFunctions(file, 40))).toEqual([]);
  });

  it("exports no name from two files of one room", () => {
    const homes = Map.groupBy(
      files.flatMap((file) =>
        exportsOf(file).map((name) => ({ name: `${layerOf(file.path)} ${name}`, path: file.path })),
      ),
      ({ name }) => name,
    );
    const twice = [...homes]
      .filter(([, found]) => found.length > 1)
      .map(([name, found]) => `${name}: ${found.map(({ path }) => path).join(", ")}`);
    expect(twice).toEqual([]);
  });
});

describe("the checks find what is planted", () => {
  it("a circle, also of types", () => {
    const texts = { a: "b", b: "c", c: "b", d: "a" };
    const planted = Object.entries(texts).map(([from, to]) =>
      sourceOf(`${from}.ts`, `import type {} from "./${to}.ts";`),
    );
    expect(circles(planted)).toEqual(["b.ts -> c.ts -> b.ts"]);
  });

  it.each([
    ["core/a.ts", 'import { b } from "../schema/index.ts";', "core/a.ts -> schema/index.ts"],
    ["core/a.ts", 'import type { B } from "../cli/b.ts";', "core/a.ts -> cli/b.ts"],
    ["core/a.ts", 'export * from "../state/index.ts";', "core/a.ts -> state/index.ts"],
    ["core/a.ts", 'import "node:fs";', "core/a.ts -> node:fs"],
    ["core/a.ts", 'import { parse } from "yaml";', "core/a.ts -> yaml"],
    [
      "schema/generated/a.ts",
      'const b = await import("../../integrations/nmstate/b.ts");',
      "schema/generated/a.ts -> integrations/nmstate/b.ts",
    ],
    [
      "integrations/nmstate/a.ts",
      'import { lockfile } from "../../state/index.ts";',
      "integrations/nmstate/a.ts -> state/index.ts",
    ],
    ["state/a.ts", 'import { Pool } from "../schema/index.ts";', "state/a.ts -> schema/index.ts"],
    ["cli/a.ts", "const b = await import(name);", "cli/a.ts -> name"],
    ["integrations/a/a.ts", 'import { b } from "../nmstate/b.ts";', "integrations/a/a.ts -> integrations/nmstate/b.ts"],
    ["index.ts", 'export * from "./cli/main.ts";', "index.ts -> cli/main.ts"],
  ])("%s: %s", (path, text, expected) => {
    expect(violations([sourceOf(path, text)], rules)).toEqual([expected]);
  });

  it.each([
    ["core/a.ts", 'import { b } from "./b.ts"; import { Address6 } from "ip-address";'],
    ["integrations/nmstate/a.ts", 'import { b } from "../../core/index.ts"; import { createHash } from "node:crypto";'],
    ["cli/a.ts", 'const b = await import("./b.ts"); import fs from "node:fs";'],
  ])("but not %s: %s", (path, text) => {
    expect(violations([sourceOf(path, text)], rules)).toEqual([]);
  });

  it.each([
    ["const a = Date.now();", "Date"],
    ["const a = new Date(0);", "Date"],
    ["const a = Math.random();", "Math.random"],
    ["console.log(1);", "console"],
    ["const { env } = process;", "process"],
    ["async function a() {}", "async"],
    ["for await (const a of b) {}", "await"],
    ["const a: Promise<void> = b;", "Promise"],
    ["a.sort((x, y) => x.localeCompare(y));", "x.localeCompare"],
    ["const a = { now: performance };", "performance"],
    ["setTimeout(a);", "setTimeout"],
  ])("%s", (text, what) => {
    expect(impurities(sourceOf("a.ts", `\n${text}`))).toEqual([`a.ts:2 ${what}`]);
  });

  it.each([
    ["state/lockfile.ts", 'import { retry } from "../kube/index.ts";'],
    ["constructs/a.ts", 'const { objectsOf } = await import("../kube/index.ts");'],
    ["cli/a.ts", 'import https from "node:https";'],
    ["cli/a.ts", 'import { KubeConfig } from "@kubernetes/client-node";'],
  ])("%s: %s", (path, text) => {
    expect(strangersToKube(sourceOf(path, text))).toHaveLength(1);
  });

  it.each(["state/kubernetes/a.ts", "controller/run.ts", "cli/a.ts"])("but not kube in %s", (path) => {
    expect(strangersToKube(sourceOf(path, 'import { retry } from "../kube/index.ts";'))).toEqual([]);
  });

  it.each([
    "const a = { process: 1 };",
    "const b = a.process;",
    "interface A { console: string }",
    "// Date.now()",
    'const a = "process";',
  ])("but not %s", (text) => {
    expect(impurities(sourceOf("a.ts", text))).toEqual([]);
  });

  it.each(['f("allow it (--allow-move).");', "f(`run nodeippool mv a`);"])("names of verbs and flags: %s", (text) => {
    expect(commandsNamed(sourceOf("a.ts", text))).toEqual([expect.stringMatching(/^a\.ts:1 /)]);
  });

  it.each(['git("rev-parse", "--verify");', "// nodeippool mv", 'f("written by nodeippool");'])(
    "but not %s",
    (text) => {
      expect(commandsNamed(sourceOf("a.ts", text))).toEqual([]);
    },
  );

  it("long functions, of every kind", () => {
    const body = "{\n".concat("  a;\n".repeat(39), "}");
    for (const head of ["function f() ", "const f = () => ", "class A { f() ", "const a = { f() "]) {
      const tail = head.includes("{") ? " }" : "";
      expect(longFunctions(sourceOf("a.ts", `${head}${body}${tail}`), 40)).toEqual([expect.stringMatching(/: 41$/)]);
      expect(longFunctions(sourceOf("a.ts", `/**\n\n*/\n${head}${body.replace("  a;\n", "")}${tail}`), 40)).toEqual([]);
    }
  });

  it("exports of every kind", () => {
    const text =
      "export const a = 1, b = 2; export function c() {} export type D = 1; export class E {} const f = 1; export * from './g.ts'; export { f };";
    expect(exportsOf(sourceOf("a.ts", text))).toEqual(["a", "b", "c", "D", "E"]);
  });
});
