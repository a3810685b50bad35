import { type Address, type Claim, formatOwner, type Owner, type Pool, type PoolSpec } from "../../core/index.ts";
import type { Path } from "../../schema/yaml.ts";
import type { Cluster } from "./cluster.ts";
import type { HostSelector } from "./infra-spec.ts";

/** A configuration of bare-metal clusters, as in the IPAM study for Metal3: networks, and the units of hosts on them. */
export interface Infra {
  readonly cluster: Cluster;
  readonly networks: ReadonlyMap<string, Network>;
  /** The controllers first, then node pools by name. */
  readonly units: readonly Unit[];
}

/** A network, as the pool that its addresses come from. */
export interface Network {
  readonly pool: Pool;
  /** The spec that a NodeIPPool for it would have. */
  readonly spec: PoolSpec;
  readonly dnsServers: readonly Address[];
}

/** Hosts with the same NICs and the same network configuration: the controllers, or one node pool. */
export interface Unit {
  /** `controllers`, or the name of the node pool. */
  readonly name: string;
  readonly replicas: number;
  /** The BareMetalHosts that are for this unit. */
  readonly hostSelector: HostSelector;
  /** As os-net-config has it, with templates (`template.ts`) in it. */
  readonly networkConfig: readonly unknown[];
  /** By name. */
  readonly hosts: readonly Host[];
}

/** A host, and the MAC address of each of its NICs, in lower case, by the name that the configuration calls it. */
export interface Host {
  readonly name: string;
  readonly macs: ReadonlyMap<string, string>;
}

/** The name of the unit that has the control plane. */
export const controllers = "controllers";

/** Where in the configuration a network stands. */
export function networkPath(network: string): Path {
  return ["infra", "networks", network];
}

/** Where in the configuration a unit stands. */
export function unitPath(unit: string): Path {
  return unit === controllers ? [controllers] : ["nodepools", unit];
}

/** Where in the configuration a host stands. */
export function hostPath(unit: string, host: string): Path {
  return [...unitPath(unit), "macMapping", host];
}

/** Two units may each have a `node-0`; no name of a unit holds a dot. */
export function ownerOfHost(unit: string, host: string): Owner {
  return { kind: "Host", name: `${unit}.${host}` };
}

/** Returns the host that a claim is of, by the key of the claim; undefined for claims of others. */
export function hostOfClaim(claim: string): { readonly unit: string; readonly host: string } | undefined {
  const [, unit, host] = /^Host\/([^./]+)\.([^/]+)\//.exec(claim) ?? [];
  return unit === undefined || host === undefined ? undefined : { unit, host };
}

/** Returns the name of the Kubernetes objects of a host. Parsing refuses two hosts with one such name. */
export function objectName(unit: string, host: string): string {
  return `${unit}-${host}`;
}

/** Returns the names of a host in lists, reports of nodes and Secrets, the surest first; `node-0` may be a host of either of two units. */
export function aliasesOfHost(owner: string): string[] {
  const { unit, host } = hostOfClaim(`${owner}/`) ?? {};
  if (unit === undefined || host === undefined) return [];
  const name = objectName(unit, host);
  return [`Node/${name}`, `Secret/${name}`, `Node/${unit}.${host}`, `${unit}/${host}`, `Node/${host}`];
}

/** Returns the name of the Kubernetes objects of the host of a claim; empty for claims of other owners. */
export function nameOfObjects(claim: string): string {
  const { unit, host } = hostOfClaim(claim) ?? {};
  return unit === undefined || host === undefined ? "" : objectName(unit, host);
}

/** Returns the claim of a host on a network. */
export function claimOn(network: string, unit: string, host: string): Claim {
  return { owner: ownerOfHost(unit, host), name: network, pool: network };
}

/** A host, as messages call it. */
export function titleOfHost(unit: string, host: string): string {
  return formatOwner(ownerOfHost(unit, host));
}
