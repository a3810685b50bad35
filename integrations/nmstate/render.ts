import { byCodeUnit } from "../../core/index.ts";
import type { SourceObject } from "../../schema/manifest-document.ts";
import type { ClusterNode } from "../../schema/node.ts";
import type { Facts, Holdings, Rendered, RenderedObject } from "../contract/integration.ts";
import { isServedBy } from "./captured.ts";
import { childName, fleetName } from "./child.ts";
import { droppedRoutes } from "./dropped-routes.ts";
import { parkPolicy, servesLaterNodes } from "./expand.ts";
import { whyNotFleet } from "./fleet.ts";
import { Leaving } from "./leaving.ts";
import { isExpanded, type NmstateModel, nodesOf, type OwnPolicy, scopedPolicies } from "./model.ts";
import { keyOfEnactment, keyOfPolicy } from "./node-objects.ts";
import type { Policy, PolicyObject } from "./policy.ts";
import { type DroppedFor, type LeftPolicies, LiveLines, PolicyLines } from "./policy-lines.ts";
import { keptOnNodes, withoutMissingNics } from "./releasing.ts";
import { foreignPolicies, type ScopedPolicy } from "./scoped-policy.ts";
import { authorityOf } from "./select.ts";
import { isFleetPolicy } from "./shared-policy.ts";
import { inLastWave } from "./sync-wave.ts";

/**
 * One policy per node for each policy that uses pools, and clean-up policies for releasing addresses.
 *
 *  the pools of a policy   | what stands in for it
 *  ------------------------+---------------------------------------------------------------
 *  authority Plan          | one policy per node that it selects or that is to lose addresses
 *   one with clusterRange  | the same, and the policy itself, parked
 *  authority Cluster       | the policy itself, parked: the controller expands it
 *  none, and no nodes given| the policy itself
 */
export function renderPolicies(given: NmstateModel, facts: Facts, held: Holdings, isFleet = false): Rendered {
  const holdings = facts.find === undefined ? held : withoutMissingNics(held, facts.find);
  const model = facts.authority === "Cluster" ? withoutMetadata(given) : given;
  const nodes = facts.nodes.toSorted((a, b) => byCodeUnit(a.name, b.name));
  const isAnyLeaving = holdings.snapshot.releasing.some(({ set }) => set === holdings.set);
  const live = new LiveLines(holdings);
  const waits: Waits = (policy, node) => facts.authority === "Cluster" && !live.cover(policy, node);
  const { find, allOf } = facts;
  let scoped: readonly ScopedPolicy[] | undefined;
  // Few renderings ask for all policies; those that do, ask for each node.
  const policies = () => (scoped ??= [...scopedPolicies(model, facts, waits), ...foreignPolicies(allOf, nodes)]);
  const leaving = new Leaving(holdings, isAnyLeaving ? policies() : []);
  const selected = new Map(model.own.map((one) => [one.policy, isExpanded(one, facts) ? nodesOf(one, facts) : []]));
  const byName = new Map(
    [...selected].map(([policy, its]) => [policy.name, { policy, names: new Set(its.map(({ name }) => name)) }]),
  );
  const left: LeftPolicies = (name, node) => {
    const known = byName.get(name);
    return known?.names.has(node.name) ? undefined : known?.policy;
  };
  const dropped: DroppedFor = (policy, node) => find && droppedRoutes(policy, node, find, policies);
  const lines = new PolicyLines(live, leaving, left, dropped, find);
  const instead = new Map<SourceObject, readonly RenderedObject[]>(
    model.own.map((one) => {
      const objects = isFleet && whyNotFleet(one.policy.source) === undefined ? fleetObjects : objectsOf;
      return [one.source, objects(one, { ...facts, nodes }, lines, waits)];
    }),
  );
  const kept = leaving.left(selected, nodes);
  return {
    instead,
    added: lines.orphans([...selected.keys()], nodes, isFleet),
    left: find === undefined ? kept : keptOnNodes(held, find, kept),
  };
}

/**
 * In a cluster nothing is copied: labels and annotations there also come from programs that manage the policy, and would
 * make them manage, prune or rewrite the policies of nodes, too.
 */
function withoutMetadata({ own, others }: NmstateModel): NmstateModel {
  const bare = ({ nodesPerSyncWave: _, ...policy }: Policy) => ({ ...policy, labels: {}, annotations: {} });
  return { own: own.map((one) => ({ ...one, policy: bare(one.policy) })), others };
}

/** In a cluster a node may wait for its address, while it gives up another one. */
type Waits = (policy: Policy, node: ClusterNode) => boolean;

/**
 * The enactments of the fleet form of a policy, once that is there. What else a node has:
 *
 *  the node                                | beside its enactment
 *  ----------------------------------------+--------------------------------------------------------
 *  has the addresses by a policy of its    | that policy: it goes once the handler has applied the fleet form
 *   own, as before an upgrade              |
 *  has old addresses on other NICs         | a clean-up policy
 *  is selected no more, or waits           | a clean-up policy, and no enactment
 */
function fleetObjects(own: OwnPolicy, facts: Facts, lines: PolicyLines, waits: Waits): RenderedObject[] {
  const { policy } = own;
  if (!isExpanded(own, facts)) return [];
  const { find = () => undefined, pools } = facts;
  const fleet = fleetName(policy.name);
  const made = find(keyOfPolicy(fleet));
  const isThere = made !== undefined && isFleetPolicy(made);
  const selected = new Set(nodesOf(own, facts).map(({ name }) => name));
  return facts.nodes.flatMap((node): RenderedObject[] => {
    if (!selected.has(node.name) || waits(policy, node)) return [lines.sharedCleanup(policy, node) ?? []].flat();
    const child = find(keyOfPolicy(childName(policy.name, node.name)));
    const enactment = find(keyOfEnactment(node.name, fleet));
    const isBefore = lines.isGivenBy(child, policy, node) && (enactment === undefined || !isServedBy(enactment));
    return [
      ...(isThere ? [lines.enactment(policy, node, pools)] : []),
      ...(isBefore ? lines.children(policy, node, pools) : [lines.cleanupBeside(policy, node) ?? []].flat()),
    ];
  });
}

function objectsOf(own: OwnPolicy, facts: Facts, lines: PolicyLines, waits: Waits): PolicyObject[] {
  const { policy } = own;
  if (!isExpanded(own, facts))
    return [authorityOf(policy, facts.pools) === "Cluster" ? parkPolicy(policy) : policy.source];
  const selected = new Set(nodesOf(own, facts).map(({ name }) => name));
  const isServed = (node: ClusterNode) => selected.has(node.name) && !waits(policy, node);
  const children = facts.nodes.flatMap(
    (node) => (isServed(node) ? lines.children(policy, node, facts.pools) : lines.cleanup(policy, node)) ?? [],
  );
  if (facts.authority === "Cluster" || !servesLaterNodes(policy, facts.pools)) return children;
  return [...children, inLastWave(parkPolicy(policy), policy)];
}
