import { type Allocation, nodeNameOf, ownerOfKey, type Place, policyOfKey } from "../../core/index.ts";
import { type ClusterNode, childLabels, hostnameLabel } from "../../schema/node.ts";
import { type LocatedObject, placeless, placeOfName } from "../../schema/objects.ts";
import type { Facts } from "../contract/integration.ts";
import { isManaged } from "../contract/managed-by.ts";
import { childName, labelValue } from "./child.ts";
import { kindOfPolicies } from "./node-objects.ts";
import { asDesiredState, asPolicy } from "./objects.ts";
import { usesPools } from "./policy.ts";

/** A policy, of ours or of others, and the nodes that it selects. */
export interface ScopedPolicy {
  readonly name: string;
  readonly nodes: readonly ClusterNode[];
  readonly desiredState: unknown;
  /** The label value of the policy that it is, or was rendered from; absent where it has nothing to do with ours. */
  readonly origin?: unknown;
  /** Returns where its name stands. */
  readonly at: () => Place;
}

/** Policies with those of the nodes that they are known to select. Linear where each is for one node. */
export function scopedTo(objects: readonly LocatedObject[], nodes: readonly ClusterNode[]): ScopedPolicy[] {
  const byHostname = Map.groupBy(nodes, ({ labels }): unknown => labels.get(hostnameLabel));
  return objects.map((located) => {
    const { metadata, spec } = asPolicy(located.object);
    const { nodeSelector, desiredState } = spec;
    const selector = Object.entries(nodeSelector);
    const hostname = nodeSelector[hostnameLabel];
    const candidates = hostname === undefined ? nodes : (byHostname.get(hostname) ?? []);
    return {
      name: String(metadata.name),
      nodes: candidates.filter(({ labels }) => selector.every(([key, value]) => labels.get(key) === value)),
      desiredState,
      origin: metadata.labels[childLabels.policy],
      at: () => placeOfName(located),
    };
  });
}

/** Returns the policies of a cluster that take nothing from pools, with the nodes that they select. */
export function foreignPolicies(allOf: Facts["allOf"], nodes: readonly ClusterNode[]): ScopedPolicy[] {
  const all = allOf?.(kindOfPolicies) ?? [];
  return scopedTo(all.filter((one) => !isManaged(one) && !usesPools(one)).map(placeless), nodes);
}

/** Returns whether it is the policy of a line in the record, or was rendered from that. A copy has another name. */
export function isPolicyOf({ name, origin }: ScopedPolicy, { claim }: Allocation): boolean {
  const policy = policyOfKey(claim);
  if (origin !== labelValue(policy)) return false;
  return name === policy || name === childName(policy, nodeNameOf(ownerOfKey(claim)) ?? "");
}

/** Returns the internal ports of Open vSwitch that policies make: those have addresses, though they are ports of a bridge. */
export function internalPortsOf(policies: readonly ScopedPolicy[]): ReadonlySet<string> {
  return new Set(
    policies.flatMap(({ desiredState }) =>
      asDesiredState(desiredState).interfaces.flatMap(({ name, type }) =>
        type === "ovs-interface" && typeof name === "string" ? name : [],
      ),
    ),
  );
}
