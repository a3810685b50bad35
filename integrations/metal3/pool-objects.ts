import {
  type Address,
  compareAddresses,
  familyOf,
  formatAddress,
  type Issue,
  normalised,
  type Parsed,
  parseAddress,
} from "../../core/index.ts";
import { ownPrefix } from "../../schema/node.ts";
import type { RenderedObject } from "../contract/integration.ts";
import type { ObjectOptions, TemplateOptions } from "./cluster.ts";
import { metaData } from "./host-objects.ts";
import { type Host, type Infra, type Network, objectName, type Unit, unitPath } from "./infra.ts";
import { type LinkNetwork, type NetworkData, type NetworkLink, networkData } from "./network-data.ts";
import { bareMetalHost, metadataFor } from "./object-parts.ts";

/** A host that has an address of a network. */
export interface Holder {
  readonly unit: string;
  readonly host: string;
  readonly address: Address;
}

/**
 * A network as an IPPool of Metal3, whose addresses are given already: Metal3 gives them to these hosts if its controller has
 * ENABLE_BMH_NAME_BASED_PREALLOCATION=true. It has no others, so that Metal3 never chooses one that the record does not know.
 */
export function ipPool(
  { pool, dnsServers }: Network,
  holders: readonly Holder[],
  options: Omit<TemplateOptions, "apiVersion">,
): RenderedObject {
  const sorted = holders.toSorted((a, b) => compareAddresses(a.address, b.address));
  const given = sorted.map(({ unit, host, address }) => [
    `${objectName(unit, host)}-${pool.name}`,
    formatAddress(address),
  ]);
  return {
    apiVersion: "ipam.metal3.io/v1alpha1",
    kind: "IPPool",
    metadata: metadataFor(pool.name, options),
    spec: {
      clusterName: options.clusterName,
      namePrefix: pool.name,
      pools: normalised(sorted.map(({ address }) => ({ first: address, last: address }))).map(({ first, last }) => ({
        start: formatAddress(first),
        end: formatAddress(last),
      })),
      prefix: pool.prefix.length,
      ...(pool.gateway === undefined ? {} : { gateway: formatAddress(pool.gateway) }),
      ...(dnsServers.length === 0 ? {} : { dnsServers: dnsServers.map(formatAddress) }),
      preAllocations: Object.fromEntries(given),
    },
  };
}

/** A host with the MAC addresses that the template of its unit asks for. */
export function annotatedHost(unit: Unit, host: Host, options: ObjectOptions): RenderedObject {
  const annotations = Object.fromEntries([...host.macs].map(([nic, mac]) => [macAnnotation(nic), mac]));
  return bareMetalHost(unit, host.name, { annotations }, options);
}

/** Returns the annotation with the MAC address of a NIC. */
function macAnnotation(nic: string): string {
  return `${ownPrefix}mac-${nic}`;
}

/**
 * The template for the machines of a unit whose addresses come from IPPools. It is of v1beta1 always, which newer releases
 * serve too: the bonds of v1beta2 must have parameters, and those may be no texts.
 */
export function poolTemplate(
  infra: Pick<Infra, "networks">,
  unit: Unit,
  addresses: ReadonlyMap<string, Address>,
  options: Omit<TemplateOptions, "apiVersion">,
): Parsed<RenderedObject> {
  const [host] = unit.hosts;
  const sample: Host = host ?? { name: "none", macs: new Map() };
  const data = networkData(infra, unit, sample, addresses);
  if (data.issues) return data;
  const issues = data.value.networks
    .filter(({ network_id }) => !infra.networks.has(network_id))
    .map(({ ip_address }): Issue => {
      const path = [...unitPath(unit.name), "networkConfig"];
      return { message: `${ip_address} is of no network: a template takes all addresses from pools`, path };
    });
  if (issues.length > 0) return { issues };
  return {
    value: {
      apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
      kind: "Metal3DataTemplate",
      metadata: metadataFor(unit.name, options),
      spec: { clusterName: options.clusterName, metaData, networkData: templateOf(data.value, sample.macs) },
    },
  };
}

function templateOf({ links, networks, services }: NetworkData, macs: ReadonlyMap<string, string>) {
  const nicOf = new Map([...macs].map(([nic, mac]) => [mac, nic]));
  const fromAnnotation = (mac: unknown) => {
    const annotation = macAnnotation(nicOf.get(`${mac}`) ?? "");
    return { macAddress: { fromAnnotation: { object: "baremetalhost", annotation } } };
  };
  const linksOf = (type: NetworkLink["type"], rest: (link: NetworkLink) => object) =>
    links
      .filter((link) => link.type === type)
      .map((link) => ({
        id: link.id,
        ...rest(link),
        ...(link.mtu === undefined ? {} : { mtu: link.mtu }),
        ...fromAnnotation(link.ethernet_mac_address ?? link.vlan_mac_address),
      }));
  const networksOf = (type: LinkNetwork["type"]) => networks.filter((one) => one.type === type).map(networkOf);
  return {
    links: nonEmpty({
      ethernets: linksOf("phy", () => ({ type: "phy" })),
      bonds: linksOf("bond", bondOf),
      vlans: linksOf("vlan", ({ vlan_id, vlan_link }) => ({ vlanID: vlan_id, vlanLink: vlan_link })),
    }),
    networks: nonEmpty({ ipv4: networksOf("ipv4"), ipv6: networksOf("ipv6") }),
    services: { dns: services.map(({ address }) => address) },
  };
}

/** Metal3's provider puts `bond_` before the name of each parameter. */
function bondOf({ id: _, type: __, mtu: ___, ethernet_mac_address: ____, ...bond }: NetworkLink) {
  const { bond_mode, bond_xmit_hash_policy, bond_links, ...others } = bond;
  const parameters = Object.fromEntries(
    Object.entries(others).map(([key, value]) => [key.replace(/^bond_/, ""), value]),
  );
  return {
    bondMode: bond_mode,
    ...(bond_xmit_hash_policy === undefined ? {} : { bondXmitHashPolicy: bond_xmit_hash_policy }),
    bondLinks: bond_links,
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
  };
}

function networkOf({ id, link, network_id, routes }: LinkNetwork) {
  return {
    id,
    link,
    ipAddressFromIPPool: network_id,
    routes: routes.map(({ network, netmask, gateway }) => ({
      network,
      prefix: lengthOfMask(netmask),
      gateway: { string: gateway },
    })),
  };
}

/** Returns the prefix length of a netmask of either family. */
export function lengthOfMask(netmask: string): number {
  const { value = 0n } = parseAddress(netmask);
  const isIPv6 = familyOf(value as Address) === 6;
  return (isIPv6 ? value.toString(2).slice(1) : value.toString(2)).replaceAll("0", "").length;
}

function nonEmpty(lists: Readonly<Record<string, readonly object[]>>) {
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}
