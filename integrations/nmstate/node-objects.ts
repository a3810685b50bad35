import { type Allocation, nodeNameOf, ownerOfKey, policyOfKey } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { kindInGroup } from "../contract/object-key.ts";
import { childName, cleanupName, fleetName } from "./child.ts";
import { cleanedBy } from "./cleanup-form.ts";
import { isSharedCleanup } from "./shared-policy.ts";

/** What the cluster shows of the node that has, or had, an address. */
export interface NodeObjects {
  readonly node: Bag | undefined;
  /** Its NodeNetworkState. */
  readonly report: Bag | undefined;
  /** The policy that the controller made for it; of the one that takes addresses off many nodes, what this one is to have. */
  readonly policy: Bag | undefined;
  /** How its handler fared with that. */
  readonly enactment: Bag | undefined;
}

type Find = (key: string) => Bag | undefined;

/** The kind of a policy, as keys have it. */
export const kindOfPolicies = kindInGroup("NodeNetworkConfigurationPolicy", "nmstate.io");

export function keyOfPolicy(name: string): string {
  return `${kindOfPolicies}/${name}`;
}

export function keyOfEnactment(node: string, policy: string): string {
  return `${kindInGroup("NodeNetworkConfigurationEnactment", "nmstate.io")}/${node}.${policy}`;
}

/** Returns the keys of a node's report, its policy, the enactment of that, and the same of policies for many nodes. */
export function evidenceOf({ claim }: Allocation): string[] {
  const node = nodeNameOf(ownerOfKey(claim)) ?? "";
  const policy = policyOfKey(claim);
  const [child, fleet, cleanup] = [childName(policy, node), fleetName(policy), cleanupName(policy)];
  const enactments = [child, fleet, cleanup].map((name) => keyOfEnactment(node, name));
  return [keyOfReport(node), keyOfPolicy(child), keyOfPolicy(cleanup), ...enactments];
}

export function keyOfReport(node: string): string {
  return `${kindInGroup("NodeNetworkState", "nmstate.io")}/${node}`;
}

/** Finds what shows whether a node has an address. */
export function nodeObjectsOf({ claim }: Allocation, find: Find): NodeObjects {
  const node = nodeNameOf(ownerOfKey(claim)) ?? "";
  const policy = policyOfKey(claim);
  return { node: find(ownerOfKey(claim)), report: find(keyOfReport(node)), ...ownPolicyOf(policy, node, find) };
}

/**
 * Finds what a node has of a policy for itself alone.
 *
 *  the node has                                      | the policy             | its enactment
 *  --------------------------------------------------+------------------------+----------------------------------------
 *  a policy of its own, or an enactment of one that  | that                   | of that
 *   is gone: its handler may not have seen that yet  |                        |
 *  an enactment of the one that takes addresses off  | what the node is to    | that
 *   many nodes                                       |  have by it            |
 */
function ownPolicyOf(policy: string, node: string, find: Find): Pick<NodeObjects, "policy" | "enactment"> {
  const name = childName(policy, node);
  const own = { policy: find(keyOfPolicy(name)), enactment: find(keyOfEnactment(node, name)) };
  if (own.policy !== undefined || own.enactment !== undefined) return own;
  const enactment = find(keyOfEnactment(node, cleanupName(policy)));
  const shared = find(keyOfPolicy(cleanupName(policy)));
  if (enactment === undefined || shared === undefined || !isSharedCleanup(shared)) return own;
  return { policy: { ...shared, spec: { desiredState: cleanedBy(enactment) } }, enactment };
}
