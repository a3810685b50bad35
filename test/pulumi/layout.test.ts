import { chmodSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { PulumiProject, setText, short } from "../support/pulumi-engine.ts";
import { BUILD_TIMEOUT } from "../support/tools.ts";

// Where programs, locks and packages lie, other than all in one folder.

let project: PulumiProject;
beforeEach(async () => {
  project = await PulumiProject.create("");
}, BUILD_TIMEOUT);
afterEach(() => project?.remove());

const at = (path: string) => join(project.folder, path);
const imports = 'import * as pulumi from "@pulumi/pulumi";\nimport { AllocationSet } from "nodeippool/provider";\n';

it("what is said of a lock can be typed where Pulumi.yaml is, wherever the program lies", async () => {
  mkdirSync(at("src"));
  project.write("Pulumi.yaml", "name: test\nruntime: nodejs\nmain: src/index.mjs\n");
  const typed = async (path: string) => {
    const lock = `state: { backend: "lockfile", path: "${path}" }`;
    project.write("src/index.mjs", imports + setText(["a"], { rest: lock }));
    const { text } = await project.run("preview");
    return /Run (nodeippool allocate .*- pulumi preview), review/.exec(text)?.[1] ?? text;
  };
  const words = (line: string) => [...line.split(" ").slice(1), "--non-interactive"];

  const inside = await typed("nodeippool.lock");
  expect(inside).toBe("nodeippool allocate --lock src/nodeippool.lock -- pulumi preview");
  const wrong = await project.start("nodeippool", "allocate", ...words(inside).slice(3)).ended;
  const record = (path: string) => expect.stringContaining(`in ${at(path)}`);
  expect(wrong.text).toEqual(record("nodeippool.lock"));
  expect(wrong.text).toContain(`this plan is for ${at("src/nodeippool.lock")}`);
  expect(await project.start("nodeippool", ...words(inside)).ended).toMatchObject({ status: 0 });

  const outside = await typed("../nodeippool.lock");
  expect(outside).toBe("nodeippool allocate -- pulumi preview");
  expect(await project.start("nodeippool", ...words(outside)).ended).toMatchObject({ status: 0 });
  await project.ok("up", "--yes", "--strict");
  expect(short(project.sets().ips?.addresses)).toBe("a=1");
});

it("a package that a library alone can find is said to be missing where the program is", async () => {
  mkdirSync(at("lib/node_modules/@pulumi"), { recursive: true });
  for (const name of ["@pulumi/pulumi", "nodeippool"])
    renameSync(at(`node_modules/${name}`), at(`lib/node_modules/${name}`));
  renameSync(at("lib/node_modules/@pulumi/pulumi"), at("node_modules/@pulumi/pulumi"));
  project.write("lib/index.mjs", imports + setText(["a"]));
  project.write("index.mjs", 'export { addresses } from "./lib/index.mjs";\n');
  const { status, text } = await project.run("preview");
  expect(status).not.toBe(0);
  expect(text).toContain(
    `warning: allocation set ips: nodeippool is not found from ${project.folder}, where pulumi looks for it: add it to the dependencies there, too`,
  );
  renameSync(at("lib/node_modules/nodeippool"), at("node_modules/nodeippool"));
  expect(await project.ok("up", "--yes", "--strict")).not.toContain("warning");
});

it("a set in a component that is a package of its own is refused: nobody would see two sets on one pool", async () => {
  mkdirSync(at("net"));
  project.write("net/package.json", '{ "type": "module" }');
  project.write("net/pulumi-resource-net", '#!/bin/sh\nexec node "$(dirname "$0")/index.js" "$@"\n');
  chmodSync(at("net/pulumi-resource-net"), 0o755);
  const construct = `async (name, type, inputs, opts) => {
    const net = new pulumi.ComponentResource(type, name, inputs, opts);
    ${setText(["a"], { name: "ips", opts: "{ parent: net }" }).replace("export ", "")}
    return { urn: net.urn, state: { addresses } };
  }`;
  project.write(
    "net/index.js",
    `${imports}pulumi.provider.main({ version: "0.1.0", construct: ${construct} }, process.argv.slice(2));`,
  );
  const plugin = "plugins: { providers: [{ name: net, path: ./net, version: 0.1.0 }] }\n";
  project.write("Pulumi.yaml", `name: test\nruntime: nodejs\nmain: index.mjs\n${plugin}`);
  project.program(`new pulumi.ComponentResource("net:index:Net", "one", {}, { version: "0.1.0" }, true);`);
  const { status, text } = await project.run("up", "--yes", "--skip-preview");
  expect(status).not.toBe(0);
  expect(text).toContain(
    "allocation set ips: a component that is a package of its own does not know of the other sets",
  );
  expect(project.sets()).toEqual({});
});
