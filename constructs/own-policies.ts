import { byCodeUnit, type Claim, IpamError, type Issue, type Pool } from "../core/index.ts";
import { Makers } from "../integrations/nmstate/makers.ts";
import { claimsOf, refuseTwins } from "../integrations/nmstate/select.ts";
import { otherSpeakers, ownSpeaker, type Speaker } from "../integrations/nmstate/speakers.ts";
import { misfits } from "../schema/misfits.ts";
import { type ClusterNode, hostnameLabel } from "../schema/node.ts";
import type { Bag } from "../schema/objects.ts";
import type { Policy } from "../schema/policy.ts";
import type { NodeNetworkPolicy } from "./node-network-policy.ts";

/** Who gives a policy its addresses; undefined where it takes none. Throws `invalid` where it is not one and the same. */
export function authorityOf(
  { name, policy }: NodeNetworkPolicy,
  pools: readonly Pool[],
): Pool["authority"] | undefined {
  const used = new Set([...policy.captures.values()].map(({ pool }) => pool));
  const authorities = new Set(pools.filter((pool) => used.has(pool.name)).map((pool) => pool.authority ?? "Plan"));
  if (authorities.size > 1)
    throw new IpamError("invalid", `policy ${name} takes addresses from pools of authority Plan and Cluster`, {
      hint: "Make two policies of it, for different interfaces.",
    });
  return used.size === 0 ? undefined : ([...authorities][0] ?? "Plan");
}

/** The claims that this app plans. Throws `invalid` if two policies, or what two policies say of a node, contradict each other. */
export function claimsIn(policies: readonly NodeNetworkPolicy[], pools: readonly Pool[]): Claim[] {
  const makers = new Makers();
  for (const { name, node } of policies) makers.take(name, node.path);
  nodesOf(policies);
  const byName = new Map(pools.map((pool) => [pool.name, pool]));
  const issues = policies.flatMap(({ policy }) => [...strangePools(policy, byName), ...misfits(policy, byName)]);
  if (issues.length > 0) throw new IpamError("invalid", issues);
  return policies.flatMap((policy) => claimsOfPolicy(policy, pools));
}

function strangePools({ name, captures }: Policy, pools: ReadonlyMap<string, Pool>): Issue[] {
  return [...captures].flatMap(([capture, { pool }]) =>
    pools.has(pool)
      ? []
      : {
          message: `capture ${capture} of policy ${name} asks for pool ${pool}, which is not in this app`,
          hint: "Add it: new NodeIPPool(chart, id, { external: true, ... }) where another app applies it.",
        },
  );
}

function claimsOfPolicy(construct: NodeNetworkPolicy, pools: readonly Pool[]): Claim[] {
  const { name, policy, props } = construct;
  if (authorityOf(construct, pools) !== "Plan") return [];
  if (props.nodes === undefined)
    throw new IpamError("invalid", `policy ${name} takes addresses from pools, but has no nodes`, {
      hint: 'Add nodes: Nodes.fromFile("nodes.yaml"), or leave the pools to the cluster (authority Cluster).',
    });
  return claimsOf(policy, props.nodes.all);
}

/** All nodes that policies know, by name: whoever has a policy no more may still have its address. */
export function nodesOf(policies: readonly NodeNetworkPolicy[]): Map<string, ClusterNode> {
  const known = new Map<string, ClusterNode>();
  for (const node of policies.flatMap(({ props }) => props.nodes?.all ?? [])) {
    const other = known.get(node.name) ?? node;
    const [is, was] = [node, other].map(({ labels }) => labels.get(hostnameLabel));
    if (is !== was)
      throw new IpamError("invalid", `node ${node.name} has the label ${hostnameLabel}: ${was}, and elsewhere ${is}`, {
        hint: "Give all policies the same nodes.",
      });
    known.set(node.name, node);
  }
  refuseTwins([...known.values()]);
  return new Map([...known].sort(([a], [b]) => byCodeUnit(a, b)));
}

/** All policies of the app, and whom they speak to: without nodes of its own, or left to the cluster, to all nodes that it selects. */
export function speakersIn(
  policies: readonly NodeNetworkPolicy[],
  others: readonly Bag[],
  pools: readonly Pool[],
): Speaker[] {
  const isLeft = (one: NodeNetworkPolicy) => one.props.nodes === undefined || authorityOf(one, pools) === "Cluster";
  const left = policies.filter(isLeft).map(({ policy }) => policy.source as unknown as Bag);
  return [
    ...policies.filter((one) => !isLeft(one)).map(({ policy, props }) => ownSpeaker(policy, props.nodes?.all ?? [])),
    ...otherSpeakers([...left, ...others], [...nodesOf(policies).values()]),
  ];
}
