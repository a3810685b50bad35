import { type Allocation, nodeNameOf, ownerOfKey, policyOfKey } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { kindInGroup } from "../contract/object-key.ts";
import { childName, fleetName } from "./child.ts";

/** What the cluster shows of the node that has, or had, an address. */
export interface NodeObjects {
  readonly node: Bag | undefined;
  /** Its NodeNetworkState. */
  readonly report: Bag | undefined;
  /** The policy that the controller made for it. */
  readonly policy: Bag | undefined;
  /** How its handler fared with that. */
  readonly enactment: Bag | undefined;
}

/** The kind of a policy, as keys have it. */
export const kindOfPolicies = kindInGroup("NodeNetworkConfigurationPolicy", "nmstate.io");

export function keyOfPolicy(name: string): string {
  return `${kindOfPolicies}/${name}`;
}

export function keyOfEnactment(node: string, policy: string): string {
  return `${kindInGroup("NodeNetworkConfigurationEnactment", "nmstate.io")}/${node}.${policy}`;
}

/** Returns the keys of a node's report, its policy, the enactment of that, and the one of a policy for many nodes. */
export function evidenceOf({ claim }: Allocation): string[] {
  const node = nodeNameOf(ownerOfKey(claim)) ?? "";
  const [child, fleet] = [childName(policyOfKey(claim), node), fleetName(policyOfKey(claim))];
  const report = `${kindInGroup("NodeNetworkState", "nmstate.io")}/${node}`;
  return [report, keyOfPolicy(child), keyOfEnactment(node, child), keyOfEnactment(node, fleet)];
}

/** Finds these objects, and the Node. */
export function nodeObjectsOf(line: Allocation, find: (key: string) => Bag | undefined): NodeObjects {
  const [report, policy, enactment] = evidenceOf(line).map(find);
  return { node: find(ownerOfKey(line.claim)), report, policy, enactment };
}
