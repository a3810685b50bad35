import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { checkout, npm, say, shellEnvironment } from "../support/cli/npm.ts";
import { root } from "../support/console.ts";
import { orSkip } from "../support/tools/tools.ts";

// The package as npm makes and installs it, in projects as its users have them.

const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** For every subpath: a program that imports it alone, and the line that it prints. In those of JSON files, `json` is imported. */
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
      console.log(readManifests([file], []).pools.map((pool) => pool.name).join());`,
    prints: "lan",
  },
  "./state": {
    program: `
      import { memory, type StateBackend } from "nodeippool/state";
      const backend: StateBackend = memory();
      void backend.read().then((snapshot) => console.log(snapshot.allocations.length));`,
    prints: "0",
  },
  "./pipeline": {
    program: `
      import { type Proposal, propose, readDesired, readFolder } from "nodeippool/pipeline";
      const text = "{apiVersion: nmstate.io/v1, kind: NodeIPPool, metadata: {name: lan}, spec: {range: {cidr: 10.20.0.0/24}}}";
      console.log(readFolder([{ path: "pool.yaml", text }]).pools.map((pool) => pool.name).join());
      const take = (proposal: Proposal): number => proposal.plan.assign.length;
      void [take, propose, readDesired];`,
    prints: "lan",
  },
  "./nmstate": {
    program: `
      import { childName } from "nodeippool/nmstate";
      console.log(childName("static-ip", "node01"));`,
    prints: "static-ip--node01",
  },
  "./metal3": {
    program: `
      import { infraClaims, type InfraSpec, parseInfra } from "nodeippool/metal3";
      const spec: InfraSpec = {
        infra: { networks: { lan: { netmask: 24, addresses: ["10.20.0.5"] } } },
        controllers: {
          replicas: 1,
          hostSelector: { role: "controller" },
          networkConfig: [{ type: "interface", name: "em0", addresses: [{ ip_netmask: "{{ ip['lan'] }}" }] }],
          macMapping: { "node-0": { em0: "00:c8:7c:e6:f0:2e" } },
        },
      };
      const { value } = parseInfra(spec);
      console.log(value && infraClaims(value).map(({ owner, pool }) => owner.name + " " + pool).join());`,
    prints: "controllers.node-0 lan",
  },
  "./constructs": {
    program: `
      import { App, Chart } from "cdk8s";
      import { AddressPlan, type DesiredState, NodeIPPool, NodeNetworkPolicy, Nodes } from "nodeippool/constructs";
      const app = new App();
      const chart = new Chart(app, "network");
      const claim = new NodeIPPool(chart, "lan", { range: { cidr: "10.20.0.0/24" } }).claim("eth1");
      const desiredState: DesiredState = { interfaces: [{ name: "eth1", ipv4: { enabled: true, address: [claim] } }] };
      new NodeNetworkPolicy(chart, "static-ip", { nodes: Nodes.named("node01"), desiredState });
      console.log(AddressPlan.of(chart).plan().assign.map((line) => line.claim).join());`,
    prints: "Node/node01/static-ip/eth1",
  },
  "./provider": {
    program: `
      import { AllocationSet, type AllocationSetArgs } from "nodeippool/provider";
      const args: AllocationSetArgs = { pools: { lan: { range: { cidr: "10.20.0.0/24" } } }, claims: [] };
      console.log(typeof AllocationSet, Object.keys(args.pools).join());`,
    prints: "function lan",
  },
  "./provider/runtime": {
    program: `
      import * as runtime from "nodeippool/provider/runtime";
      console.log(Object.keys(runtime).sort().join());`,
    prints: "check,create,delete,diff,read,update",
  },
  "./package.json": { program: "console.log(json.name);", prints: "nodeippool" },
  "./schemas/nodeippool.schema.json": { program: "console.log(json.title);", prints: "NodeIPPool" },
};

const peers = ["cdk8s", "constructs"].map((name) => `${name}@${manifest.devDependencies[name]}`);

const esModules = {
  module: "module",
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
};

const kinds = {
  "an ES module project without peers": {
    ...esModules,
    packages: [] as string[],
    leaves: ["./constructs", "./provider"],
  },
  "an ES module project": { ...esModules, packages: peers, leaves: ["./provider"] },
  "an ES module project of Pulumi": {
    ...esModules,
    // The types of Pulumi's SDK name packages that it does not bring along.
    compilerOptions: { ...esModules.compilerOptions, types: ["node"], skipLibCheck: true },
    packages: ["@pulumi/pulumi", "@types/node"].map((name) => `${name}@${manifest.devDependencies[name]}`),
    leaves: ["./constructs"],
  },
  // The tsconfig.json of cdk8s' own template, with the TypeScript that resolves for it by typesVersions.
  "a CommonJS project of cdk8s": {
    module: "commonjs",
    packages: ["typescript@~5.9.3", ...peers],
    leaves: ["./provider"],
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
  return filesIn(join(folder, "package"), join(folder, "package"));
}

/** All files in a folder, as they are called from another. */
function filesIn(path: string, from: string): string[] {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(from, join(entry.parentPath, entry.name)));
}

const tarball = join(folder, `nodeippool-${manifest.version}.tgz`);

/** A shell where `node` is the Node of the tests, which is as new as the package needs. */
function withOurNode(): NodeJS.ProcessEnv {
  const shell = shellEnvironment();
  return { ...shell, PATH: [dirname(process.execPath), shell.PATH].join(delimiter) };
}

test("the tarball holds what users need, and nothing else", () => {
  const { include } = JSON.parse(readFileSync(join(folder, "clone/tsconfig.build.json"), "utf8"));
  const sources = include.flatMap((room: string) =>
    room.endsWith(".ts") ? room : filesIn(join(folder, "clone", room), join(folder, "clone")),
  );
  const modules = sources.filter((name: string) => name.endsWith(".ts")).map((name: string) => name.slice(0, -3));
  const built = modules.flatMap((name: string) => [`dist/${name}.d.ts`, `dist/${name}.js`]);
  const rest = ["LICENSE", "README.md", "package.json"];
  const pages = ["deploy", "docs", "examples"].flatMap((name) =>
    filesIn(join(folder, "clone", name), join(folder, "clone")),
  );
  expect(files.toSorted()).toEqual([...built, ...pages, ...rest, "schemas/nodeippool.schema.json"].sort());
});

test("nothing in it is of this machine, and there are no source maps", () => {
  const traces = [root, folder, `${homedir()}/`, "../shared", "sourceMappingURL"];
  const found = files.flatMap((name) => {
    const text = readFileSync(join(folder, "package", name), "utf8");
    return traces.filter((trace) => text.includes(trace)).map((trace) => `${trace} in ${name}`);
  });
  expect(found).toEqual([]);
});

test("what README links to is in it, but for the page on how to work on the project", () => {
  const readme = readFileSync(join(folder, "package/README.md"), "utf8");
  const links = [...readme.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, link = ""]) => link);
  expect(links.length).toBeGreaterThan(9);
  const missing = new Set(links.filter((link) => !existsSync(join(folder, "package", link))));
  expect([...missing]).toEqual(["CONTRIBUTING.md"]);
});

test("every subpath that package.json exports is tried below", () => {
  expect(Object.keys(uses)).toEqual(Object.keys(manifest.exports));
});

describe.for(Object.entries(kinds))("%s", ([name, { module, packages, leaves, compilerOptions, importJson, tsc }]) => {
  const project = join(folder, name.replaceAll(" ", "-"));
  const subpaths = Object.entries(uses).filter(([subpath]) => !leaves.includes(subpath));
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
    // Elsewhere the types of Node declare it.
    if (leaves.includes("./provider"))
      write("console.d.ts", "declare const console: { log(...values: unknown[]): void };");
    for (const [subpath, { program }] of subpaths)
      write(`${fileOf(subpath)}.ts`, subpath.endsWith(".json") ? importJson(subpath) + program : program);
    return npm(project, "install", tarball, ...packages);
  }

  test("programs type-check and run", async () => {
    expect(await say(project, tsc, ["-p", "."], withOurNode())).toBe("");
    const all = subpaths.map(([subpath]) => `await import("./${fileOf(subpath)}.js");`);
    const printed = await say(project, "node", ["--input-type=module", "-e", all.join("\n")], withOurNode());
    expect(printed.trim().split("\n").sort()).toEqual(subpaths.map(([, { prints }]) => prints).sort());
  });

  test("the command works", async () => {
    const run = (...args: string[]) => say(project, "node_modules/.bin/nodeippool", args, withOurNode());
    expect(await run("--version")).toMatch(new RegExp(`^nodeippool ${manifest.version}, Node \\d+\\.`));
    expect(await run("--help")).toContain("Usage: nodeippool");
    const example = join(root, "examples/static-ip");
    const plan = await run("plan", join(example, "manifests"), "--nodes", join(example, "nodes.txt"));
    expect(plan).toContain("Plan: 6 to allocate, 0 kept, 0 to release.");
    expect(existsSync(join(project, "nodeippool.lock"))).toBe(false);
  });
});

describe("a project from cdk8s' own template", () => {
  const require = createRequire(import.meta.url);
  const cli = require.resolve("cdk8s-cli/package.json");
  const template = join(dirname(cli), "templates/typescript-app");
  const project = join(folder, "from-template");
  let installing: Promise<string> | undefined;
  beforeEach(async (context) => {
    installing ??= install();
    await orSkip(context, installing);
  });

  function install(): Promise<string> {
    mkdirSync(project);
    for (const name of ["tsconfig.json", "jest.config.js"]) cpSync(join(template, name), join(project, name));
    for (const [name, text] of Object.entries({ "main.ts": appSource, "main.test.ts": testSource }))
      writeFileSync(join(project, name), text);
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "app", private: true, main: "main.js" }));
    const { devDependencies } = JSON.parse(readFileSync(join(template, "package.json"), "utf8"));
    const own = ["@types/jest", "@types/node", "jest", "ts-jest", "ts-node", "typescript"];
    return npm(project, "install", tarball, ...peers, ...own.map((name) => `${name}@${devDependencies[name]}`));
  }

  const run = (name: string, ...args: string[]) => say(project, `node_modules/.bin/${name}`, args, withOurNode());

  test("compiles with its TypeScript and tsconfig.json", async () => {
    expect(await run("tsc", "--noEmit", "-p", ".")).toBe("");
  });

  test("runs by ts-node, as its cdk8s.yaml does", async () => {
    await expect(run("ts-node", "main.ts")).rejects.toThrow(/\+ 10\.20\.0\.1 {2}node01 {2}static-ip\/eth1/);
  });

  test("is tested by jest with the two settings that docs/cdk8s-more.md names, and not without them", async () => {
    await expect(run("jest")).rejects.toThrow(/Unexpected token 'export'/);
    const settings = /```js\n(module\.exports = [\s\S]*?)```/.exec(
      readFileSync(join(root, "docs/cdk8s-more.md"), "utf8"),
    )?.[1];
    writeFileSync(join(project, "jest.config.js"), settings ?? "");
    await run("jest", "--ci");
  });
});

const appSource = `
import { App, Chart } from 'cdk8s';
import { Construct } from 'constructs';
import { AddressPlan, LoadedState, NodeIPPool, NodeNetworkPolicy, Nodes } from 'nodeippool/constructs';

export class Network extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const lan = new NodeIPPool(this, 'lan', { range: { cidr: '10.20.0.0/24' } });
    const ipv4 = { enabled: true, dhcp: false, address: [lan.claim('eth1')] };
    new NodeNetworkPolicy(this, 'static-ip', {
      nodes: Nodes.named('node01'),
      desiredState: { interfaces: [{ name: 'eth1', type: 'ethernet', state: 'up', ipv4 }] },
    });
  }
}

export function appOf(state?: LoadedState): App {
  const app = new App();
  if (state) AddressPlan.configure(app, { state });
  new Network(app, 'network');
  return app;
}

if (require.main === module) appOf().synth();
`;

const testSource = `
import { Testing } from 'cdk8s';
import { memory } from 'nodeippool';
import { AddressPlan, loadState } from 'nodeippool/constructs';
import { appOf } from './main';

test('node01 gets the first address', async () => {
  const backend = memory();
  await backend.commit(AddressPlan.of(appOf(await loadState(backend))).plan());
  const [, policy] = Testing.synth(appOf(await loadState(backend)).charts[0]);
  expect(policy.spec.desiredState.interfaces[0].ipv4.address).toEqual([{ 'ip': '10.20.0.1', 'prefix-length': 24 }]);
});
`;
