import {
  type Address,
  address,
  familyOf,
  formatAddress,
  type Issue,
  type Parsed,
  type Prefix,
  prefixAt,
} from "../../core/index.ts";
import type { Path } from "../../schema/yaml.ts";
import { bondOptions } from "./bond-options.ts";
import { type Device, type DeviceRoute, isTrue, readDevices } from "./device.ts";
import { inexpressible } from "./inexpressible.ts";
import { type Host, type Infra, type Unit, unitPath } from "./infra.ts";
import { fillTemplates, readNetworkTemplate } from "./template.ts";

/** OpenStack network data, as cloud-init and Ironic read it (network_data.json). */
export interface NetworkData {
  readonly links: readonly NetworkLink[];
  readonly networks: readonly LinkNetwork[];
  readonly services: readonly { readonly type: "dns"; readonly address: string }[];
}

/** A NIC, bond or VLAN. A bond has its options besides, each as `bond_<option>`. */
export interface NetworkLink {
  readonly id: string;
  readonly type: "phy" | "bond" | "vlan";
  readonly [field: string]: string | number | readonly string[];
}

/** An address of a link, and the routes over it. */
export interface LinkNetwork {
  readonly id: string;
  readonly network_id: string;
  readonly type: "ipv4" | "ipv6";
  readonly link: string;
  readonly ip_address: string;
  readonly netmask: string;
  readonly routes: readonly { readonly network: string; readonly netmask: string; readonly gateway: string }[];
}

/**
 * Returns the configuration of a unit as network data for one host. Settings that network data cannot express (`inexpressible`) are
 * issues with their paths, and so are mistakes.
 *
 *  os-net-config            | network data
 *  -------------------------+---------------------------------------------------------------------------------
 *  interface                | a link phy, with the MAC address of macMapping
 *  linux_bond, ovs_bond     | a link bond, with the MAC address of its primary member, or else its first
 *  vlan                     | a link vlan on its device, or on the link that stands for the bridge it is a member of
 *  linux_bridge, ovs_bridge | no link: its only member that is no vlan has its addresses
 *  all others               | an issue
 *  dns_servers              | services of the host
 */
export function networkData(
  { networks }: Pick<Infra, "networks">,
  unit: Pick<Unit, "name" | "networkConfig">,
  host: Host,
  addresses: ReadonlyMap<string, Address>,
): Parsed<NetworkData> {
  const root = [...unitPath(unit.name), "networkConfig"];
  const { value = [], issues } = readDevices(fillTemplates(unit.networkConfig, networks, addresses));
  const writer = new NetworkDataWriter(unit.networkConfig, host.macs);
  for (const device of value) writer.device(device);
  writer.vlans();
  const all = [...(issues ?? []), ...writer.issues];
  if (all.length > 0) return { issues: all.map((issue) => ({ ...issue, path: [...root, ...(issue.path ?? [])] })) };
  const { links, services } = writer;
  return {
    value: { links, networks: writer.networks, services: [...services].map((one) => ({ type: "dns", address: one })) },
  };
}

/** The fields that network data takes over, or that have no effect here. */
const known = [
  "type",
  "name",
  "addresses",
  "routes",
  "dns_servers",
  "members",
  "mtu",
  "use_dhcp",
  "use_dhcpv6",
  "primary",
];
const knownOf: Readonly<Record<string, readonly string[]>> = {
  interface: known,
  vlan: [...known, "vlan_id", "device"],
  linux_bond: [...known, "bonding_options"],
  ovs_bond: [...known, "ovs_options"],
  linux_bridge: known,
  ovs_bridge: known,
};

class NetworkDataWriter {
  readonly issues: Issue[] = [];
  readonly links: NetworkLink[] = [];
  readonly networks: LinkNetwork[] = [];
  readonly services = new Set<string>();
  private readonly raw: unknown;
  private readonly macs: ReadonlyMap<string, string>;
  /** The link that a name stands for: its own, or that of the member of a bridge. */
  private readonly linkOf = new Map<string, NetworkLink>();
  /** The names of all devices. If one of these has no link, the issue is at that device. */
  private readonly named = new Set<string>();
  private readonly later: { readonly vlan: Device; readonly on: string }[] = [];

  constructor(raw: unknown, macs: ReadonlyMap<string, string>) {
    this.raw = raw;
    this.macs = macs;
  }

  /** A device and its members. A vlan waits until all others have their links. */
  device(device: Device, bridge?: string): undefined {
    this.named.add(device.name);
    const fields = knownOf[device.type];
    if (fields === undefined) return this.lack(`network data has no ${device.type}`, device.path);
    for (const field of Object.keys(device.fields))
      if (!fields.includes(field)) this.lack(`network data has no ${field} of ${device.type}`, [...device.path, field]);
    for (const field of ["use_dhcp", "use_dhcpv6"])
      if (isTrue(device.fields[field])) this.fail(`${field}: these addresses are static`, [...device.path, field]);
    if (device.type === "vlan") this.later.push({ vlan: device, on: `${device.fields.device ?? bridge ?? ""}` });
    else if (device.type.endsWith("bridge")) this.bridge(device);
    else if (device.type.endsWith("bond")) this.bond(device);
    else this.nic(device.name, device);
  }

  /** Those that are on vlans come after these. */
  vlans(): void {
    for (const { vlan, on } of this.later) {
      const link = this.linkOf.get(on) ?? (this.macs.has(on) ? this.nic(on) : undefined);
      if (link === undefined && !this.named.has(on))
        this.fail(`${on || "its device"} is no link that ${vlan.name} could be on`, vlan.path);
      if (link !== undefined) {
        const mac = `${link.ethernet_mac_address ?? link.vlan_mac_address}`;
        const id = { vlan_id: vlan.fields.vlan_id as number, vlan_link: link.id, vlan_mac_address: mac };
        this.add({ id: `${link.id}.${id.vlan_id}`, type: "vlan", ...id, ...mtuOf(vlan) }, vlan, vlan.name);
      }
    }
  }

  private nic(name: string, device?: Device): NetworkLink | undefined {
    const mac = this.macs.get(name) as string;
    return this.add({ id: name, type: "phy", ethernet_mac_address: mac, ...(device && mtuOf(device)) }, device);
  }

  private bond(bond: Device): undefined {
    for (const member of bond.members)
      if (member.type === "interface") this.device(member);
      else this.lack(`network data has no bond of ${member.type}`, member.path);
    const first = bond.members.find(({ fields }) => isTrue(fields.primary)) ?? bond.members[0];
    const mac = this.macs.get(first?.name ?? "");
    if (mac === undefined) return this.fail(`${bond.name} has no members`, bond.path);
    const { value: options, issues = [] } = bondOptions(bond);
    this.issues.push(...issues);
    const names = bond.members.map(({ name }) => name);
    const link = { id: bond.name, type: "bond", ethernet_mac_address: mac, ...options, bond_links: names } as const;
    this.add({ ...link, ...mtuOf(bond) }, bond);
  }

  private bridge(bridge: Device): undefined {
    const [member, ...others] = bridge.members.filter(({ type }) => type !== "vlan");
    if (member === undefined || others.length > 0)
      return this.lack("network data has no bridges: one with a single NIC or bond stands for that", bridge.path);
    for (const one of bridge.members) this.device(one, bridge.name);
    const link = this.linkOf.get(member.name);
    if (link === undefined) return;
    this.linkOf.set(bridge.name, link);
    this.addresses(bridge, link);
  }

  private add(link: NetworkLink, device: Device | undefined, name = link.id): NetworkLink {
    if (this.linkOf.has(name) && device !== undefined) this.fail(`${name} stands here a second time`, device.path);
    this.links.push(link);
    this.linkOf.set(name, link);
    if (device !== undefined) this.addresses(device, link);
    return link;
  }

  private addresses(device: Device, link: NetworkLink): void {
    const own = device.addresses.map(({ address, prefix, path }, i): LinkNetwork => {
      const name = this.networkAt(path) ?? `${link.id}-${i}`;
      const type = familyOf(address) === 4 ? "ipv4" : "ipv6";
      const netmask = this.netmask(prefix, path);
      return {
        id: name,
        network_id: name,
        type,
        link: link.id,
        ip_address: formatAddress(address),
        netmask,
        routes: [],
      };
    });
    const routes = device.routes.flatMap((route) => this.route(route, own) ?? []);
    const on = (at: LinkNetwork) => routes.filter(({ over }) => over === at).map(({ route }) => route);
    this.networks.push(...own.map((one) => ({ ...one, routes: on(one) })));
    for (const server of device.dnsServers) this.services.add(formatAddress(server));
  }

  /** A route goes with the first address of its family. */
  private route({ destination, gateway, fields, path }: DeviceRoute, own: readonly LinkNetwork[]) {
    const more = Object.keys(fields).find((field) => ["table", "metric", "route_options"].includes(field));
    if (more !== undefined || gateway === "self") {
      const what = more === undefined ? "next_hop: self" : `${more} of a route`;
      return this.lack(`network data has no ${what}`, path);
    }
    const family = familyOf(gateway);
    const over = own.find(({ type }) => type === (family === 4 ? "ipv4" : "ipv6"));
    if (over === undefined) return this.lack(`there is no IPv${family} address beside this route`, path);
    const to = destination ?? prefixAt(gateway, 0);
    if (familyOf(to.first) !== family) return this.fail("a route has a next hop of its own family", path);
    const route = {
      network: formatAddress(to.first),
      netmask: this.netmask(to, path),
      gateway: formatAddress(gateway),
    };
    return { over, route };
  }

  /** Neither schema of network data has a netmask for one IPv4 address. */
  private netmask({ first, length }: Prefix, path: Path): string {
    if (familyOf(first) === 4 && length === 32) this.lack("network data has no netmask of /32", path);
    return maskOf(first, length);
  }

  /** Returns the network of an address if a template names it. */
  private networkAt(path: Path): string | undefined {
    const at = [...path, "ip_netmask"].reduce<unknown>((part, step) => Object(part)[step], this.raw);
    const read = typeof at === "string" ? readNetworkTemplate(at) : undefined;
    return read !== undefined && "network" in read ? read.network : undefined;
  }

  private fail(message: string, path: Path): undefined {
    this.issues.push({ message, path });
  }

  private lack(message: string, path: Path): undefined {
    this.issues.push(inexpressible(message, path));
  }
}

function mtuOf({ fields: { mtu } }: Device): { mtu: number } | undefined {
  return typeof mtu === "number" ? { mtu } : undefined;
}

const ones = { 4: address("255.255.255.255"), 6: address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff") };

function maskOf(first: Address, length: number): string {
  return formatAddress(prefixAt(ones[familyOf(first)], length).first);
}
