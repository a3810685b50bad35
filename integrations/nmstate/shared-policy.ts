import { type ClusterNode, childLabels, ownPrefix } from "../../schema/node.ts";
import type { Bag } from "../../schema/objects.ts";
import { isManaged } from "../contract/managed-by.ts";
import { labelsOf, nameOf } from "../contract/object-metadata.ts";
import { cleanupName, fleetName, labelValue } from "./child.ts";

/*
 * Of a policy in the fleet form the controller makes policies for many nodes: one that gives addresses, and, while some are to be taken
 * off, one that does that. A label of the Node, the gate, lets such a policy select a node once its enactment captures what it needs.
 */

/** Such a policy selects the nodes whose gate has this value. */
export const openGate = "open";

/** A change of it has the handler of a node look at the policies of the node. It stays. */
export const retryLabel = `${ownPrefix}retry`;

const gatePrefix = "gate.nodeippool.nmstate.io/";
const cleanupGatePrefix = "cleanup.nodeippool.nmstate.io/";

/** Returns whether a policy may have gates: a label holds its name whole. */
export function hasGates(policy: string): boolean {
  return labelValue(policy) === policy;
}

/** Returns the label of the nodes that have their addresses for a policy. */
export function gateOf(policy: string): string {
  return `${gatePrefix}${policy}`;
}

/** Returns the label of the nodes that have in their enactments what is to be taken off for a policy. */
export function cleanupGateOf(policy: string): string {
  return `${cleanupGatePrefix}${policy}`;
}

/** Returns the policy whose such gate a label is, in a list; none if it is another label. */
export function policyOfCleanupGate(label: string): string[] {
  return label.startsWith(cleanupGatePrefix) ? [label.slice(cleanupGatePrefix.length)] : [];
}

export function isGate(label: string): boolean {
  return label.startsWith(gatePrefix) || label.startsWith(cleanupGatePrefix);
}

/** Returns whether a policy for many nodes selects a node, or did. */
export function wasGated({ labels }: ClusterNode): boolean {
  return labels.has(retryLabel) || [...labels.keys()].some(isGate);
}

/** Evaluates to nothing, so that a handler without captured states refuses the policy. */
export const neverMatches = 'interfaces.name=="allocated by nodeippool"';

/** Returns the name of the policy that such an object was made of. */
export function originOf(object: Bag): string {
  return `${labelsOf(object)[childLabels.policy]}`;
}

/** Returns whether an object is the one policy that gives addresses to the nodes of another. */
export function isFleetPolicy(object: Bag): boolean {
  return isManaged(object) && nameOf(object) === fleetName(originOf(object));
}

/** Returns whether an object is the one policy that takes addresses of another off nodes. */
export function isSharedCleanup(object: Bag): boolean {
  return isManaged(object) && nameOf(object) === cleanupName(originOf(object));
}

/** Returns whether an object is either of these. */
export function isSharedPolicy(object: Bag): boolean {
  return isFleetPolicy(object) || isSharedCleanup(object);
}
