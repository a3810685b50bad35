import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { done } from "../../support/cli/outcome.ts";
import { definition, macvlanNetwork } from "../../support/objects/vm-objects.ts";
import { workload } from "../../support/objects/workload-objects.ts";
import { cli, folderOf } from "../../support/schema/cli.ts";
import { poolText } from "../../support/schema/text.ts";

// `audit` of what is rendered for pods: an address is that of one pod, not of all that its workload has.
async function rendered(kind: string, networks = "red") {
  const objects = [
    macvlanNetwork("red", "p"),
    definition("blue", "default", { name: "blue", type: "macvlan" }),
    workload(kind, "db", { replicas: 3, strategy: { type: "Recreate" } }, networks),
  ];
  const pool = poolText("  range: {cidr: 10.0.0.0/26}");
  const folder = folderOf({ "m/a.yaml": [pool, ...objects.map((one) => JSON.stringify(one))].join("\n---\n") });
  await done(folder, "allocate", "m");
  await done(folder, "render", "m", "--out", "r");
  return folder;
}

/** The kinds of findings and their addresses, once the rendered file is changed. */
async function found(folder: string, change: (text: string) => string): Promise<string[]> {
  const file = join(folder, "r/a.yaml");
  const before = readFileSync(file, "utf8");
  writeFileSync(file, change(before));
  expect(readFileSync(file, "utf8")).not.toBe(before);
  const { stdout, status } = await cli(["audit", "r", "--json"], folder);
  const { findings } = JSON.parse(stdout) as { findings: { kind: string; address: string; message: string }[] };
  expect(status).toBe(findings.length > 0 ? 5 : 0);
  return findings.map(({ kind, message }) => `${kind}: ${message}`);
}

const swap = (a: string, b: string) => (text: string) =>
  text.replaceAll(a, "HERE").replaceAll(b, a).replaceAll("HERE", b);
const db = "StatefulSet/default:db";
const wrong = (last: number, uses: number, has: number) =>
  `wrong-owner: 10.0.0.${last} is used by ${db} ${uses}/net1, but recorded for ${db}/${has}/net1`;
const twice = (last: number, one: number, other: number) =>
  `duplicate: 10.0.0.${last} is configured on ${db} ${one}/net1 and on ${db} ${other}/net1`;
const lost = (last: number, has: number) =>
  `leaked: 10.0.0.${last} is recorded for ${db}/${has}/net1, but nothing uses it`;

it.each<[string, (text: string) => string, string[]]>([
  [
    "two pods have one address, one of them in place of its own",
    (text) => text.replace("10.0.0.3/26", "10.0.0.2/26"),
    [twice(2, 1, 2), wrong(2, 2, 1), lost(3, 2)],
  ],
  [
    "a pod has that of another one, which is first in the file",
    (text) => text.replace("10.0.0.1/26", "10.0.0.2/26"),
    [lost(1, 0), twice(2, 1, 0), wrong(2, 0, 1)],
  ],
  ["a copied entry", (text) => text.replace(/^( *)db-2(.*)$/m, "$&\n$1db-9$2"), [twice(3, 2, 9), wrong(3, 9, 2)]],
  ["two entries have changed places", swap("db-1:", "db-2:"), [wrong(2, 2, 1), wrong(3, 1, 2)]],
  ["a comment", (text) => `# checked\n${text}`, []],
])("audit finds: %s", async (_, change, want) => {
  expect(await found(await rendered("StatefulSet"), change)).toEqual(want);
});

it("audit finds what pods of a Deployment have twice, and on which of their networks", async () => {
  const folder = await rendered("Deployment", "red, red@eth5");
  const web = "Deployment/default:db";
  expect(await found(folder, (text) => text.replace("10.0.0.1/26", "10.0.0.2/26"))).toEqual([
    `leaked: 10.0.0.1 is recorded for ${web}/0/eth5, but nothing uses it`,
    `duplicate: 10.0.0.2 is configured on ${web} 0/net1 and on ${web} 0/eth5`,
    `wrong-owner: 10.0.0.2 is used by ${web} 0/eth5, but recorded for ${web}/0/net1`,
  ]);
});

it("audit finds nothing where a pod has one address in two networks", async () => {
  const pools = ["p", "q"].map((name) => poolText(`  network: ${name}\n  range: {cidr: 10.0.0.0/26}`, name));
  const objects = [
    macvlanNetwork("red", "p"),
    macvlanNetwork("blue", "q"),
    workload("StatefulSet", "db", { replicas: 2 }, "red, blue"),
  ];
  const folder = folderOf({ "m/a.yaml": [...pools, ...objects.map((one) => JSON.stringify(one))].join("\n---\n") });
  await done(folder, "allocate", "m");
  await done(folder, "render", "m", "--out", "r");
  expect(await done(folder, "audit", "r", "m")).toContain("2 addresses checked, 0 findings");
});
