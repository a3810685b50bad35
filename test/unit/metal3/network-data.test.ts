import { describe, expect, it } from "vitest";
import type { Host, Infra, Unit } from "../../../integrations/metal3/infra.ts";
import { networkData } from "../../../integrations/metal3/network-data.ts";
import { addressesOf, exampleText, infraOf } from "../../support/cli/metal3-infra.ts";

/** A unit of one host with three NICs on three networks, two of IPv4 and one of IPv6. */
const unitWith = (...devices: object[]) =>
  infraOf(`
infra:
  networks:
    a: {netmask: 24, addresses: [10.0.0.5], gateway: 10.0.0.1, dnsServers: [10.0.0.2]}
    b: {netmask: 31, addresses: [10.1.0.0]}
    c: {netmask: 32, addresses: [10.2.0.1]}
    six: {netmask: 64, addresses: ["2001:db8::5"], gateway: "2001:db8::1"}
controllers:
  replicas: 1
  hostSelector: {role: controller}
  networkConfig: ${JSON.stringify(devices)}
  macMapping: {n: {em0: "00:00:00:00:00:10", em1: "00:00:00:00:00:11", em2: "00:00:00:00:00:12"}}
`);
const dataFor = (infra: Infra) => {
  const unit = infra.units[0] as Unit;
  return networkData(infra, unit, unit.hosts[0] as Host, addressesOf(infra, unit, "n"));
};
const read = (...devices: object[]) => dataFor(unitWith(...devices));
const issuesOf = (...devices: object[]) =>
  (read(...devices).issues ?? []).map(({ message, path = [] }) => `${path.slice(2).join(".")}: ${message}`);

const nic = (name: string, more: object = {}) => ({ type: "interface", name, ...more });
const on = (...networks: string[]) => ({ addresses: networks.map((one) => ({ ip_netmask: `{{ ip['${one}'] }}` })) });
const phy = (n: number) => ({ id: `em${n}`, type: "phy", ethernet_mac_address: `00:00:00:00:00:1${n}` });

describe("networkData", () => {
  it("gives node-0 of the study its bond and its NIC (I1); the bridge is its only member", () => {
    const infra = infraOf(exampleText("seed.yaml"));
    const unit = infra.units[0] as Unit;
    const mac = (n: string) => `00:c8:7c:e6:f0:${n}`;
    expect(networkData(infra, unit, unit.hosts[0] as Host, addressesOf(infra, unit, "node-0")).value).toEqual({
      links: [
        { id: "em1", type: "phy", ethernet_mac_address: mac("2f") },
        { id: "em2", type: "phy", ethernet_mac_address: mac("30") },
        {
          id: "bond1",
          type: "bond",
          ethernet_mac_address: mac("2f"),
          bond_mode: "active-backup",
          bond_links: ["em1", "em2"],
        },
        { id: "em0", type: "phy", ethernet_mac_address: mac("2e") },
      ],
      networks: [
        {
          id: "net0",
          network_id: "net0",
          type: "ipv4",
          link: "bond1",
          ip_address: "192.168.0.10",
          netmask: "255.255.255.0",
          routes: [{ network: "0.0.0.0", netmask: "0.0.0.0", gateway: "192.168.0.1" }],
        },
        {
          id: "net1",
          network_id: "net1",
          type: "ipv4",
          link: "em0",
          ip_address: "192.168.1.10",
          netmask: "255.255.255.0",
          routes: [],
        },
      ],
      services: [
        { type: "dns", address: "8.8.8.8" },
        { type: "dns", address: "8.8.4.4" },
      ],
    });
  });

  it("two families on one NIC, each with its own routes; netmasks as their schemas want them", () => {
    const routes = [
      { default: true, next_hop: "{{ config['a'].gateway }}" },
      { default: true, nexthop: "{{ config['six'].gateway }}" },
      { ip_netmask: "10.9.8.7/8", next_hop: "10.0.0.9" },
    ];
    const dns = { dns_servers: "{{ config['a'].dnsServers }}" };
    const { links, networks, services } =
      read(nic("em0", { ...on("a", "six"), routes, mtu: 9000, ...dns })).value ?? {};
    expect(links).toEqual([{ ...phy(0), mtu: 9000 }]);
    expect(networks).toEqual([
      {
        id: "a",
        network_id: "a",
        type: "ipv4",
        link: "em0",
        ip_address: "10.0.0.5",
        netmask: "255.255.255.0",
        routes: [
          { network: "0.0.0.0", netmask: "0.0.0.0", gateway: "10.0.0.1" },
          { network: "10.0.0.0", netmask: "255.0.0.0", gateway: "10.0.0.9" },
        ],
      },
      {
        id: "six",
        network_id: "six",
        type: "ipv6",
        link: "em0",
        ip_address: "2001:db8::5",
        netmask: "ffff:ffff:ffff:ffff::",
        routes: [{ network: "::", netmask: "::", gateway: "2001:db8::1" }],
      },
    ]);
    expect(services).toEqual([{ type: "dns", address: "10.0.0.2" }]);
  });

  it("a literal address is named by its link; /31 has a netmask", () => {
    const { networks } = read(nic("em0", { addresses: [{ ip_netmask: "10.7.0.1/31" }] })).value ?? {};
    expect(networks).toEqual([
      expect.objectContaining({ id: "em0-0", network_id: "em0-0", netmask: "255.255.255.254" }),
    ]);
  });

  it.each([
    ["linux_bond", "bonding_options", "mode=802.3ad miimon=100", { bond_mode: "802.3ad", bond_miimon: "100" }],
    ["linux_bond", "bonding_options", "mode=4", { bond_mode: "802.3ad" }],
    ["linux_bond", "bonding_options", undefined, { bond_mode: "balance-rr" }],
    ["ovs_bond", "ovs_options", undefined, { bond_mode: "active-backup" }],
    [
      "ovs_bond",
      "ovs_options",
      "bond_mode=balance-tcp lacp=active",
      { bond_mode: "802.3ad", bond_xmit_hash_policy: "layer3+4" },
    ],
  ])("%s with %s %s", (type, field, options, expected) => {
    const members = [nic("em0"), nic("em1", { primary: true })];
    const { links } =
      read({ type, name: "b", members, ...(options ? { [field]: options } : {}), ...on("a") }).value ?? {};
    const bond = { id: "b", type: "bond", ethernet_mac_address: "00:00:00:00:00:11", bond_links: ["em0", "em1"] };
    expect(links).toEqual([phy(0), phy(1), { ...bond, ...expected }]);
  });

  it("VLANs: on a bond that comes later, on the member of a bridge, on a NIC that has no entry", () => {
    const vlan = (vlan_id: number, device: string | undefined, more = {}) => ({
      type: "vlan",
      vlan_id,
      ...(device ? { device } : {}),
      ...more,
    });
    const bond = { type: "linux_bond", name: "b", members: [nic("em0")] };
    const bridge = { type: "ovs_bridge", name: "br", members: [nic("em1"), vlan(20, undefined, on("b"))] };
    const { links = [], networks } =
      read(vlan(10, "b", on("a")), bond, bridge, vlan(30, "em2"), vlan(40, "br")).value ?? {};
    expect(links.filter(({ type }) => type === "vlan")).toEqual([
      { id: "b.10", type: "vlan", vlan_id: 10, vlan_link: "b", vlan_mac_address: "00:00:00:00:00:10" },
      { id: "em1.20", type: "vlan", vlan_id: 20, vlan_link: "em1", vlan_mac_address: "00:00:00:00:00:11" },
      { id: "em2.30", type: "vlan", vlan_id: 30, vlan_link: "em2", vlan_mac_address: "00:00:00:00:00:12" },
      { id: "em1.40", type: "vlan", vlan_id: 40, vlan_link: "em1", vlan_mac_address: "00:00:00:00:00:11" },
    ]);
    expect(networks?.map(({ id, link }) => `${id} ${link}`)).toEqual(["a b.10", "b em1.20"]);
  });

  it.each([
    ["another type", { type: "ovs_tunnel", name: "t", tunnel_type: "vxlan" }, "0: network data has no ovs_tunnel"],
    ["a field", nic("em0", { ovs_extra: ["x"] }), "0.ovs_extra: network data has no ovs_extra of interface"],
    ["DHCP (R37)", nic("em0", { use_dhcp: true }), "0.use_dhcp: use_dhcp: these addresses are static"],
    [
      "a bridge of two",
      { type: "linux_bridge", name: "br", members: [nic("em0"), nic("em1")] },
      "0: network data has no bridges: one with a single NIC or bond stands for that",
    ],
    [
      "a bridge of none",
      { type: "ovs_bridge", name: "br" },
      "0: network data has no bridges: one with a single NIC or bond stands for that",
    ],
    [
      "a bond of VLANs",
      { type: "linux_bond", name: "b", members: [{ type: "vlan", vlan_id: 1, device: "em0" }] },
      "0.members.0: network data has no bond of vlan",
      "0: b has no members",
    ],
    ["a bond of none", { type: "linux_bond", name: "b", members: [] }, "0: b has no members"],
    [
      "balance-slb",
      { type: "ovs_bond", name: "b", ovs_options: "bond_mode=balance-slb", members: [nic("em0")] },
      "0.ovs_options: a bond of the kernel has no mode balance-slb",
    ],
    [
      "options of OVS",
      { type: "ovs_bond", name: "b", ovs_options: "bond_mode=active-backup lacp=off", members: [nic("em0")] },
      "0.ovs_options: network data has no lacp of ovs_bond",
    ],
    [
      "no mode",
      { type: "linux_bond", name: "b", bonding_options: "mode=9", members: [nic("em0")] },
      "0.bonding_options: a bond has no mode 9",
    ],
    ["a VLAN on nothing", { type: "vlan", vlan_id: 7, device: "em9" }, "0: em9 is no link that vlan7 could be on"],
    ["/32", nic("em0", on("c")), "0.addresses.0: network data has no netmask of /32"],
    [
      "a route table",
      nic("em0", { ...on("a"), routes: [{ default: true, next_hop: "10.0.0.1", table: 7 }] }),
      "0.routes.0: network data has no table of a route",
    ],
    [
      "a route over itself",
      nic("em0", { ...on("a"), routes: [{ default: true, next_hop: "self" }] }),
      "0.routes.0: network data has no next_hop: self",
    ],
    [
      "a route without an address",
      nic("em0", { ...on("a"), routes: [{ default: true, next_hop: "fe80::1" }] }),
      "0.routes.0: there is no IPv6 address beside this route",
    ],
    [
      "a route of two families",
      nic("em0", { ...on("a"), routes: [{ destination: "2001:db8::/32", next_hop: "10.0.0.1" }] }),
      "0.routes.0: a route has a next hop of its own family",
    ],
  ])("%s is an issue", (_, device, ...expected) => {
    expect(issuesOf(device)).toEqual(expected);
  });

  it("a NIC twice is an issue", () => {
    expect(issuesOf(nic("em0"), nic("em0"))).toEqual(["1: em0 stands here a second time"]);
  });

  it("issues have the path of the unit in front", () => {
    const { issues } = read(nic("em0", { use_dhcp: true }));
    expect(issues?.[0]?.path).toEqual(["controllers", "networkConfig", 0, "use_dhcp"]);
  });
});
