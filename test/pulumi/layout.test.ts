import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { PulumiProject, setText, short } from "../support/pulumi/engine.ts";
import { BUILD_TIMEOUT } from "../support/tools/tools.ts";

// Where programs, locks and packages lie, other than all in one folder.

let project: PulumiProject;
beforeEach(async () => {
  project = await PulumiProject.create("");
}, BUILD_TIMEOUT);
afterEach(() => project?.remove());

const at = (path: string) => join(project.folder, path);
const imports = 'import * as pulumi from "@pulumi/pulumi";\nimport { AllocationSet } from "nodeippool/provider";\n';

it("a lock is named from where Pulumi.yaml is, wherever the program lies", async () => {
  mkdirSync(at("src"));
  project.write("Pulumi.yaml", "name: test\nruntime: nodejs\nmain: src/index.mjs\n");
  const typed = async (path: string) => {
    const lock = `state: { backend: "lockfile", path: "${path}" }`;
    project.write("src/index.mjs", imports + setText(["a"], { rest: lock }));
    const { text } = await project.run("preview");
    return /Run (nodeippool allocate .*- pulumi preview), review/.exec(text)?.[1] ?? text;
  };
  const record = async (...args: string[]) =>
    await project.start("nodeippool", "allocate", ...args, "--", "pulumi", "preview", "--non-interactive").ended;

  expect(await typed("nodeippool.lock")).toBe("nodeippool allocate -- pulumi preview");
  const wrong = await record();
  const place = (path: string) => expect.stringContaining(`in ${at(path)}`);
  expect(wrong.text).toEqual(place("nodeippool.lock"));
  expect(wrong.text).toContain(`this plan is for ${at("src/nodeippool.lock")}`);
  expect(await record("--lock", "src/nodeippool.lock")).toMatchObject({ status: 0 });

  expect(await typed("../nodeippool.lock")).toBe("nodeippool allocate -- pulumi preview");
  expect(await record()).toMatchObject({ status: 0 });
  await project.ok("up", "--yes", "--strict");
  expect(short(project.sets().ips?.addresses)).toBe("a=1");
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
