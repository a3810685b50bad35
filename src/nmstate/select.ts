import { type Claim, IpamError, type Issue } from "../core/index.ts";
import { type ClusterNode, hostnameLabel, type Policy } from "../schema/index.ts";

/** The key that parks a policy: no node bears it, so no handler applies it. */
export const parkKey = "nmstate.io/ippool-template";

/** The nodes a policy is for. Throws `invalid` where a node is known by name alone and the selector asks for more. */
export function selectNodes(policy: Policy, nodes: readonly ClusterNode[]): ClusterNode[] {
  const selector = Object.entries(policy.nodeSelector).filter(([key]) => key !== parkKey);
  const issues: Issue[] = [];
  const selected = nodes.filter((node) =>
    selector.every(([key, value]) => {
      if (node.bare && key !== hostnameLabel)
        issues.push({
          message: `policy ${policy.name} selects nodes by ${key}, but only the name of ${node.name} is known`,
          hint: "Give the nodes with their labels: kubectl get nodes -o json, or NAME label=value in the list.",
        });
      return node.labels.get(key) === value;
    }),
  );
  if (issues.length > 0) throw new IpamError("invalid", issues.slice(0, 1));
  return selected;
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
