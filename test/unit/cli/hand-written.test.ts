import { describe, expect, it } from "vitest";
import { proposeFor, readWorkspace } from "../../../cli/workspace.ts";
import { firstRefusal } from "../../../pipeline/guards.ts";
import { poolOf, recordOf } from "../../support/core/text.ts";
import { cli, filesOf, manifests, projectOf } from "../../support/schema/cli.ts";
import { documentsOf, nicPolicyText, poolText } from "../../support/schema/text.ts";

const byHand = (node: string, ip: string, nic = "eth9") => `apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata: {name: by-hand}
spec:
  nodeSelector: {kubernetes.io/hostname: ${node}}
  desiredState:
    interfaces:
    - {name: ${nic}, ipv4: {enabled: true, address: [{ip: ${ip}, prefix-length: 29}]}}
`;

const inLists = (text: string, depth: number): string =>
  depth === 0
    ? text
    : inLists(`apiVersion: v1\nkind: List\nitems:\n- ${text.trimEnd().replaceAll("\n", "\n  ")}\n`, depth - 1);

describe("what the record has beyond the plan of a folder", () => {
  const record = recordOf(
    ["10.0.0.5 Node/n7/b/p set=other if=eth1", "10.0.0.6 Node/n8/b/p set=other if=eth1 releasing"],
    [poolOf("p", "10.0.0.0/29")],
  );
  const refused = async (text: string) => {
    const folder = projectOf({ "manifests/hand.yaml": text });
    const options = { nodes: `${folder}/nodes.txt`, lock: `${folder}/nodeippool.lock`, set: "default" };
    const workspace = await readWorkspace(`${folder}/manifests`, options);
    return firstRefusal(proposeFor(workspace, record, options))?.message ?? "nothing";
  };

  it.each([
    ["10.0.0.5", "gw1", "10.0.0.5 is used by Node/gw1 eth9, but recorded for Node/n7/b/p"],
    ["10.0.0.6", "gw1", "10.0.0.6 is used by Node/gw1 eth9, but recorded for Node/n8/b/p"],
    ["10.0.0.5", "n7", "10.0.0.5 is used by Node/n7 eth9, but recorded for eth1"],
    ["10.0.0.6", "n8", "nothing"],
  ])("%s for %s", async (ip, node, message) => {
    expect(await refused(byHand(node, ip))).toContain(message);
  });
});

describe("an address of a pool that a policy in the folder writes out", () => {
  it.each([
    [
      "for another node",
      byHand("gw1", "10.0.0.1"),
      3,
      "manifests/hand.yaml:8:57: 10.0.0.1 is used by Node/gw1 eth9, but recorded for Node/n1/a/p",
    ],
    ["for the node that holds it, on its NIC", byHand("n1", "10.0.0.1", "eth1"), 0, ""],
    [
      "for the node that holds it, on another NIC",
      byHand("n1", "10.0.0.1"),
      3,
      "manifests/hand.yaml:8:57: 10.0.0.1 is used by Node/n1 eth9, but recorded for eth1",
    ],
    [
      "for the node that holds it, on a NIC that it finds itself",
      byHand("n1", "10.0.0.1", '"{{ capture.c.interfaces.0.name }}"'),
      0,
      "",
    ],
    ["outside of the pool", byHand("gw1", "10.9.0.1"), 0, ""],
    ["for a NIC that is off", byHand("gw1", "10.0.0.1").replace("enabled: true", "enabled: false"), 0, ""],
  ])("%s", async (_, text, status, message) => {
    const folder = projectOf({ "manifests/hand.yaml": text });
    const before = filesOf(folder);
    const ran = await cli(["allocate", "manifests", "--nodes", "nodes.txt"], folder);
    expect(ran.stderr).toContain(message);
    expect(ran.status).toBe(status);
    if (status !== 0) expect(filesOf(folder)).toEqual(before);
  });

  it("for several nodes at once, beside what it takes from the pool", async () => {
    const literal = (ip: string) => nicPolicyText("b", ["p"], "eth2").replace('ip: "{{ capture.p.ip }}"', `ip: ${ip}`);
    const planned = (ip: string, nodes: string) =>
      cli(
        ["plan", "manifests", "--nodes", "nodes.txt"],
        projectOf({
          "manifests/a.yaml": documentsOf(poolText("  range: {cidr: 10.0.0.0/29}"), literal(ip)),
          "nodes.txt": nodes,
        }),
      );
    expect(await planned("10.0.0.6", "n1\nn2\n")).toMatchObject({
      status: 3,
      stderr: expect.stringMatching(/10\.0\.0\.6 is configured on Node\/n1 eth2 and on Node\/n2 eth2/),
    });
    expect(await planned("10.0.0.6", "n1\n")).toMatchObject({ status: 0 });
    expect(await planned("10.9.0.6", "n1\nn2\n")).toMatchObject({ status: 0 });
  });

  it.each([
    ["range: {cidr: 10.0.0.0/29, exclude: [10.0.0.6]}", []],
    ["range: {cidr: 10.0.0.0/29}\n  reservations: [{address: 10.0.0.6}]", []],
    ["range: {cidr: 10.0.0.0/29, exclude: [10.0.0.6]}", ["--nodes", "nodes.txt"]],
  ])("for several nodes, which is meant: %s, audit %j", async (spec, known) => {
    const bridge = byHand("all", "10.0.0.6", "br0").replace(
      "nodeSelector: {kubernetes.io/hostname: all}",
      "nodeSelector: {}",
    );
    const br0 = "    - {name: br0, ipv4: {enabled: true, address: [{ip: 10.0.0.6, prefix-length: 29}]}}\n";
    const own = nicPolicyText("b", ["p"], "eth2").replace("    - name: eth2", `${br0}$&`);
    for (const policy of [bridge, own]) {
      const folder = projectOf({
        "manifests/a.yaml": documentsOf(poolText(`  ${spec}`), policy),
        "nodes.txt": "n1\nn2\n",
      });
      expect(await cli(["allocate", "manifests", "--nodes", "nodes.txt"], folder)).toMatchObject({
        stderr: "",
        status: 0,
      });
      await cli(["render", "manifests", "--nodes", "nodes.txt", "--out", "rendered"], folder);
      const audit = await cli(["audit", "rendered", ...known], folder);
      expect([audit.stdout, audit.status]).toEqual([expect.stringContaining(" 0 findings\n"), 0]);
    }
  });

  it.each([
    ["eth1", "32", 2],
    ["eth1", '"32"', 2],
    ["eth1", "29", 0],
    ["lo", "32", 0],
    ["lo", "24", 2],
  ])("on %s with prefix length %s: plan refuses what audit would report", async (nic, length, status) => {
    const template = '"{{ capture.p.prefix-length }}"';
    const policy = nicPolicyText("a", ["p"], nic)
      .replace(template, length)
      .replace("ethernet", nic === "lo" ? "loopback" : "ethernet");
    const folder = projectOf({ "manifests/a.yaml": documentsOf(poolText("  range: {cidr: 10.0.0.0/29}"), policy) });
    const { stderr, status: got } = await cli(["allocate", "manifests", "--nodes", "nodes.txt"], folder);
    expect([got, stderr.includes("the prefix length")]).toEqual([status, status !== 0]);
    if (status !== 0) return;
    await cli(["render", "manifests", "--nodes", "nodes.txt", "--out", "rendered"], folder);
    expect(await cli(["audit", "rendered"], folder)).toMatchObject({
      stdout: expect.stringContaining(" 0 findings"),
      status: 0,
    });
  });

  it("with another prefix length than its pool has", async () => {
    const folder = projectOf({
      "manifests/hand.yaml": byHand("n1", "10.0.0.1", "eth1").replace("length: 29", "length: 24"),
    });
    expect(await cli(["plan", "manifests", "--nodes", "nodes.txt"], folder)).toMatchObject({
      stderr: expect.stringContaining("10.0.0.1 has prefix length 24 on Node/n1 eth1, but pool p has /29"),
      status: 3,
    });
  });

  it("of two networks, where the node holds it in one of them", async () => {
    const policyOn = (node: string, name: string, pool: string) =>
      nicPolicyText(name, [pool], "eth1", `  nodeSelector: {kubernetes.io/hostname: ${node}}\n`);
    const folderWith = (node: string) =>
      projectOf({
        "manifests/a.yaml": documentsOf(
          poolText("  range: {cidr: 10.0.0.0/29}\n  network: blue", "blue"),
          poolText("  range: {cidr: 10.0.0.0/29}\n  network: green", "green"),
          policyOn("n1", "a", "blue"),
          policyOn("n2", "b", "green"),
          byHand(node, "10.0.0.1", "eth1"),
        ),
      });
    const plan = ["plan", "manifests", "--nodes", "nodes.txt"];
    expect(await cli(plan, folderWith("n1"))).toMatchObject({ stderr: "", status: 0 });
    expect(await cli(plan, folderWith("gw1"))).toMatchObject({
      stderr: expect.stringContaining(
        "10.0.0.1 is used by Node/gw1 eth1, but recorded for Node/n1/a/blue, Node/n2/b/green",
      ),
      status: 3,
    });
  });

  it.each([1, 2, 3])("for another node, %i Lists deep", async (depth) => {
    const folder = projectOf({ "manifests/hand.yaml": inLists(byHand("gw1", "10.0.0.1"), depth) });
    const { status, stderr } = await cli(["allocate", "manifests", "--nodes", "nodes.txt"], folder);
    expect(stderr).toContain("10.0.0.1 is used by Node/gw1 eth9, but recorded for Node/n1/a/p");
    expect(status).toBe(3);
  });

  it("beside its own claim", async () => {
    const twice = manifests.replace(
      /(\n *)- ip: "?\{\{[^\n]*/,
      (claim, indent) => `${claim}${indent}  prefix-length: 29${indent}- ip: 10.0.0.2`,
    );
    expect(twice).toContain("10.0.0.2");
    const { stderr, status } = await cli(
      ["plan", "manifests", "--nodes", "nodes.txt"],
      projectOf({ "manifests/a.yaml": twice }),
    );
    expect({ stderr, status }).toEqual({
      stderr: expect.stringMatching(/10\.0\.0\.2 is used by Node\/n1 eth1, but recorded for Node\/n2\/a\/p/),
      status: 3,
    });
  });
});

describe("what a policy without pools has for an address is text where it is none:", () => {
  it.each(["CHANGEME", "_replaced_", "10.0.0.01", "10.0.0.1/24", "::ffff:10.0.0.1", "{{ .Values.ip }}"])(
    "%s",
    async (ip) => {
      const hand = byHand("gw1", JSON.stringify(ip));
      const folder = projectOf({ "manifests/hand.yaml": hand });
      const options = ["manifests", "--nodes", "nodes.txt"];
      expect(await cli(["allocate", ...options], folder)).toMatchObject({ stderr: "", status: 0 });
      expect(await cli(["render", ...options, "--out", "out"], folder)).toMatchObject({ stderr: "", status: 0 });
      expect(filesOf(`${folder}/out`)["hand.yaml"]).toBe(hand);
      expect(await cli(["audit", "out", "--nodes", "nodes.txt"], folder)).toMatchObject({ stderr: "", status: 0 });
    },
  );

  it.each(["64:ff9b::192.0.2.1", "64:FF9B::C000:0201", "64:ff9b:0:0:0:0:c000:201"])(
    "%s is an address, and a duplicate is found in it",
    async (ip) => {
      const pool = '  range: {cidr: "64:ff9b::/96"}\n  reservations: [{address: "64:ff9b::c000:201", owner: Node/n1}]';
      const hand = byHand("gw1", JSON.stringify(ip)).replace("ipv4", "ipv6");
      const text = documentsOf(poolText(pool, "six"), nicPolicyText("a", ["six"]), hand);
      const folder = projectOf({ "manifests/a.yaml": text });
      const { status, stderr } = await cli(["plan", "manifests", "--nodes", "nodes.txt"], folder);
      expect(stderr).toContain("64:ff9b::c000:201 is used by Node/gw1 eth9, but recorded for Node/n1/a/six");
      expect(status).toBe(3);
    },
  );
});
