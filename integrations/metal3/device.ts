import { type Address, type Issue, type Parsed, type Prefix, parseAddress, parsePrefix } from "../../core/index.ts";
import { didYouMean } from "../../schema/nearest.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import { mapping } from "../../schema/shape.ts";
import type { Path } from "../../schema/yaml.ts";
import { asDeviceAddress } from "./objects.ts";

/** An entry of a network configuration of os-net-config, as far as its addresses and links go. */
export interface Device {
  readonly type: string;
  /** Empty for the types that have none. */
  readonly name: string;
  readonly path: Path;
  /** All that was written, templates filled in. */
  readonly fields: Bag;
  readonly addresses: readonly DeviceAddress[];
  readonly routes: readonly DeviceRoute[];
  readonly dnsServers: readonly Address[];
  readonly members: readonly Device[];
}

export interface DeviceAddress {
  readonly address: Address;
  readonly prefix: Prefix;
  readonly path: Path;
}

export interface DeviceRoute {
  /** Absent for the default route. */
  readonly destination?: Prefix;
  /** `self`: the link itself. */
  readonly gateway: Address | "self";
  readonly fields: Bag;
  readonly path: Path;
}

/** Types of os-net-config 18 that have a name, and those that have none. */
const named = [
  "interface",
  "ovs_bridge",
  "ovs_user_bridge",
  "ovs_bond",
  "ovs_patch_port",
  "ovs_tunnel",
  "ovs_dpdk_bond",
]
  .concat(["ovs_dpdk_port", "linux_bridge", "linux_bond", "team", "ivs_bridge", "nfvswitch_bridge", "sriov_pf"])
  .concat(["ib_interface", "vpp_interface", "vpp_bond", "contrail_vrouter", "contrail_vrouter_dpdk", "linux_tap"]);
const unnamed = ["vlan", "route_table", "sriov_vf", "ivs_interface", "nfvswitch_internal", "ib_child_interface"].concat(
  ["dcb", "remove_net_device"],
);
const types = [...named, ...unnamed];

/**
 * Reads a network configuration whose templates are filled in. All issues, with their paths: addresses, next hops and DNS
 * servers are checked more strictly than os-net-config does, whose own schema takes 192x168y0z10/24 for an address.
 */
export function readDevices(networkConfig: unknown, path: Path = []): Parsed<Device[]> {
  const reader = new DeviceReader();
  const value = reader.devices(networkConfig, path);
  return reader.issues.length > 0 ? { issues: reader.issues } : { value };
}

/** These devices and all their members. */
export function flatDevices(devices: readonly Device[]): Device[] {
  return devices.flatMap((device) => [device, ...flatDevices(device.members)]);
}

/** A truth as os-net-config reads it. */
export function isTrue(value: unknown): boolean {
  return /^(?:t|true|on|y|yes|1)$/i.test(`${value}`);
}

class DeviceReader {
  readonly issues: Issue[] = [];

  devices(value: unknown, path: Path): Device[] {
    return this.list(value, path).flatMap((item, i) => this.device(item, [...path, i]) ?? []);
  }

  private device(item: unknown, path: Path): Device | undefined {
    const fields = asBag(item);
    const type = fields?.type;
    if (fields === undefined || typeof type !== "string" || !types.includes(type)) {
      const meant = typeof type === "string" ? `, not ${type}${didYouMean(type, types)}` : "";
      this.fail(`an entry has a type of os-net-config${meant}`, fields?.type === undefined ? path : [...path, "type"]);
      return undefined;
    }
    const { name } = fields;
    if (named.includes(type) && (typeof name !== "string" || name === ""))
      this.fail(`${type} needs a name`, name === undefined ? path : [...path, "name"]);
    if (type === "vlan" && !(Number.isInteger(fields.vlan_id) && isVlanId(fields.vlan_id as number)))
      this.fail("vlan needs a vlan_id from 1 to 4094", [...path, "vlan_id"]);
    return {
      type,
      name: type === "vlan" ? `vlan${fields.vlan_id}` : `${name ?? ""}`,
      path,
      fields,
      addresses: this.each(fields, "addresses", path, (one, at) => this.address(one, at)),
      routes: this.each(fields, "routes", path, (one, at) => this.route(one, at)),
      dnsServers: this.each(fields, "dns_servers", path, (one, at) => this.take(parseAddress(one), at)),
      members: fields.members === undefined ? [] : this.devices(fields.members, [...path, "members"]),
    };
  }

  private address(value: unknown, path: Path): DeviceAddress | undefined {
    const text = asDeviceAddress(value).ip_netmask;
    if (text === undefined) {
      this.fail("an entry of addresses has the field ip_netmask", path);
      return undefined;
    }
    const prefix = this.take(parsePrefix(text), [...path, "ip_netmask"]);
    const address = parseAddress(`${text}`.replace(/\/.*/s, "")).value;
    return prefix === undefined || address === undefined ? undefined : { address, prefix, path };
  }

  private route(value: unknown, path: Path): DeviceRoute | undefined {
    const fields = mapping(value);
    const [hop, ...otherHops] = ["next_hop", "nexthop"].filter((field) => field in fields);
    const [target, ...otherTargets] = ["ip_netmask", "destination"].filter((field) => field in fields);
    if (hop === undefined || otherHops.length > 0) {
      this.fail("a route has one next_hop", path);
      return undefined;
    }
    const text = fields[hop];
    const gateway = text === "self" ? text : this.take(parseAddress(text), [...path, hop]);
    if (otherTargets.length > 0 || (target === undefined) !== isTrue(fields.default)) {
      this.fail("a route has either default: true or one destination", path);
      return undefined;
    }
    const destination = target === undefined ? undefined : this.take(parsePrefix(fields[target]), [...path, target]);
    if (gateway === undefined || (target !== undefined && destination === undefined)) return undefined;
    return { gateway, fields, path, ...(destination === undefined ? {} : { destination }) };
  }

  private each<T>(fields: Bag, field: string, path: Path, read: (one: unknown, at: Path) => T | undefined): T[] {
    if (fields[field] === undefined) return [];
    const at = [...path, field];
    return this.list(fields[field], at).flatMap((one, i) => read(one, [...at, i]) ?? []);
  }

  private list(value: unknown, path: Path): readonly unknown[] {
    if (Array.isArray(value)) return value;
    this.fail(`${path.at(-1)} must be a list`, path);
    return [];
  }

  private take<T>(parsed: Parsed<T>, path: Path): T | undefined {
    for (const issue of parsed.issues ?? []) this.issues.push({ ...issue, path });
    return parsed.value;
  }

  private fail(message: string, path: Path): void {
    this.issues.push({ message, path });
  }
}

function isVlanId(id: number): boolean {
  return id >= 1 && id <= 4094;
}
