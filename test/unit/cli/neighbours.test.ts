import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesOf, idlePolicy, projectOf, run } from "../../support/schema/cli.ts";
import { objectsIn } from "../../support/schema/render.ts";
import { documentsOf, nicPolicyText, policyText, poolText } from "../../support/schema/text.ts";

const pools = documentsOf(
  poolText("  range: {cidr: 10.0.0.0/29}"),
  poolText("  range: {cidr: 10.1.0.0/29}", "q"),
  poolText("  range: {cidr: 2001:db8::/64}", "six"),
);
const v4 = "ipv4: {enabled: true, address: [{ip: '{{ capture.p.ip }}', prefix-length: 29}]}";
const v6 = "ipv6: {enabled: true, address: [{ip: '{{ capture.six.ip }}', prefix-length: 64}]}";
const claim = (name: string, pool: string, nics: string) =>
  policyText(`  capture: {${pool}: ippool.${pool}.allocate}\n  desiredState: {interfaces: [${nics}]}`, name);
const foreign = (nics: string, selector = "", name = "z") =>
  policyText(`  nodeSelector: {${selector}}\n  desiredState: {interfaces: [${nics}]}`, name);

async function planned(...policies: string[]) {
  const folder = projectOf({ "manifests/a.yaml": documentsOf(pools, ...policies) });
  const { stderr, status } = await run(folder, "plan");
  return { stderr, status };
}

const bomb = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}]`).join(", ");
const own = claim("a", "p", `{name: eth1, ${v4}}`);
const refused = (what: string, nic = "IPv4 addresses of eth1 on Node/n1") => ({
  status: 2,
  stderr: expect.stringContaining(`policies a and z (${what}) both set the ${nic}; nmstate replaces the whole list`),
});

describe("a policy that wipes what another one takes from a pool", () => {
  it.each([
    ["dhcp: true", "{name: eth1, ipv4: {enabled: true, dhcp: true}}"],
    ["enabled: false", "{name: eth1, ipv4: {enabled: false}}"],
    ["state: absent", "{name: eth1, state: absent}"],
    ["enabled: false", '{name: eth1, ipv4: {enabled: "False"}}'],
    ["enabled: false", '{name: eth1, ipv4: {enabled: "no", dhcp: true}}'],
    ["enabled: false", "{name: eth1, ipv4: {enabled: 0}}"],
    ["dhcp: true", '{name: eth1, ipv4: {enabled: "1", dhcp: "TRUE"}}'],
    ["address: 10.9.9.9", "{name: eth1, ipv4: {enabled: true, address: [{ip: 10.9.9.9, prefix-length: 24}]}}"],
    ["an address list", "{name: eth1, ipv4: {enabled: true, address: []}}"],
    ["a port of another interface", "{name: bond0, type: bond, link-aggregation: {mode: active-backup, port: [eth1]}}"],
    ["state: down", "{name: eth1, state: down}"],
    [
      "a port of another interface",
      "{name: br0, type: ovs-bridge, bridge: {port: [{name: b, link-aggregation: {mode: lacp, port: [{name: eth1}]}}]}}",
    ],
    ["a port of another interface", "{name: br0, type: linux-bridge, bridge: {port: [{name: eth1}]}}"],
    ["a port of another interface", "{name: br0, bridge: {ports: [{name: eth1}]}}"],
    ["a port of another interface", "{name: br0, type: linux-bridge}, {name: eth1, type: ethernet, controller: br0}"],
    ["a port of another interface", "{name: bond0, type: bond, link-aggregation: {ports: [eth1]}}"],
    ["a port of another interface", "{name: bond0, type: bond, link-aggregation: {ports-config: [{name: eth1}]}}"],
    ["a port of another interface", "{name: h, type: hsr, hsr: {port1: eth3, port2: eth1, protocol: prp}}"],
  ])("%s: written by hand, and beside a claim of its own", async (what, nic) => {
    expect(await planned(own, foreign(nic))).toEqual(refused(what));
    expect(await planned(own, claim("z", "p", `{name: eth2, ${v4}}, ${nic}`))).toEqual(refused(what));
  });

  it("in a List", async () => {
    const [head, ...rest] = foreign("{name: eth1, state: absent}").trimEnd().split("\n");
    const list = `apiVersion: v1\nkind: List\nitems:\n- ${head}\n${rest.map((line) => `  ${line}\n`).join("")}`;
    expect(await planned(own, list)).toEqual(refused("state: absent"));
  });

  it.each([
    ["enabled: false", "{name: eth2, ipv4: &off {enabled: no}}, {name: eth1, ipv4: *off}"],
    ["state: absent", "{name: &nic eth1, type: ethernet, state: absent}, {name: v, vlan: {base-iface: *nic, id: 2}}"],
    ["state: absent", "{name: v, vlan: {base-iface: &nic eth1, id: 2}}, {name: *nic, state: absent}"],
    ["dhcp: true", "{name: eth2, ipv4: &d {dhcp: true}}, {name: eth1, ipv4: {<<: *d, enabled: true}}"],
    ["address: 10.9.9.9", "{name: a, x: &l [{ip: 10.9.9.9}]}, {name: eth1, ipv4: {enabled: true, address: *l}}"],
  ])("%s, written with aliases", async (what, nics) => {
    expect(await planned(own, foreign(nics))).toEqual(refused(what));
  });

  it("writes an address of the plan out by an alias", async () => {
    const nics = "{name: a, x: &l [{ip: 10.0.0.1}]}, {name: eth3, ipv4: {enabled: true, address: *l}}";
    const { status, stderr } = await planned(own, foreign(nics, "kubernetes.io/hostname: n2"));
    expect(stderr).toContain("10.0.0.1 is used by Node/n2 eth3, but recorded for Node/n1/a/p");
    expect(status).toBe(3);
  });

  it("writes a free address of a pool out for several nodes: each of them would have it", async () => {
    const nic = "{name: eth5, ipv4: {enabled: true, address: [{ip: 10.0.0.6, prefix-length: 29}]}}";
    const { status, stderr } = await planned(own, foreign(nic));
    expect(stderr).toMatch(/10\.0\.0\.6 is configured on Node\/n1 eth5 and on Node\/n2 eth5/);
    expect(status).toBe(3);
    expect(await planned(own, foreign(nic, "kubernetes.io/hostname: n2"))).toEqual({ stderr: "", status: 0 });
  });

  it("each the family of the other one", async () => {
    const p4 = claim("a", "p", `{name: eth1, ${v4}, ipv6: {enabled: false}}`);
    const p6 = claim("z", "six", `{name: eth1, ipv4: {enabled: false}, ${v6}}`);
    const { stderr } = await planned(p4, p6);
    expect(stderr).toContain("policies z and a (enabled: false) both set the IPv6 addresses of eth1 on Node/n1");
  });

  it.each([
    ["another family", "{name: eth1, ipv6: {enabled: false}}", ""],
    ["another NIC", "{name: eth2, state: absent}", ""],
    ["another node", "{name: eth1, state: absent}", "kubernetes.io/hostname: n3"],
    ["a label that is not known of these nodes", "{name: eth1, state: absent}", "role: worker"],
    ["no family at all", "{name: eth1, state: up, mtu: 9000}, {name: v, vlan: {base-iface: eth1, id: 2}}", ""],
    ["a port of what goes", "{name: bond0, type: bond, state: absent, link-aggregation: {port: [eth1]}}", ""],
    ["what nmstate refuses", '{name: eth1, state: ABSENT, ipv4: {enabled: "never", dhcp: "maybe"}}', ""],
    ["a bomb of aliases", `{name: x, a0: &a0 [y], ${bomb}, b: *a9}, {name: eth1, state: absent}`, ""],
    ["an entry that nmstate ignores", "{name: eth1, state: ignore, ipv4: {enabled: false}}", ""],
    [
      "a VRF that it is in",
      "{name: v, type: vrf, vrf: {port: [eth1], route-table-id: 9}}, {name: eth1, controller: v}",
      "",
    ],
    ["a controller that may be a VRF", "{name: eth1, controller: v}", ""],
    ["a port of what is down", "{name: bond0, type: bond, state: down, link-aggregation: {port: [eth1]}}", ""],
    ["the bridge of the same name", "{name: eth1, type: ovs-bridge, state: absent}", ""],
    [
      "the very address",
      "{name: eth1, ipv4: {enabled: true, address: [{ip: 10.0.0.1, prefix-length: 29}]}}",
      "kubernetes.io/hostname: n1",
    ],
  ])("but not %s", async (_, nic, selector) => {
    expect(await planned(own, foreign(nic, selector))).toEqual({ stderr: "", status: 0 });
  });

  it("also what was rendered of the policy itself, and has another name now", async () => {
    const rendered = (name: string) =>
      foreign("{name: eth1, ipv4: {enabled: false}}", "kubernetes.io/hostname: n1").replace(
        "{name: z}",
        `{name: ${name}, labels: {nodeippool.nmstate.io/policy: a}}`,
      );
    expect((await planned(own, rendered("a--n1"))).stderr).toContain(
      "NodeNetworkConfigurationPolicy a--n1 is written by your own manifests and by NodeNetworkConfigurationPolicy a",
    );
    expect(await planned(own, rendered("z"))).toEqual(refused("enabled: false"));
  });

  it("but not the bridge that an internal port of Open vSwitch is in", async () => {
    const bridge = "{name: br1, type: ovs-bridge, bridge: {port: [{name: eth1}]}}";
    const port = claim("a", "p", `{name: eth1, type: ovs-interface, ${v4}}`);
    expect(await planned(port, foreign(bridge))).toEqual({ stderr: "", status: 0 });
    expect(await planned(own, foreign(bridge))).toEqual(refused("a port of another interface"));
  });
});

describe("clean-up of a NIC that another policy of the folder sets", () => {
  const before = documentsOf(pools, nicPolicyText("a"));
  /** What is rendered, and said, after the folder of n1 and n2 has changed. */
  async function changed(...policies: string[]) {
    const folder = projectOf({ "manifests/a.yaml": before });
    await run(folder, "allocate");
    writeFileSync(join(folder, "manifests/a.yaml"), documentsOf(pools, idlePolicy, ...policies));
    expect((await run(folder, "allocate", "--confirm")).stderr).toBe("");
    const { stderr, status } = await run(folder, "render", "--out", "out");
    expect(status).toBe(0);
    const { "out/nodeippool-releasing.yaml": text } = filesOf(folder);
    const made = text === undefined ? [] : objectsIn({ text }).map(({ metadata }) => metadata.name);
    return { made, notes: stderr.split("\n").filter((line) => line !== "") };
  }
  const note = (why: string) => expect.stringContaining(`is releasing and stays on its node: ${why}.`);

  it.each([
    ["by DHCP", "{name: eth1, ipv4: {enabled: true, dhcp: true}}"],
    ["by hand", "{name: eth1, ipv4: {enabled: true, address: [{ip: 10.0.0.6, prefix-length: 29}]}}"],
  ])("%s, under the old name", async (_, nic) => {
    expect(await changed(foreign(nic, "kubernetes.io/hostname: n1", "a"))).toEqual({
      made: ["a--n2"],
      notes: [note("policy a sets the IPv4 addresses of eth1")],
    });
  });

  it("by a template that may mean it", async () => {
    const other = policyText(
      `  capture: {p: ippool.q.allocate, nic: interfaces.type=="ethernet"}\n  desiredState: {interfaces: [{name: "{{ capture.nic.interfaces.0.name }}", ${v4}}]}`,
      "b",
    );
    const why = note("its NIC eth1 may be the one that policy b calls {{ capture.nic.interfaces.0.name }}");
    expect(await changed(other)).toEqual({ made: [], notes: [why, why] });
  });

  it("by DHCP, beside a claim on another NIC", async () => {
    const two = nicPolicyText("b", ["q"], "eth2");
    const both = two.replace(
      "    interfaces:",
      "    interfaces:\n    - {name: eth1, ipv4: {enabled: true, dhcp: true}}",
    );
    const why = note("policy b sets the IPv4 addresses of eth1");
    expect(await changed(both)).toEqual({ made: [], notes: [why, why] });
  });

  it.each([
    ["another family", "{name: eth1, ipv6: {enabled: true, dhcp: true}}"],
    ["nothing of addresses", "{name: eth1, mtu: 9000}"],
    ["that the family is off", "{name: eth1, ipv4: {enabled: false}}"],
    ["that it is a port", "{name: bond0, type: bond, link-aggregation: {mode: active-backup, port: [eth1]}}"],
  ])("is done where the other one says %s", async (_, nic) => {
    expect(await changed(foreign(nic))).toEqual({ made: ["a--n1", "a--n2"], notes: [] });
  });

  it("is done of an internal port of Open vSwitch, whoever makes its bridge", async () => {
    const folder = projectOf({
      "manifests/a.yaml": documentsOf(pools, claim("a", "six", `{name: ovs0, type: ovs-interface, ${v6}}`)),
    });
    await run(folder, "allocate");
    const bridge = "{name: br0, type: ovs-bridge, bridge: {port: [{name: ovs0}]}}, {name: ovs0, type: ovs-interface}";
    writeFileSync(join(folder, "manifests/a.yaml"), documentsOf(pools, idlePolicy, foreign(bridge)));
    await run(folder, "allocate", "--confirm");
    expect((await run(folder, "render", "--out", "out")).stderr).toBe("");
    expect(filesOf(folder)).toHaveProperty(["out/nodeippool-releasing.yaml"]);
  });

  it("is left to the one that makes it a port, where nmstate takes no word of the family", async () => {
    const folder = projectOf({ "manifests/a.yaml": documentsOf(pools, claim("a", "six", `{name: eth1, ${v6}}`)) });
    await run(folder, "allocate");
    const bond = foreign("{name: bond0, type: bond, link-aggregation: {mode: active-backup, port: [eth1]}}");
    writeFileSync(join(folder, "manifests/a.yaml"), documentsOf(pools, idlePolicy, bond));
    await run(folder, "allocate", "--confirm");
    const { stderr } = await run(folder, "render", "--out", "out");
    expect(stderr).toContain("stays on its node: policy z makes eth1 a port of another interface.");
    expect(filesOf(folder)).not.toHaveProperty(["out/nodeippool-releasing.yaml"]);
  });
});
