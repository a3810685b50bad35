import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { identifierOf, otherNames } from "../../../integrations/nmstate/nic-names.ts";
import { cli, folderOf } from "../../support/schema/cli.ts";
import { nicPolicyText, poolText } from "../../support/schema/text.ts";

describe("otherNames of a report", () => {
  const rows: [what: string, report: string, names: Record<string, string>][] = [
    [
      "alternative names",
      "[{name: eth0, alt-names: [{name: ens18}, {name: enp0s18}]}]",
      { ens18: "eth0", enp0s18: "eth0" },
    ],
    ["not one that another NIC has itself", "[{name: eth0, alt-names: [{name: eth1}]}, {name: eth1}]", {}],
    [
      "a profile that finds its NIC by MAC address",
      "[{name: eth0, profile-name: storage, identifier: mac-address, mac-address: AA:00}]",
      { storage: "eth0", "mac-address aa:00": "eth0" },
    ],
    ["no other profile", "[{name: eth0, profile-name: Wired connection 1, identifier: name}]", {}],
    [
      "PCI addresses, with or without a domain",
      "[{name: eth0, pci-address: '00:1f.6'}]",
      { "pci-address 0000:00:1f.6": "eth0" },
    ],
    [
      "a MAC address that ports have, too: the permanent one counts",
      "[{name: bond0, mac-address: aa:00}, {name: eth0, mac-address: aa:00, permanent-mac-address: AA:00}]",
      { "mac-address aa:00": "eth0" },
    ],
    [
      "virtual functions",
      "[{name: eth0, ethernet: {sr-iov: {vfs: [{id: 0, iface-name: eth0v0}, {id: 1, iface-name: ''}]}}}]",
      { "sriov:eth0:0": "eth0v0" },
    ],
    [
      "names that YAML reads as no text",
      "[{name: 101, alt-names: [{name: ens18}]}, {name: true}, {name: ~}, {}]",
      { ens18: "101" },
    ],
  ];
  it.each(rows)("%s", (_, report, names) => {
    expect(Object.fromEntries(otherNames(parse(report)))).toEqual(names);
  });

  it("identifiers are spelt alike", () => {
    expect(identifierOf({ identifier: "mac-address", "mac-address": "aA:0b" })).toBe("mac-address aa:0b");
    expect(identifierOf({ identifier: "name", "mac-address": "aa" })).toBeUndefined();
  });
});

/** Reports of node n1, of which some NIC has 10.0.0.9. */
function reportOf(nic: string): string {
  const ipv4 = "ipv4: {enabled: true, address: [{ip: 10.0.0.9, prefix-length: 24}]}";
  return JSON.stringify({
    apiVersion: "nmstate.io/v1beta1",
    kind: "NodeNetworkState",
    metadata: { name: "n1" },
    status: { currentState: { interfaces: parse(`[{${nic}, type: ethernet, state: up, ${ipv4}}]`) } },
  });
}

const args = ["manifests", "--nodes", "nodes.txt"];

describe("a NIC that the policy and the node call differently", () => {
  const names: [nic: string, more: string, reported: string][] = [
    ["ens18", "", "name: eth0, alt-names: [{name: ens18}]"],
    [
      "storage",
      "\n      identifier: mac-address\n      mac-address: aa:bb:cc:dd:ee:ff",
      "name: eth0, mac-address: AA:BB:CC:DD:EE:FF",
    ],
    [
      "storage",
      "\n      identifier: pci-address\n      pci-address: '00:1f.6'",
      "name: eth0, pci-address: '0000:00:1f.6'",
    ],
    ["storage", "", "name: eth0, profile-name: storage, identifier: mac-address, mac-address: AA:BB:CC:DD:EE:FF"],
    ["'101'", "", "name: 101"],
  ];
  it.each(names)("%s%s: %s", async (nic, more, reported) => {
    const policy = nicPolicyText("a", ["p"], nic).replace("type: ethernet", `type: ethernet${more}`);
    const folder = folderOf({
      "nodes.txt": "n1\nn2\n",
      "manifests/a.yaml": `${poolText()}---\n${policy}`,
      "nns.json": reportOf(reported),
    });
    const imported = await cli(["import", "nns.json", ...args], folder);
    expect(imported.stdout).toContain("+ 10.0.0.9  n1  a/p");
    await cli(["allocate", ...args], folder);
    await cli(["render", ...args, "--out", "rendered"], folder);
    const audited = await cli(["audit", "rendered", "nns.json", "--nodes", "nodes.txt"], folder);
    expect(audited.stdout).toBe("2 addresses checked, 0 findings\n");
  });

  it("is proven to have lost an address by the report of its other name", async () => {
    const folder = folderOf({
      "nodes.txt": "n1\nn2\n",
      "manifests/a.yaml": `${poolText()}---\n${nicPolicyText("a", ["p"], "ens18")}`,
    });
    await cli(["allocate", ...args], folder);
    writeFileSync(join(folder, "nodes.txt"), "n2\n");
    await cli(["allocate", ...args], folder);
    // Evidence is from after the record.
    writeFileSync(join(folder, "nns.json"), reportOf("name: eth0, alt-names: [{name: ens18}]"));
    const { stdout } = await cli(["release", "--evidence", "nns.json"], folder);
    expect(stdout).toContain("Freed 1 address");
  });
});

it("one duplicate between a policy and a report that calls its NIC differently is none", async () => {
  const hand = `apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: hand}
spec:
  nodeSelector: {kubernetes.io/hostname: n1}
  desiredState: {interfaces: [{name: ens18, ipv4: {enabled: true, address: [{ip: 10.0.0.9, prefix-length: 24}]}}]}
`;
  const reserved = "  range: {cidr: 10.0.0.0/24}\n  reservations: [{address: 10.0.0.9, owner: Node/n1}]";
  const folder = folderOf({
    "m/a.yaml": `${poolText(reserved)}---\n${hand}`,
    "nns.json": reportOf("name: eth0, alt-names: [{name: ens18}]"),
    "nodes.txt": "n1\n",
    "nodeippool.lock": "",
  });
  const { stdout } = await cli(["audit", "m", "nns.json", "--nodes", "nodes.txt"], folder);
  expect(stdout).not.toContain("duplicate");
});
