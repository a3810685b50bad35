import { type Claim, IpamError, isPlanned, nameOfKey, nodeNameOf, ownerOfKey, type Pool } from "../../core/index.ts";
import { type ClusterNode, hostnameLabel } from "../../schema/node.ts";
import { refuseUnknownLabels } from "../known-labels.ts";
import { hostnameOf } from "./child.ts";
import type { Policy } from "./policy.ts";

/** The key that parks a policy: no node bears it, so no handler applies it. */
export const parkKey = "nmstate.io/ippool-template";

/**
 * The nodes a policy is for. Throws `invalid` where a node is known by name alone and the selector asks for more, and
 * where a policy could not be written for one of them alone.
 */
export function selectNodes(policy: Policy, nodes: readonly ClusterNode[]): ClusterNode[] {
  const keys = selectorOf(policy).map(([key]) => key);
  refuseUnknownLabels(`policy ${policy.name}`, keys, nodes);
  refuseTwins(nodes);
  const selected = selectedBy(policy, nodes);
  selected.forEach(hostnameOf);
  return selected;
}

/** The labels that the user wants a node to have: without what parks the policy. */
export function selectorOf({ nodeSelector }: Pick<Policy, "nodeSelector">): [key: string, value: string][] {
  return Object.entries(nodeSelector).filter(([key]) => key !== parkKey);
}

/** The nodes that have them. */
export function selectedBy(policy: Pick<Policy, "nodeSelector">, nodes: readonly ClusterNode[]): ClusterNode[] {
  const selector = selectorOf(policy);
  return nodes.filter(({ labels }) => selector.every(([key, value]) => labels.get(key) === value));
}

/** A policy for one node is selected by its hostname label: two nodes with one label would each get both. Throws `invalid`. */
export function refuseTwins(nodes: readonly ClusterNode[]): void {
  const known = new Map<string, ClusterNode>();
  for (const node of nodes) {
    const hostname = node.labels.get(hostnameLabel);
    const twin = hostname === undefined ? undefined : known.get(hostname);
    if (twin !== undefined)
      throw new IpamError(
        "invalid",
        `nodes ${twin.name} and ${node.name} have the same label ${hostnameLabel}: ${hostname}`,
      );
    if (hostname !== undefined) known.set(hostname, node);
  }
}

/** Who gives a policy its addresses; undefined where it takes none. Throws `invalid` where it is not one and the same. */
export function authorityOf(policy: Policy, pools: ReadonlyMap<string, Pool>): "Plan" | "Cluster" | undefined {
  const used = new Set([...policy.captures.values()].map(({ pool }) => pool));
  const authorities = new Set(
    [...used].map((name) => {
      const pool = pools.get(name);
      return pool === undefined || isPlanned(pool) ? "Plan" : "Cluster";
    }),
  );
  if (authorities.size > 1)
    throw new IpamError("invalid", `policy ${policy.name} takes addresses from pools of authority Plan and Cluster`, {
      hint: "Make two policies of it, one for each authority and each with NICs of its own.",
    });
  return [...authorities][0];
}

/** One claim for each node a policy is for and each capture it makes: `Node/<node>` asks as `<policy>/<capture>`. */
export function claimsOf(policy: Policy, nodes: readonly ClusterNode[]): Claim[] {
  return selectNodes(policy, nodes).flatMap((node) =>
    [...policy.captures].map(([capture, { pool, interface: nic }]) => ({
      owner: { kind: "Node", name: node.name },
      name: claimName(policy, capture),
      pool,
      ...(nic === undefined ? {} : { interface: nic }),
    })),
  );
}

export function claimName(policy: Policy, capture: string): string {
  return `${policy.name}/${capture}`;
}

/** Is a claim, by its key, one of a policy? */
export function isPolicyClaim(claim: string): boolean {
  return nodeNameOf(ownerOfKey(claim)) !== undefined && nameOfKey(claim).includes("/");
}
