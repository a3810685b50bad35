import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../../support/console.ts";
import { folderOf } from "../../support/schema/cli.ts";

// The unit tests that people write of their programs: processes of their own, with the package as it is built.

const page = readFileSync(join(root, "docs/pulumi.md"), "utf8");
const [, ofPage = ""] = /## Unit tests.*?```ts\n(.*?)```/s.exec(page) ?? [];
const usual = `import * as pulumi from "@pulumi/pulumi";
await pulumi.runtime.setMocks({ newResource: ({ name, inputs }) => ({ id: name, state: inputs }), call: ({ inputs }) => inputs });`;

const program = `import { AllocationSet } from "nodeippool/provider";
const claims = ["node01", "node02"].map((name) => ({ owner: { kind: "Node", name }, name: "eth1", pool: "traffic-1" }));
const ips = new AllocationSet("ips", { pools: { "traffic-1": { range: { cidr: "10.10.10.0/24" } } }, claims });
export const { addresses, releasing } = ips;
export const node01 = ips.address("Node/node01/eth1");`;

/** Runs programs of these mocks and bodies, one after the other in one process. */
function test(...runs: readonly { readonly mocks: string; readonly body: string }[]) {
  const folder = folderOf({ "package.json": '{ "type": "module" }', "index.ts": program });
  mkdirSync(join(folder, "node_modules/@pulumi"), { recursive: true });
  symlinkSync(root, join(folder, "node_modules/nodeippool"));
  symlinkSync(join(root, "node_modules/@pulumi/pulumi"), join(folder, "node_modules/@pulumi/pulumi"));
  for (const [i, { mocks, body }] of runs.entries())
    writeFileSync(join(folder, `test${i}.ts`), `${mocks}\nconst program = await import("./index.ts?${i}");\n${body}\n`);
  const all = runs.map((_, i) => `await import("./test${i}.ts");\n`).join("");
  writeFileSync(join(folder, "all.ts"), all);
  return spawnSync(process.execPath, ["all.ts"], { cwd: folder, encoding: "utf8", timeout: 60_000 });
}

const said = (output: string) =>
  `await new Promise((done) => program.${output}.apply((a) => done(console.log(JSON.stringify(a)))));`;

it("have addresses from mocks, as the page says; those may refuse each call: they are not asked what the stack has", () => {
  const strict = ofPage.replace(
    "call: ({ inputs }) => inputs",
    'call: () => { throw new Error("no call is expected"); }',
  );
  expect(strict).not.toBe(ofPage);
  const { status, stdout } = test(
    { mocks: ofPage, body: said("node01") + said("releasing") },
    { mocks: strict, body: said("node01") },
  );
  expect([status, stdout]).toEqual([0, '"10.10.10.1"\n{}\n"10.10.10.1"\n']);
});

it("are told what the usual mocks do not answer, where an address is asked for", () => {
  const { status, stderr } = test({ mocks: usual, body: "program.node01.apply((a) => console.log(a));" });
  expect(status).not.toBe(0);
  expect(stderr).toContain(
    "Node/node01/eth1 has no address: the mocks of this test answer none. How they can: docs/pulumi.md",
  );
});
