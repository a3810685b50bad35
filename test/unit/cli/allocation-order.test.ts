import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cli, folderOf } from "../../support/schema/cli.ts";

const pool = (order: string) =>
  `apiVersion: nmstate.io/v1\nkind: NodeIPPool\nmetadata: {name: p}\nspec: {range: {cidr: 10.0.0.0/24}, allocationOrder: ${order}}\n`;
const policy = `apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: storage}
spec:
  capture: {a: ippool.p.allocate}
  desiredState:
    interfaces:
    - name: eth1
      ipv4: {enabled: true, address: [{ip: "{{ capture.a.ip }}", prefix-length: "{{ capture.a.prefix-length }}"}]}
`;

it("the order of a pool is in plan and show, moves nobody when it changes, and an unknown one is refused", async () => {
  const folder = folderOf({
    "manifests/policy.yaml": policy,
    "manifests/pool.yaml": pool("Hashed"),
    "nodes.txt": "node01\nnode02\n",
  });
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  const poolLines = () => readFileSync(join(folder, "nodeippool.lock"), "utf8").match(/^- \{"pool".*$/gm);

  const hashed = await cli(["allocate"], folder);
  expect(hashed.stdout).toContain("order Hashed");
  expect(hashed.stdout.match(/\+ .*/g)).toEqual(["+ 10.0.0.49  node01  storage/a", "+ 10.0.0.50  node02  storage/a"]);
  expect(poolLines()).toEqual(['- {"pool":"p","cidr":"10.0.0.0/24"}']);

  write("manifests/pool.yaml", pool("Next"));
  write("nodes.txt", "node01\nnode02\nnode03\n");
  expect((await cli(["allocate"], folder)).stdout.match(/[+~-] 10.*/g)).toEqual(["+ 10.0.0.1  node03  storage/a"]);
  expect(poolLines()).toEqual(['- {"pool":"p","cidr":"10.0.0.0/24","last":"10.0.0.1"}']);
  expect((await cli(["show"], folder)).stdout).toContain("order Next");

  write("nodes.txt", "node01\nnode02\n");
  await cli(["allocate"], folder);
  expect(await cli(["release", "node03", "--confirm"], folder)).toMatchObject({ status: 0 });
  write("nodes.txt", "node01\nnode02\nnode04\n");
  expect((await cli(["plan"], folder)).stdout).toContain("+ 10.0.0.2  node04  storage/a");

  write("manifests/pool.yaml", pool("Random"));
  const refused = await cli(["plan"], folder);
  expect(refused).toMatchObject({ status: 2 });
  expect(refused.stderr).toContain("allocationOrder must be one of Lowest, Hashed, Next");
});
