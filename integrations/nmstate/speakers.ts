import {
  type Address,
  type Allocation,
  type Family,
  nodeNameOf,
  ownerOfKey,
  parseAddress,
  policyOfKey,
} from "../../core/index.ts";
import type { ClusterNode, Policy } from "../../schema/index.ts";
import { childLabels, hostnameLabel } from "../../schema/node.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { portsIn } from "../../schema/ports.ts";
import { asTruth } from "../../schema/truth.ts";
import { childName, labelValue } from "./child.ts";
import { selectNodes } from "./select.ts";

/** A policy, whoever made it, and the nodes that it speaks to. */
export interface Speaker {
  readonly name: string;
  readonly nodes: readonly ClusterNode[];
  readonly desiredState: unknown;
  /** The label value of the policy that it is, or was rendered from; absent where it has nothing to do with ours. */
  readonly origin?: unknown;
}

/** A policy of our own. */
export function ownSpeaker(policy: Policy, nodes: readonly ClusterNode[]): Speaker {
  const { name, desiredState } = policy;
  return { name, nodes: selectNodes(policy, nodes), desiredState, origin: labelValue(name) };
}

/** Policies that somebody else makes, with those of the nodes that they are known to select. Linear where each is for one node. */
export function otherSpeakers(objects: readonly Bag[], nodes: readonly ClusterNode[]): Speaker[] {
  const byHostname = Map.groupBy(nodes, ({ labels }): unknown => labels.get(hostnameLabel));
  return objects.map(({ metadata, spec }) => {
    const { nodeSelector, desiredState } = asBag(spec) ?? {};
    const selector = Object.entries(asBag(nodeSelector) ?? {});
    const hostname = asBag(nodeSelector)?.[hostnameLabel];
    const candidates = hostname === undefined ? nodes : (byHostname.get(hostname) ?? []);
    return {
      name: String(asBag(metadata)?.name),
      nodes: candidates.filter(({ labels }) => selector.every(([key, value]) => labels.get(key) === value)),
      desiredState,
      origin: asBag(asBag(metadata)?.labels)?.[childLabels.policy],
    };
  });
}

/** Is the speaker the policy that a line of the record is of, or what was rendered of it before? A copy of that has another name. */
export function speaksFor({ name, origin }: Speaker, { claim }: Allocation): boolean {
  const policy = policyOfKey(claim);
  if (origin !== labelValue(policy)) return false;
  return name === policy || name === childName(policy, nodeNameOf(ownerOfKey(claim)) ?? "");
}

/** The internal ports of Open vSwitch that a state makes: those have addresses, though they are ports of a bridge. */
export function internalPortsOf(desiredState: unknown): string[] {
  return asList(asBag(desiredState)?.interfaces).flatMap((item) => {
    const { name, type } = asBag(item) ?? {};
    return type === "ovs-interface" && typeof name === "string" ? name : [];
  });
}

export const portOf = "a port of another interface";

/** What a state says of the addresses of one family of a NIC. */
export interface Saying {
  /** A name, or a template of one. */
  readonly nic: string;
  readonly family: Family;
  /** What wipes the addresses that somebody else sets there; absent where nothing does. */
  readonly wipes?:
    | "state: absent"
    | "dhcp: true"
    | "enabled: false"
    | "an address list"
    | "state: down"
    | typeof portOf;
  /** The items of its list; undefined for one that is no literal address. */
  readonly addresses?: readonly (Address | undefined)[];
}

export function sayingsOf(desiredState: unknown): Saying[] {
  const interfaces = asBag(desiredState)?.interfaces;
  // A list that a capture makes on the node may hold any NIC.
  if (typeof interfaces === "string") return families.map((family) => ({ nic: interfaces, family }));
  const said = asList(interfaces).flatMap((item) => {
    const { name, ...entry } = asBag(item) ?? {};
    // A bridge of Open vSwitch may share a name with its own port, which has the addresses.
    if (typeof name !== "string" || entry.type === "ovs-bridge") return [];
    return families.flatMap((family) => sayingOf(entry, name, family) ?? []);
  });
  const ports = portsIn(desiredState).flatMap((nic) =>
    families.map((family): Saying => ({ nic, family, wipes: portOf })),
  );
  return [...said, ...ports];
}

const families = [4, 6] as const;

function sayingOf(entry: Bag, nic: string, family: Family): Saying | undefined {
  if (entry.state === "ignore") return undefined;
  if (entry.state === "absent" || entry.state === "down") return { nic, family, wipes: `state: ${entry.state}` };
  const value = entry[`ipv${family}`];
  if (value === undefined || value === null) return undefined;
  const section = asBag(value);
  if (asTruth(section?.enabled) === false) return { nic, family, wipes: "enabled: false" };
  if (asTruth(section?.dhcp) === true) return { nic, family, wipes: "dhcp: true" };
  if (section === undefined || section.address === undefined || section.address === null) return { nic, family };
  const addresses = Array.isArray(section.address)
    ? section.address.map((one) => parseAddress(asBag(one)?.ip).value)
    : [undefined];
  return { nic, family, wipes: "an address list", addresses };
}
