import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { quoteInfra } from "../../../integrations/metal3/quote-infra.ts";
import { exampleText } from "../../support/cli/metal3-infra.ts";
import { cli, filesOf, folderOf } from "../../support/schema/cli.ts";

const seed = quoteInfra(exampleText("seed.yaml"));

async function allocated(): Promise<string> {
  const folder = folderOf({ "infra.yaml": seed });
  expect(await cli(["allocate"], folder)).toMatchObject({ stderr: "", status: 0 });
  return folder;
}

describe("mv of hosts", () => {
  it.each([
    ["nodepool1", "workers", ["Host/controllers.node-0", "Host/workers.node-0"]],
    ["nodepool1.node-0", "nodepool1.w0", ["Host/controllers.node-0", "Host/nodepool1.w0"]],
  ])("%s to %s: nobody moves when the file says so, too", async (from, to, owners) => {
    const folder = await allocated();
    expect(await cli(["mv", from, to], folder)).toMatchObject({
      stdout: expect.stringContaining("Renamed 2 claims in nodeippool.lock; no address moved."),
      status: 0,
    });
    const lock = readFileSync(join(folder, "nodeippool.lock"), "utf8");
    expect([...new Set([...lock.matchAll(/Host\/[^/]*/g)].map(([owner]) => owner))]).toEqual(owners);
    const [unit, host] = to.includes(".") ? (to.split(".") as [string, string]) : [to, "node-0"];
    const [controllers, nodepools] = seed.split("nodepools:") as [string, string];
    const renamed = nodepools.replace("  nodepool1:", `  ${unit}:`).replace("node-0:", `${host}:`);
    writeFileSync(join(folder, "infra.yaml"), `${controllers}nodepools:${renamed}`);
    expect((await cli(["plan"], folder)).stdout).toContain("Plan: 0 to allocate, 4 kept, 0 to release.");
  });

  it("a unit goes to another claim set as a whole", async () => {
    const folder = await allocated();
    expect(await cli(["mv", "nodepool1", "--to-set", "blue"], folder)).toMatchObject({ status: 0 });
    expect(readFileSync(join(folder, "nodeippool.lock"), "utf8").match(/nodepool1.*"set":"blue"/g)).toHaveLength(2);
  });

  it.each([
    [
      ["net0", "lan0"],
      "net0 is a network, whose hosts have addresses of it; mv renames hosts and units\n  Call it net0 in the file",
    ],
    [["Host/controllers.node-0/net0", "Host/controllers.node-0/lan0"], "net0 is a network"],
    [["nodepool1", "a.b"], "the name of a host: expected UNIT.HOST"],
    [["nodepool1", "controllers"], "Host/controllers.node-0/net0 already holds an address"],
    [["nodepool2", "workers"], "no allocation is named nodepool2"],
  ])("%j is refused, and nothing is written", async (args, message) => {
    const folder = await allocated();
    const before = filesOf(folder);
    const { stderr, status } = await cli(["mv", ...args], folder);
    expect(stderr).toContain(message);
    expect(status).toBeGreaterThan(1);
    expect(filesOf(folder)).toEqual(before);
  });
});

describe("hints name what the file has", () => {
  const refused = /exclude|reserv|spec\./i;

  it.each([
    ["0.77", "take it out of infra.networks.net1.addresses", "192.168.1.12"],
    ["0.77", "let infra.networks.net0 have addresses without it, and no addressRange", "192.168.0.77"],
  ])("an address that a text has, and the network may give: %s", async (_, hint, address) => {
    const folder = await allocated();
    writeFileSync(
      join(folder, "vip.yaml"),
      `apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ip: ${address}}\n`,
    );
    const { stdout } = await cli(["audit", "vip.yaml"], folder);
    expect(stdout).toContain(`named here, and may be given to anybody: ${hint}`);
    expect(stdout).not.toMatch(refused);
  });

  it.each([
    ["a machine that is no host", "db-1,eth0,192.168.1.12\n", "take it out of infra.networks.net1.addresses"],
    [
      "one address on two hosts",
      "controllers.node-0,a,192.168.1.12\nnodepool1.node-0,a,192.168.1.12\n",
      "if several are to have it, take it out",
    ],
    [
      "two addresses of a network on a host",
      "controllers.node-0,a,192.168.1.12\ncontrollers.node-0,b,192.168.1.15\n",
      "It has one address of this pool",
    ],
    ["an address that is the gateway's", "controllers.node-0,a,192.168.0.1\n", ""],
  ])("import of %s", async (_, list, hint) => {
    const folder = folderOf({ "infra.yaml": seed, "f.csv": list });
    const { stderr } = await cli(["import", "f.csv"], folder);
    expect(stderr).toContain(hint);
    expect(stderr).not.toMatch(refused);
  });

  it.each([
    ["start: 192.168.0.10", "start: 192.168.0.11", "hands it out no more (addressRange, gateway, dnsServers)"],
    ["gateway: 192.168.0.1\n", "gateway: 192.168.0.10\n", "Give the pool that address back, or allow the move"],
  ])("a network that has an address no more: %s", async (from, to, message) => {
    const folder = await allocated();
    writeFileSync(join(folder, "infra.yaml"), seed.replace(from, to));
    const { stderr, status } = await cli(["plan"], folder);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(refused);
    expect(status).toBe(3);
  });
});

describe("what no host can have is refused, with its line", () => {
  const edge = exampleText("rack.yaml");

  it.each([
    [
      'ens1f1: "52:54:00:01:00:02"',
      'ens1f1: "ff:ff:ff:ff:ff:ff"',
      "ff:ff:ff:ff:ff:ff is no MAC address of a NIC: it is multicast",
    ],
    [
      'ens1f1: "52:54:00:01:00:02"',
      'ens1f1: "00:00:00:00:00:00"',
      "00:00:00:00:00:00 is no MAC address of a NIC: it is all zeros",
    ],
    [
      'ens1f1: "52:54:00:01:00:02"',
      'ens1f1: "33:33:00:00:00:01"',
      "33:33:00:00:00:01 is no MAC address of a NIC: it is multicast",
    ],
    [
      "- destination: 10.0.0.0/8\n",
      "- default: true\n",
      "there is a default route of IPv4 already over 10.20.0.1\n  A host has one",
    ],
    ["next_hop: 10.20.0.254", "next_hop: 10.99.0.254", "no address here is in a network with the next hop 10.99.0.254"],
    [
      "next_hop: 10.20.0.254",
      "next_hop: 2001:db8:99::1",
      "no address here is in a network with the next hop 2001:db8:99::1",
    ],
    ["mtu: 9000", "mtu: 67", "mtu is a whole number from 1280 (IPv6) to 65535, not 67"],
    ["mtu: 9000", "mtu: 1279", "mtu is a whole number from 1280 (IPv6) to 65535, not 1279"],
    ["mtu: 9000", "mtu: 65536", "to 65535, not 65536"],
    ["mtu: 9000", 'mtu: "9000"', "to 65535, not 9000"],
  ])("%s -> %s", async (from, to, message) => {
    expect(edge).toContain(from);
    const folder = folderOf({ "infra.yaml": edge.replace(from, to) });
    const { stderr, status } = await cli(["plan"], folder);
    const line = edge.slice(0, edge.indexOf(from)).split("\n").length;
    expect(stderr).toMatch(new RegExp(`^invalid: infra.yaml:${line}:\\d+: `));
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  });

  it.each([
    [
      "next_hop: 10.20.0.254",
      "next_hop: fe80::1",
      "      - destination: 10.0.0.0/8\n",
      "      - destination: 2001:db8:99::/48\n",
    ],
    ["next_hop: 10.20.0.254", "next_hop: 10.21.0.254", "", ""],
    ["mtu: 9000", "mtu: 1280", "", ""],
    ['"52:54:00:01:00:02"', '"02:54:00:01:00:02"', "", ""],
  ])("but not %s -> %s", async (from, to, before, after) => {
    const folder = folderOf({ "infra.yaml": edge.replace(from, to).replace(before, after) });
    expect(await cli(["plan"], folder)).toMatchObject({ stderr: "", status: 0 });
  });
});
