import { describe, expect, it } from "vitest";
import type { Allocation } from "../../../core/allocation.ts";
import { cleanupPolicy, removals, whyLeft } from "../../../integrations/nmstate/cleanup.ts";
import { Reference } from "../../../schema/template.ts";
import { lineOf } from "../../support/core/text.ts";
import { nodesOf } from "../../support/schema/text.ts";

const [node] = nodesOf("n1");
const lines = (...texts: string[]) => texts.map((text) => lineOf(text.replace(/(?= |$)/, " Node/n1/a/x")));
const none4 = { enabled: false };
const loopback4 = { enabled: true, address: [{ ip: "127.0.0.1", "prefix-length": 8 }] };
const none6 = { enabled: false };
const loopback6 = { enabled: true, dhcp: false, autoconf: false, address: [] };
const some = { enabled: true, dhcp: false, address: [{ ip: "10.0.0.9", "prefix-length": 24 }] };

describe("removals", () => {
  const rows: [what: string, releasing: string[], state: unknown, expected: unknown][] = [
    ["nothing", [], { interfaces: [{ name: "eth1" }], mtu: 1 }, { interfaces: [{ name: "eth1" }], mtu: 1 }],
    ["nothing, of nothing", [], undefined, undefined],
    ["a NIC the state does not name", ["10.0.0.1 if=eth1"], {}, { interfaces: [{ name: "eth1", ipv4: none4 }] }],
    [
      "of the loopback: nmstate refuses to turn that off",
      ["10.0.0.1 if=lo", "2001:db8::1 if=lo"],
      {},
      { interfaces: [{ name: "lo", type: "loopback", ipv4: loopback4, ipv6: loopback6 }] },
    ],
    [
      "of a loopback that the state has",
      ["10.0.0.1 if=lo"],
      { interfaces: [{ name: "lo", mtu: 65536 }] },
      { interfaces: [{ name: "lo", mtu: 65536, ipv4: loopback4 }] },
    ],
    ["of IPv6", ["2001:db8::1 if=eth1"], {}, { interfaces: [{ name: "eth1", ipv6: none6 }] }],
    [
      "of both families",
      ["10.0.0.1 if=eth1", "2001:db8::1 if=eth1"],
      {},
      { interfaces: [{ name: "eth1", ipv4: none4, ipv6: none6 }] },
    ],
    [
      "two addresses of one NIC",
      ["10.0.0.1 if=eth1", "10.0.0.2 if=eth1"],
      {},
      { interfaces: [{ name: "eth1", ipv4: none4 }] },
    ],
    [
      "an OVS port that has the name of its bridge",
      ["10.0.0.1 if=br0"],
      {
        interfaces: [
          { name: "br0", type: "ovs-bridge" },
          { name: "br0", type: "ovs-interface" },
        ],
      },
      {
        interfaces: [
          { name: "br0", type: "ovs-bridge" },
          { name: "br0", type: "ovs-interface", ipv4: none4 },
        ],
      },
    ],
    [
      "a NIC whose section is there and empty",
      ["10.0.0.1 if=eth1"],
      { interfaces: [{ name: "eth1", ipv4: null }] },
      { interfaces: [{ name: "eth1", ipv4: none4 }] },
    ],
    [
      "a NIC whose address list is there and empty",
      ["10.0.0.1 if=eth1"],
      { interfaces: [{ name: "eth1", ipv4: { enabled: true, address: null } }] },
      { interfaces: [{ name: "eth1", ipv4: { enabled: true, address: [] } }] },
    ],
    [
      "a list of NICs that a capture makes: nothing can be added to it",
      ["10.0.0.1 if=eth1"],
      { interfaces: "{{ capture.nics.interfaces }}" },
      { interfaces: "{{ capture.nics.interfaces }}" },
    ],
    [
      "a NIC whose section a capture makes: nothing can be added to it",
      ["10.0.0.1 if=eth1", "2001:db8::1 if=eth1"],
      { interfaces: [{ name: "eth1", ipv4: "{{ capture.base.interfaces.0.ipv4 }}" }] },
      { interfaces: [{ name: "eth1", ipv4: "{{ capture.base.interfaces.0.ipv4 }}", ipv6: none6 }] },
    ],
    [
      "several NICs, after those of the state",
      ["10.0.0.1 if=eth2", "10.0.0.2 if=eth3"],
      { interfaces: [{ name: "eth1", ipv4: some }], routes: {} },
      {
        interfaces: [
          { name: "eth1", ipv4: some },
          { name: "eth2", ipv4: none4 },
          { name: "eth3", ipv4: none4 },
        ],
        routes: {},
      },
    ],
    [
      "a NIC whose list the state replaces: that alone removes it",
      ["10.0.0.1 if=eth1"],
      { interfaces: [{ name: "eth1", ipv4: some }] },
      { interfaces: [{ name: "eth1", ipv4: some }] },
    ],
    [
      "a NIC that the state gives addresses of the other family",
      ["2001:db8::1 if=eth1"],
      { interfaces: [{ name: "eth1", ipv4: some }] },
      { interfaces: [{ name: "eth1", ipv4: some, ipv6: none6 }] },
    ],
    [
      "a NIC whose IPv4 the state turns off",
      ["10.0.0.1 if=eth1"],
      { interfaces: [{ name: "eth1", ipv4: { enabled: false } }] },
      { interfaces: [{ name: "eth1", ipv4: { enabled: false } }] },
    ],
    [
      "a NIC that the state makes a port: nmstate takes its addresses off, and refuses a state that speaks of them",
      ["10.0.0.1 if=eth1", "2001:db8::1 if=eth1"],
      { interfaces: [{ name: "bond0", type: "bond", "link-aggregation": { port: ["eth1"] } }] },
      { interfaces: [{ name: "bond0", type: "bond", "link-aggregation": { port: ["eth1"] } }] },
    ],
    [
      "an internal port of Open vSwitch, and a NIC in what may be a VRF: those keep their addresses",
      ["10.0.0.1 if=ovs0", "10.0.0.2 if=eth1"],
      {
        interfaces: [
          { name: "br0", type: "ovs-bridge", bridge: { port: [{ name: "ovs0" }] } },
          { name: "ovs0", type: "ovs-interface" },
          { name: "eth1", controller: "vrf0" },
        ],
      },
      {
        interfaces: [
          { name: "br0", type: "ovs-bridge", bridge: { port: [{ name: "ovs0" }] } },
          { name: "ovs0", type: "ovs-interface", ipv4: none4 },
          { name: "eth1", controller: "vrf0", ipv4: none4 },
        ],
      },
    ],
    [
      "a NIC that the state leaves alone: nmstate would do so",
      ["10.0.0.1 if=eth1"],
      { interfaces: [{ name: "eth1", state: "ignore" }] },
      { interfaces: [{ name: "eth1", state: "ignore" }] },
    ],
    // nmstate keeps what a state does not mention: without a list in it, the section would keep the address
    [
      "a NIC whose IPv4 the state turns on without saying which addresses",
      ["10.0.0.1 if=eth1"],
      { interfaces: [{ name: "eth1", ipv4: { enabled: true, dhcp: false } }] },
      { interfaces: [{ name: "eth1", ipv4: { enabled: true, dhcp: false, address: [] } }] },
    ],
  ];
  it.each(rows)("of %s", (_, releasing, state, expected) => {
    const before = structuredClone(state);
    expect(removals(state, lines(...releasing))).toEqual(expected);
    expect(state).toEqual(before);
  });

  it("of a NIC that is a name from another capture: by that name, where the policy is known to use it", () => {
    const name = "{{ capture.up.interfaces.0.name }}";
    const uses = (capture: string) => ({
      interfaces: [{ name, ipv4: { address: [{ ip: new Reference(capture, "ip") }] } }],
    });
    const removed = (desiredState: unknown) => removals({}, lines("10.0.0.1"), { name: "a", desiredState });
    expect(removed(uses("x"))).toEqual({ interfaces: [{ name, ipv4: none4 }] });
    expect(removed(uses("other"))).toEqual({});
    expect(removals({}, lines("10.0.0.1"), { name: "a" })).toEqual({});
  });
});

// The record says eth1 and the policy a template: it may be the same NIC, which nmstate would be told of twice.
describe("where a NIC has become a template", () => {
  const name = "{{ capture.up.interfaces.0.name }}";
  const templated = { interfaces: [{ name, ipv4: { address: [{ ip: new Reference("x", "ip") }] } }] };
  const [literal, unplaced] = lines("2001:db8::1 if=eth1", "10.0.0.1") as [Allocation, Allocation];

  it("a literal NIC is left alone, but for one that the state names too", () => {
    const state = { interfaces: [{ name }] };
    expect(removals(state, [literal])).toBe(state);
    const both = { interfaces: [{ name }, { name: "eth1" }] };
    expect(removals(both, [literal])).toEqual({ interfaces: [{ name }, { name: "eth1", ipv6: none6 }] });
  });

  it("also beside the removal from the template", () => {
    const made = cleanupPolicy({ name: "a", desiredState: templated }, node as never, [literal, unplaced]);
    expect(made?.spec.desiredState).toEqual({ interfaces: [{ name, ipv4: none4 }] });
  });

  it("and what is left has a reason", () => {
    const why = (line: Allocation, state: unknown) => whyLeft(line, state, [line], { name: "a", desiredState: state });
    expect(why(literal, templated)).toBe(`its NIC eth1 may be the one that its policy calls ${name}`);
    expect(why(literal, { interfaces: name })).toBe("the interfaces of its policy come from a capture");
    expect(why(literal, { interfaces: [{ name: "eth1", ipv6: name }] })).toBe(
      "the addresses of its NIC come from a capture",
    );
    expect(why(literal, { interfaces: [{ name: "eth1", ipv4: name }] })).toBeUndefined();
    expect(why(literal, { interfaces: [{ name: "eth1", state: "ignore" }] })).toBe(
      "its policy has state: ignore for its NIC",
    );
    expect(why(unplaced, {})).toBe("nobody recorded on which NIC it is, and no policy says it any more");
    expect(why(unplaced, templated)).toBeUndefined();
    expect(why(literal, {})).toBeUndefined();
  });
});

describe("cleanupPolicy", () => {
  const policy = (desiredState: unknown) => ({
    name: "a",
    desiredState,
    labels: { app: "x" },
    apiVersion: "nmstate.io/v1beta1",
  });

  it("gives up addresses on the node, and does nothing else", () => {
    const desiredState = { interfaces: [{ name: "eth1", mtu: 9000, ipv4: some }, { name: "eth2" }] };
    expect(cleanupPolicy(policy(desiredState), node as never, lines("10.0.0.1 if=eth1"))).toEqual({
      apiVersion: "nmstate.io/v1beta1",
      kind: "NodeNetworkConfigurationPolicy",
      metadata: {
        name: "a--n1",
        labels: { app: "x", "nodeippool.nmstate.io/policy": "a", "nodeippool.nmstate.io/node": "n1" },
      },
      spec: {
        nodeSelector: { "kubernetes.io/hostname": "n1" },
        desiredState: { interfaces: [{ name: "eth1", ipv4: none4 }] },
      },
    });
  });

  it("leaves DHCP and SLAAC on, and finds the NIC as the policy does", () => {
    const [ip] = [new Reference("x", "ip")];
    const found = { identifier: "mac-address", "mac-address": "02:00:00:00:00:01" };
    const desiredState = {
      interfaces: [
        {
          name: "eth1",
          ...found,
          mtu: 9000,
          ipv4: { enabled: true, dhcp: true, address: [{ ip, "prefix-length": 24 }] },
          ipv6: { enabled: true, autoconf: true, dhcp: true, address: [{ ip, "prefix-length": 64 }] },
        },
      ],
    };
    const made = cleanupPolicy(policy(desiredState), node as never, lines("10.0.0.1 if=eth1", "2001:db8::1 if=eth1"));
    expect(made?.spec.desiredState).toEqual({
      interfaces: [
        {
          name: "eth1",
          ...found,
          ipv4: { enabled: true, dhcp: true, address: [] },
          ipv6: { enabled: true, autoconf: true, dhcp: true, address: [] },
        },
      ],
    });
  });

  it("has nothing of the pools in what stays, and finds a NIC by its place on the bus", () => {
    const found = { identifier: "pci-address", "pci-address": "0000:01:02.3" };
    const dhcp = "{{ capture.base.interfaces.0.ipv4.dhcp }}";
    const ipv4 = {
      enabled: true,
      dhcp,
      "dhcp-custom-hostname": new Reference("x", "ip"),
      address: [{ ip: new Reference("x", "ip"), "prefix-length": 24 }],
    };
    const origin = { ...policy({ interfaces: [{ name: "eth1", ...found, ipv4 }] }), otherCaptures: { base: "x" } };
    expect(cleanupPolicy(origin, node as never, lines("10.0.0.1 if=eth1"))?.spec).toMatchObject({
      capture: { base: "x" },
      desiredState: { interfaces: [{ name: "eth1", ...found, ipv4: { enabled: true, dhcp, address: [] } }] },
    });
    expect(cleanupPolicy(origin, node as never, lines("10.0.0.1 if=eth1"))?.spec.desiredState).not.toHaveProperty([
      "interfaces",
      0,
      "ipv4",
      "dhcp-custom-hostname",
    ]);
  });

  it("takes the policy's routes over those NICs away: a route over a NIC without addresses fails the whole state", () => {
    const route = (destination: string, nic: string, more = {}) => ({
      destination,
      "next-hop-interface": nic,
      ...more,
    });
    const config = [
      route("0.0.0.0/0", "eth1", { "next-hop-address": "10.0.0.254", metric: 100 }),
      route("10.9.0.0/16", "eth1", { "next-hop-address": "10.0.0.253", "table-id": 7 }),
      route("10.8.0.0/16", "eth2", { "next-hop-address": "10.1.0.254" }),
    ];
    const made = cleanupPolicy(policy({ routes: { config } }), node as never, lines("10.0.0.1 if=eth1"));
    expect(made?.spec.desiredState).toEqual({
      routes: {
        config: [
          route("0.0.0.0/0", "eth1", { state: "absent" }),
          route("10.9.0.0/16", "eth1", { "table-id": 7, state: "absent" }),
        ],
      },
      interfaces: [{ name: "eth1", ipv4: none4 }],
    });
  });

  it("leaves the routes of the other family, which another policy may have there now", () => {
    const over = (destination: string) => ({ destination, "next-hop-interface": "eth1", state: "absent" });
    const config = ["0.0.0.0/0", "::/0"].map(over).map(({ state: _, ...route }) => route);
    const made = (address: string) =>
      cleanupPolicy(policy({ routes: { config } }), node as never, lines(`${address} if=eth1`))?.spec.desiredState;
    expect(made("10.0.0.1")).toMatchObject({ routes: { config: [over("0.0.0.0/0")] } });
    expect(made("2001:db8::1")).toMatchObject({ routes: { config: [over("::/0")] } });
  });

  it("is none where nobody knows the NIC: an empty policy would only pretend", () => {
    expect(cleanupPolicy({ name: "a" }, node as never, lines("10.0.0.1"))).toBeUndefined();
    expect(cleanupPolicy(policy({}), node as never, [])).toBeUndefined();
  });

  it("brings the captures that name its NIC along", () => {
    const name = "{{ capture.up.interfaces.0.name }}";
    const desiredState = { interfaces: [{ name, ipv4: { address: [{ ip: new Reference("x", "ip") }] } }] };
    const origin = { ...policy(desiredState), otherCaptures: { up: 'interfaces.name=="eth0"' } };
    expect(cleanupPolicy(origin, node as never, lines("10.0.0.1"))?.spec).toEqual({
      nodeSelector: { "kubernetes.io/hostname": "n1" },
      capture: { up: 'interfaces.name=="eth0"' },
      desiredState: { interfaces: [{ name, ipv4: none4 }] },
    });
  });

  it("of a policy that is gone knows its name alone", () => {
    const made = cleanupPolicy({ name: "a" }, node as never, lines("10.0.0.1 if=eth1", "2001:db8::1 if=eth2"));
    expect(made?.apiVersion).toBe("nmstate.io/v1");
    expect(made?.spec.desiredState).toEqual({
      interfaces: [
        { name: "eth1", ipv4: none4 },
        { name: "eth2", ipv6: none6 },
      ],
    });
  });
});
