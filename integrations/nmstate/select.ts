import {
  type Claim,
  IpamError,
  type Issue,
  isPlanned,
  nameOfKey,
  nodeNameOf,
  ownerOfKey,
  type Place,
  type Pool,
  placed,
} from "../../core/index.ts";
import { type ClusterNode, hostnameLabel } from "../../schema/node.ts";
import { refuseUnknownLabels } from "../contract/known-labels.ts";
import { hostnameOf } from "./child.ts";
import type { Policy } from "./policy.ts";

/** The key that parks a policy: no node has this label, so no handler applies the policy. */
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

/** Returns the labels that the user wants a node to have: without the one that parks the policy. */
export function selectorOf({ nodeSelector }: Pick<Policy, "nodeSelector">): [key: string, value: string][] {
  return Object.entries(nodeSelector).filter(([key]) => key !== parkKey);
}

/** Returns the nodes that have these labels. */
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
      throw new IpamError("invalid", [
        {
          message: `nodes ${twin.name} and ${node.name} have the same label ${hostnameLabel}: ${hostname}`,
          ...placed(node.at),
        },
      ]);
    if (hostname !== undefined) known.set(hostname, node);
  }
}

/** Returns the authority of a policy's pools; undefined if it uses none. Throws `invalid` if its pools have different ones. */
export function authorityOf(policy: Policy, pools: ReadonlyMap<string, Pool>): "Plan" | "Cluster" | undefined {
  const issue = mixedAuthorities(policy, pools);
  if (issue !== undefined) throw new IpamError("invalid", [issue]);
  return [...authoritiesOf(policy, pools)][0];
}

/** Returns the issue with a policy whose pools are not all of one authority. */
export function mixedAuthorities(policy: Policy, pools: ReadonlyMap<string, Pool>): Issue | undefined {
  if (authoritiesOf(policy, pools).size < 2) return undefined;
  return {
    message: `policy ${policy.name} takes addresses from pools of authority Plan and Cluster`,
    path: ["spec", "capture"],
    hint: "Make two policies of it, one for each authority and each with NICs of its own.",
  };
}

function authoritiesOf({ captures }: Policy, pools: ReadonlyMap<string, Pool>): ReadonlySet<"Plan" | "Cluster"> {
  const used = [...captures.values()].map(({ pool }) => pools.get(pool));
  return new Set(used.map((pool) => (pool === undefined || isPlanned(pool) ? "Plan" : "Cluster")));
}

/**
 * One claim for each node a policy is for and each capture it makes: `Node/<node>` asks as `<policy>/<capture>`. `at` is where a
 * capture stands.
 */
export function claimsOf(policy: Policy, nodes: readonly ClusterNode[], at: (capture: string) => Place): Claim[] {
  const captures = [...policy.captures].map(([capture, { pool, interface: nic }]) => ({
    name: claimName(policy, capture),
    pool,
    ...(nic === undefined ? {} : { interface: nic }),
    at: () => at(capture),
  }));
  return selectNodes(policy, nodes).flatMap(({ name }) =>
    captures.map((capture) => ({ owner: { kind: "Node", name }, ...capture })),
  );
}

export function claimName(policy: Policy, capture: string): string {
  return `${policy.name}/${capture}`;
}

/** Returns whether a claim's key is that of a policy's claim. */
export function isPolicyClaim(claim: string): boolean {
  return nodeNameOf(ownerOfKey(claim)) !== undefined && nameOfKey(claim).includes("/");
}
