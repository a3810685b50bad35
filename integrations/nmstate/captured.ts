import { type Address, familyOf, formatAddress, nodeOwner, type Pool, parseAddress } from "../../core/index.ts";
import { type Findings, useOf } from "../../schema/findings.ts";
import { type ClusterNode, childLabels } from "../../schema/node.ts";
import type { Bag, LocatedObject } from "../../schema/objects.ts";
import { referencesIn } from "../../schema/template.ts";
import type { RenderedObject } from "../contract/integration.ts";
import { labelsOf } from "../contract/object-metadata.ts";
import { fleetName, isFleetName, labelValue } from "./child.ts";
import { hasCondition } from "./enactment.ts";
import { asCaptured, asEnactment } from "./objects.ts";
import type { Policy } from "./policy.ts";

/** Stands in an enactment for a NIC whose name is unknown. */
export const unknownNic = "allocated";

/** The labels by which a handler knows an enactment. */
export const enactmentLabels = { policy: "nmstate.io/policy", node: "nmstate.io/node" };

/** Returns the enactment of a node with its addresses, as the node's handler makes it, for the fleet form of a policy. */
export function fleetEnactment(
  { name, captures, desiredState }: Policy,
  node: ClusterNode,
  addresses: ReadonlyMap<string, { readonly address: Address; readonly pool: Pool }>,
): RenderedObject {
  const used = capturedBy(desiredState);
  const states = [...addresses].flatMap(([capture, { address, pool }]) => {
    if (!used.has(capture)) return [];
    const listed = { ip: formatAddress(address), "prefix-length": pool.prefix.length };
    const family = { enabled: true, address: [listed] };
    const nic = { name: captures.get(capture)?.interface ?? unknownNic, type: "ethernet", state: "up" };
    return [[capture, { interfaces: [{ ...nic, [`ipv${familyOf(address)}`]: family }] }]];
  });
  return enactmentOf(name, fleetName(name), node, Object.fromEntries(states));
}

/** Returns the enactment of a node, as its handler makes it, for one policy that the controller has made of another. */
export function enactmentOf(
  origin: string,
  policy: string,
  node: ClusterNode,
  states: Readonly<Record<string, Bag>>,
): RenderedObject {
  const captured = Object.entries(states).map(([capture, state]) => [capture, { state, metaInfo }]);
  return {
    apiVersion: "nmstate.io/v1beta1",
    kind: "NodeNetworkConfigurationEnactment",
    metadata: {
      name: `${node.name}.${policy}`,
      labels: {
        [enactmentLabels.policy]: policy,
        [enactmentLabels.node]: node.name,
        [childLabels.policy]: labelValue(origin),
      },
      ...(node.uid && { ownerReferences: [{ apiVersion: "v1", kind: "Node", name: node.name, uid: node.uid }] }),
    },
    status: { capturedStates: Object.fromEntries(captured) },
  };
}

/** Returns the captures whose addresses a desired state has: a handler shows no others. */
export function capturedBy(desiredState: unknown): ReadonlySet<string> {
  const all = referencesIn(desiredState).map(({ reference }) => reference);
  return new Set(all.filter(({ field }) => field === "ip").map(({ capture }) => capture));
}

/** The CRD requires it; nobody reads it. */
const metaInfo = { version: "0", time: "1970-01-01T00:00:00Z" };

/** Returns whether an enactment is of the fleet form of a policy, whoever made it. */
export function isFleetEnactment(object: Bag): boolean {
  return isFleetName(policyOfEnactment(object));
}

/** Returns the name of the policy that an enactment is of. */
export function policyOfEnactment(object: Bag): string {
  return `${labelsOf(object)[enactmentLabels.policy]}`;
}

/** Returns the node of an enactment. */
export function nodeOfEnactment(object: Bag): string {
  return `${labelsOf(object)[enactmentLabels.node]}`;
}

/** Returns what an enactment captures: the address of each capture, with its NIC. */
export function capturedIn(enactment: Bag): { capture: string; nic: string; ip: string }[] {
  return Object.entries(asEnactment(enactment).status.capturedStates).flatMap(([capture, captured]) =>
    asCaptured(captured).state.interfaces.flatMap(({ name, ipv4, ipv6 }) =>
      [...ipv4.address, ...ipv6.address].map(({ ip }) => ({ capture, nic: `${name}`, ip: `${ip}` })),
    ),
  );
}

/** Returns the part of an enactment that the controller writes, as it compares it: handlers write the states anew. */
export function capturedPart(enactment: Bag): Bag {
  return Object.fromEntries(capturedIn(enactment).map(({ capture, nic, ip }) => [capture, `${ip} on ${nic}`]));
}

/** Returns what is kept of an enactment of the fleet form: what it captures, and whether its desired state has all of that. */
export function keepCaptured(enactment: Bag): Bag {
  const captured = capturedIn(enactment);
  const states = captured.map(({ capture, nic, ip }) => {
    const family = { address: [{ ip }] };
    return [capture, { state: { interfaces: [{ name: nic, [ip.includes(":") ? "ipv6" : "ipv4"]: family }] } }];
  });
  const desired = JSON.stringify(asEnactment(enactment).status.desiredState) ?? "";
  const isDesired = captured.length > 0 && captured.every(({ ip }) => desired.includes(JSON.stringify(ip)));
  return { capturedStates: Object.fromEntries(states), isDesired };
}

/** Returns whether a node has the addresses that its enactment captures: its handler has applied a desired state with all of them. */
export function isServedBy(enactment: Bag): boolean {
  return asEnactment(enactment).status.isDesired === true && hasCondition(enactment, "Available");
}

/** Adds the addresses that an enactment gives its node to findings: what a handler may still apply is in use. */
export function usesOfEnactment({ object, at }: LocatedObject, found: Findings): void {
  const node = labelsOf(object)[enactmentLabels.node];
  if (!isFleetEnactment(object)) return;
  for (const { capture, nic, ip } of capturedIn(object)) {
    const address = parseAddress(ip).value;
    if (address === undefined || node === undefined) continue;
    const place = at(["status", "capturedStates", capture], capture);
    found.uses.push({
      ...useOf(address, undefined, nic === unknownNic ? undefined : nic, place),
      owner: nodeOwner(node),
    });
  }
}
