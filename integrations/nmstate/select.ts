import { type Claim, IpamError, type Plan, policyOfKey } from "../../core/index.ts";
import type { ClusterNode, Policy } from "../../schema/index.ts";
import { hostnameLabel } from "../../schema/node.ts";
import { hostnameOf } from "./child.ts";

/** The key that parks a policy: no node bears it, so no handler applies it. */
export const parkKey = "nmstate.io/ippool-template";

/**
 * The nodes a policy is for. Throws `invalid` where a node is known by name alone and the selector asks for more, and
 * where a policy could not be written for one of them alone.
 */
export function selectNodes(policy: Policy, nodes: readonly ClusterNode[]): ClusterNode[] {
  const selector = Object.entries(policy.nodeSelector).filter(([key]) => key !== parkKey);
  const other = selector.map(([key]) => key).find((key) => key !== hostnameLabel);
  const bare = nodes.find((node) => node.bare);
  if (other !== undefined && bare !== undefined)
    throw new IpamError(
      "invalid",
      `policy ${policy.name} selects nodes by ${other}, but only the name of ${bare.name} is known`,
      {
        hint: "Give the nodes with their labels: kubectl get nodes -o json, or NAME kubernetes.io/hostname=NAME,label=value in the list.",
      },
    );
  refuseTwins(nodes);
  const selected = nodes.filter((node) => selector.every(([key, value]) => node.labels.get(key) === value));
  selected.forEach(hostnameOf);
  return selected;
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

/** Throws `invalid` where no policy takes an address any more, and the plan gives up what they had: more likely one is missing. */
export function refuseNoPolicy(policies: readonly Policy[], { release, set }: Plan): void {
  if (release.length === 0 || policies.some(({ captures }) => captures.size > 0)) return;
  const held = release.length === 1 ? "1 address that is held" : `${release.length} addresses that are held`;
  throw new IpamError("invalid", `no policy here takes an address from a pool: ${held} would be given up`, {
    hint: "See where they are. If that is meant, keep a policy, for no node: nodeSelector {kubernetes.io/hostname: none}. Of those that went to another folder or app, say so.",
    remedy: ["to-set", [...new Set(release.map(({ allocation }) => policyOfKey(allocation.claim)))], set],
  });
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
