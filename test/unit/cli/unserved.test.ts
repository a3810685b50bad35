import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Bag } from "../../../schema/objects.ts";
import { done } from "../../support/cli/outcome.ts";
import { definition, macvlanNetwork, ovnNetwork, vm } from "../../support/objects/vm-objects.ts";
import { networksKey } from "../../support/objects/workload-objects.ts";
import { cli, folderOf } from "../../support/schema/cli.ts";
import { nicPolicyText, poolText } from "../../support/schema/text.ts";

const textOf = (...objects: readonly Bag[]) => objects.map((one) => JSON.stringify(one)).join("\n---\n");

function set(annotations: Bag, spec: Bag = {}): Bag {
  const template = { metadata: { annotations }, spec: {} };
  return { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name: "web" }, spec: { template, ...spec } };
}

const red = macvlanNetwork("red", "lan");
const blue = ovnNetwork("blue", { subnets: "192.168.10.0/24" });
const slices = definition("storage", "apps", {
  ...{ name: "storage", type: "ipvlan" },
  ipam: { type: "whereabouts", range: "10.1.0.0/16", node_slice_size: "/24" },
});
const lan = poolText("  range: {cidr: 10.20.0.0/24}", "lan");
const web = set({ [networksKey]: "red" });
const machine = vm("vm-a", { blue: "blue-netconfig" });
const inFolder = (...objects: readonly Bag[]) =>
  folderOf({
    "m/a.yaml": `${poolText()}---\n${nicPolicyText("a")}`,
    "m/b.yaml": `${lan}---\n${textOf(...objects)}`,
    "nodes.txt": "n1\n",
  });
const run = (folder: string, verb: string) => cli([verb, "m", "--nodes", "nodes.txt"], folder);

/** An object that has addresses, what becomes of it, and what its owner is told. */
const broken: [what: string, before: readonly Bag[], after: readonly Bag[], told: string][] = [
  ["networks that are no JSON any more", [red, web], [red, set({ [networksKey]: '[{"name":"red"' })], "are no JSON"],
  [
    "a number of pods that is none",
    [red, web],
    [red, set({ [networksKey]: "red" }, { replicas: "x" })],
    "replicas must be",
  ],
  [
    "a typo in an annotation",
    [red, web],
    [red, set({ [networksKey]: "red", "nodeippool.nmstate.io/poool": "lan" })],
    "unknown annotation nodeippool.nmstate.io/poool",
  ],
  ["a second one of its name", [red, web], [red, web, web], "StatefulSet web is defined twice"],
  ["a network that is no JSON any more", [red, web], [{ ...red, spec: { config: "{" } }, web], "takes no addresses"],
  [
    "two NICs of Spiderpool with one name",
    [red, web],
    [
      red,
      set({
        [networksKey]: "red",
        "ipam.spidernet.io/ippools": '[{"interface":"net1","ipv4":["lan"]},{"interface":"net1","ipv4":["p"]}]',
      }),
    ],
    "names interface net1 twice",
  ],
  [
    "addresses that are no JSON",
    [blue, machine],
    [blue, vm("vm-a", { blue: "blue-netconfig" }, { wanted: { blue: ["ten"] } })],
    '"ten" is not an IP address',
  ],
  [
    "a network of VMs that cannot be read",
    [blue, machine],
    [{ ...blue, spec: { config: '{"allowPersistentIPs"' } }, machine],
    "config is no JSON",
  ],
  [
    "a slice size that is none",
    [slices],
    [{ ...slices, spec: { config: `${(slices.spec as Bag).config}`.replace('"/24"', '"x"') } }],
    "node_slice_size",
  ],
];

describe("an object that had addresses, and cannot be served now", () => {
  it.each(broken)("%s: keeps them, its owner is told, and others are planned", async (_, before, after, told) => {
    const folder = inFolder(...before);
    await done(folder, "allocate", "m", "--nodes", "nodes.txt");
    const lock = () => readFileSync(join(folder, "nodeippool.lock"), "utf8");
    const kept = lock().match(/^- \{"address.*$/gm);
    expect(kept).toHaveLength(2);
    writeFileSync(join(folder, "m/b.yaml"), `${lan}---\n${textOf(...after)}`);
    writeFileSync(join(folder, "nodes.txt"), before.includes(slices) ? "n1\n" : "n1\nn2\n");
    for (const verb of ["plan", "allocate", "render"]) {
      const { status, stdout, stderr } = await run(folder, verb);
      expect([verb, status, stderr]).toEqual([verb, 2, expect.stringContaining(told)]);
      expect(stdout).toMatch({ plan: /0 to release/, allocate: /0 to release/, render: /name: a--n1/ }[verb] as RegExp);
    }
    expect(lock().match(/^- \{"address.*$/gm)).toEqual(expect.arrayContaining(kept as string[]));
    expect(lock().includes("Node/n2/a/p")).toBe(!before.includes(slices));
    writeFileSync(join(folder, "m/b.yaml"), `${lan}---\n${textOf(...before)}`);
    await done(folder, "plan", "m", "--nodes", "nodes.txt");
  });
});

describe("a document that cannot be read", () => {
  const chart = JSON.stringify(set({ [networksKey]: "red" })).replace('"red"', "{{ .Values.networks }}");

  it("is not told of, as long as nothing that it may have is to be released", async () => {
    const folder = inFolder(red, web);
    await done(folder, "allocate", "m", "--nodes", "nodes.txt");
    writeFileSync(join(folder, "m/chart.yaml"), chart);
    expect(await done(folder, "plan", "m", "--nodes", "nodes.txt")).toContain("2 kept");
    writeFileSync(join(folder, "m/b.yaml"), `${lan}---\n${textOf(red)}`);
    const { status, stdout, stderr } = await run(folder, "plan");
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining("m/chart.yaml:1:1: this is a template, not a manifest"),
    ]);
    expect(stdout).toContain("0 to release");
  });
});

describe("a pool that has no address left because all are reserved", () => {
  it("is exhausted, for pods as for nodes", async () => {
    const full = poolText(
      "  range: {cidr: 10.20.0.0/30}\n  reservations: [{address: 10.20.0.1}, {address: 10.20.0.2}]",
      "lan",
    );
    const folder = folderOf({ "m/a.yaml": `${full}---\n${textOf(red, web)}` });
    const { status, stderr } = await cli(["plan", "m"], folder);
    expect([status, stderr]).toEqual([3, expect.stringContaining("all of its 2 addresses are reserved")]);
  });
});
