import { type Claim, IpamError, type Issue, isOfAddresses, type Parsed } from "../../core/index.ts";
import { enough } from "../../schema/issues.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import { didYouMean } from "../../schema/nearest.ts";
import { type ClusterNode, childLabels } from "../../schema/node.ts";
import { type Bag, issueIn, type LocatedObject, placeOfName } from "../../schema/objects.ts";
import type { Facts, IdleObject, ReadObjects } from "../contract/integration.ts";
import { metadataOf } from "../contract/object-metadata.ts";
import { readEach } from "../contract/read-each.ts";
import { childName, labelValue } from "./child.ts";
import { misfits } from "./misfits.ts";
import { parsePolicy } from "./parse-policy.ts";
import type { Policy } from "./policy.ts";
import { type ScopedPolicy, scopedTo } from "./scoped-policy.ts";
import { authorityOf, claimsOf, mixedAuthorities, refuseTwins, selectedBy, selectNodes, selectorOf } from "./select.ts";

/** A policy that takes addresses from pools, and the object that it was read from. */
export interface OwnPolicy {
  readonly policy: Policy;
  readonly source: SourceObject;
  /** The names of policies that a plan has made of policies for single nodes. */
  readonly planned: ReadonlySet<unknown>;
}

/** The policies, as they were read. */
export interface NmstateModel {
  readonly own: readonly OwnPolicy[];
  /** The policies that pass as they are. */
  readonly others: readonly LocatedObject[];
}

/** Reads policies. All issues, each with its place. */
export function readPolicies({ owned, others }: ReadObjects): Parsed<NmstateModel> {
  const { value: read, issues } = readEach(owned, parsePolicy);
  if (issues !== undefined) return { issues };
  const planned = new Set(others.flatMap(({ object }) => plannedName(object)));
  const own = read.map(({ value: policy, source }) => ({ policy, source, planned }));
  return { value: { own, others } };
}

function plannedName(policy: Bag): unknown[] {
  const { name, labels } = metadataOf(policy);
  return labels[childLabels.policy] === undefined ? [] : [name];
}

/** One claim for each node and capture of the policies that are expanded. Throws IpamError `invalid` for what pools cannot give. */
export function claimsIn(model: NmstateModel, facts: Facts): Claim[] {
  refuseTwins(facts.nodes);
  const issues: Issue[] = [];
  for (const { policy, source } of model.own)
    issues.push(...poolIssues(policy, facts, issues.length).map((issue) => issueIn(source, issue)));
  if (issues.length > 0) throw new IpamError("invalid", issues);
  return model.own
    .filter((one) => isExpanded(one, facts))
    .flatMap((one) => {
      const at = (capture: string) => one.source.at(["spec", "capture", capture], capture);
      return claimsOf(one.policy, nodesOf(one, facts), at);
    });
}

/** The next step for a capture in a cluster: the webhook of kubernetes-nmstate refuses to change one. */
export const replaceCaptures = "Captures cannot be changed: delete the policy and apply it again";

/** `before`: how many issues there are already; a look for what was meant costs a look at every pool. */
function poolIssues(policy: Policy, { pools, unsound, authority }: Facts, before: number): Issue[] {
  const desiredState = ["spec", "desiredState"];
  const found = misfits(policy, pools).map((issue) => ({ ...issue, path: [...desiredState, ...(issue.path ?? [])] }));
  const refused = [...policy.captures].flatMap(([capture, { pool: name }], i): Issue[] => {
    const path = ["spec", "capture", capture];
    const pool = pools.get(name);
    const why = unsound?.get(name)?.why;
    if (pool === undefined && why !== undefined)
      return [{ message: `capture ${capture} asks for NodeIPPool ${name}, which allocates nothing now: ${why}`, path }];
    if (pool === undefined)
      return [
        {
          message: `capture ${capture} asks for pool ${name}, which is not defined${before + i < enough ? didYouMean(name, pools.keys()) : ""}`,
          path,
          hint:
            authority === "Cluster"
              ? `Create the NodeIPPool, or correct the name. ${replaceCaptures}`
              : "If it is defined in another folder, define it here too, word for word.",
        },
      ];
    if (isOfAddresses(pool)) return [];
    return [
      {
        message: `capture ${capture} asks for an address of pool ${name}, which gives blocks of /${pool.blockLength}`,
        path,
        hint: `Take it from a pool without blockLength.${authority === "Cluster" ? ` ${replaceCaptures}` : ""}`,
      },
    ];
  });
  const issues = [...found, ...refused];
  return issues.length > 0 ? issues : [mixedAuthorities(policy, pools) ?? []].flat();
}

/**
 * The nodes that a policy of ours is for. In a cluster these are not the ones for which a plan has written a policy already.
 * Throws IpamError `invalid` if a selector cannot be evaluated.
 */
export function nodesOf({ policy, source, planned }: OwnPolicy, { nodes, authority }: Facts): ClusterNode[] {
  const selected = selectNodes(policy, source.nodes ?? nodes);
  return authority === "Cluster" ? selected.filter(({ name }) => !planned.has(childName(policy.name, name))) : selected;
}

/** Policies that select none of the nodes that they are for. */
export function idlePolicies({ own }: NmstateModel, { nodes: all }: Facts): IdleObject[] {
  return own.flatMap(({ policy, source }) => {
    const { name } = policy;
    const { nodes = all } = source;
    if (selectedBy(policy, nodes).length > 0) return [];
    const at = source.at(["spec", "nodeSelector"], "nodeSelector");
    return [{ name, why: `policy ${name} ${whyNone(policy, nodes)}`, at }];
  });
}

/** Of one node, the labels that it lacks; of several, the first label that none of them has, and the nearest one. */
function whyNone(policy: Policy, nodes: readonly ClusterNode[]): string {
  const [node, ...others] = nodes;
  const selector = selectorOf(policy);
  if (node !== undefined && others.length === 0) {
    const lacking = selector
      .filter(([label, value]) => node.labels.get(label) !== value)
      .map(([label, value]) => `${label}: ${value}, and the node has ${node.labels.get(label) ?? "no such label"}`);
    return `does not select ${node.name}: it wants ${lacking.join("; ")}`;
  }
  const none = selector.find(([label, value]) => nodes.every(({ labels }) => labels.get(label) !== value));
  if (none === undefined) return "selects none of the nodes";
  const [label, value] = none;
  const values = nodes.flatMap(({ labels }) => labels.get(label) ?? []);
  const near =
    values.length > 0
      ? didYouMean(value, values)
      : didYouMean(label, new Set(nodes.flatMap(({ labels }) => [...labels.keys()])));
  return `selects none of the nodes: none has ${label}: ${value}${near}`;
}

/** Returns whether a policy is rendered as one policy for each node. Otherwise it goes to the cluster as it is, for all its nodes. */
export function isExpanded({ policy, source }: OwnPolicy, { pools, authority: asking = "Plan" }: Facts): boolean {
  const authority = authorityOf(policy, pools);
  return authority === asking || (authority === undefined && source.nodes !== undefined);
}

/** All policies, each with the nodes that it selects; without those that wait for its addresses, and so have nothing of it. */
export function scopedPolicies(
  { own, others }: NmstateModel,
  facts: Facts,
  waits: (policy: Policy, node: ClusterNode) => boolean = () => false,
): ScopedPolicy[] {
  const expanded = own.filter((one) => isExpanded(one, facts));
  const asTheyAre = own.filter((one) => !isExpanded(one, facts)).map(({ source }) => source);
  return [
    ...expanded.map((one) => ({
      name: one.policy.name,
      nodes: nodesOf(one, facts).filter((node) => !waits(one.policy, node)),
      desiredState: one.policy.desiredState,
      origin: labelValue(one.policy.name),
      at: () => placeOfName(one.source),
    })),
    ...scopedTo([...asTheyAre, ...others], facts.nodes),
  ];
}
