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

function test(mocks: string, body: string) {
  const folder = folderOf({ "package.json": '{ "type": "module" }', "index.ts": program });
  mkdirSync(join(folder, "node_modules/@pulumi"), { recursive: true });
  symlinkSync(root, join(folder, "node_modules/nodeippool"));
  symlinkSync(join(root, "node_modules/@pulumi/pulumi"), join(folder, "node_modules/@pulumi/pulumi"));
  writeFileSync(join(folder, "test.ts"), `${mocks}\nconst program = await import("./index.ts");\n${body}\n`);
  return spawnSync(process.execPath, ["test.ts"], { cwd: folder, encoding: "utf8", timeout: 60_000 });
}

it("have addresses from mocks, as the page says", () => {
  const body =
    "program.node01.apply((a) => console.log(a)); program.releasing.apply((r) => console.log(JSON.stringify(r)));";
  const { status, stdout } = test(ofPage, body);
  expect([status, stdout.split("\n").sort()]).toEqual([0, ["", "10.10.10.1", "{}"]]);
});

it("are told what the usual mocks do not answer, where an address is asked for", () => {
  const { status, stderr } = test(usual, "program.node01.apply((a) => console.log(a));");
  expect(status).not.toBe(0);
  expect(stderr).toContain(
    "Node/node01/eth1 has no address: the mocks of this test answer none. How they can: docs/pulumi.md",
  );
});

it("may have mocks that refuse each call: they are not asked what the stack has", () => {
  const strict = ofPage.replace(
    "call: ({ inputs }) => inputs",
    'call: () => { throw new Error("no call is expected"); }',
  );
  expect(strict).not.toBe(ofPage);
  expect(test(strict, "program.node01.apply((a) => console.log(a));")).toMatchObject({
    status: 0,
    stdout: "10.10.10.1\n",
  });
});
