import { byCodeUnit, isPlanned, nodeNameOf, nodeOwner, ownerOfKey } from "../../core/index.ts";
import { partition } from "../../core/partition.ts";
import { inSentences } from "../../schema/issues.ts";
import type { ClusterNode } from "../../schema/node.ts";
import type { Bag } from "../../schema/objects.ts";
import type { ClusterIntegration } from "../contract/cluster-integration.ts";
import type { Facts } from "../contract/integration.ts";
import type { Known } from "../contract/known.ts";
import type { MadeObjects, RolloutHealth } from "../contract/made-objects.ts";
import { labelsOf, nameOf } from "../contract/object-metadata.ts";
import type { Step } from "../contract/step.ts";
import { isReadyNode } from "../contract/watched-nodes.ts";
import { enactmentLabels, isFleetEnactment, usesOfEnactment } from "./captured.ts";
import { childName, nodeOf } from "./child.ts";
import { healthBy } from "./enactment.ts";
import { canBeFleet, fleetPolicy, isFleetPolicy } from "./fleet.ts";
import { type NmstateModel, replaceCaptures } from "./model.ts";
import { asPolicy } from "./objects.ts";
import { parsePolicy } from "./parse-policy.ts";
import { nmstate } from "./plan.ts";
import type { Policy } from "./policy.ts";
import { type Count, policyConditions, unlocking } from "./policy-status.ts";
import { nmstateRecording, policyKind, unselectable } from "./recording.ts";
import { renderPolicies } from "./render.ts";
import { parkKey, selectedBy } from "./select.ts";

/** Reports about a parked policy: the key that parks it, and the health of its nodes. */
function report({ object, made, rejected, pending }: Known, facts: Facts): Step[] {
  const { nodes } = facts;
  const { value: policy, issues = [] } = parsePolicy(object);
  if (policy !== undefined && !asksHere(policy, facts)) return [];
  const step = issues.some(({ path }) => path?.[1] === "capture") ? { hint: replaceCaptures } : {};
  const spec = { nodeSelector: { [parkKey]: "parked" } };
  const selected = policy === undefined ? [] : selectedBy(policy, nodes);
  const parts = partsOf(`${policy?.name}`, made);
  const byHealth = nodesByHealth(selected, parts);
  const failing = byHealth.get("failing") ?? [];
  const unservable = unselectable(facts);
  const left = selected.filter(({ name }) => unservable.has(nodeOwner(name)));
  const waiting = new Set([
    ...pending.map(({ claim }) => `${nodeNameOf(ownerOfKey(claim))}`),
    ...left.map(({ name }) => name),
  ]);
  const reasons = [
    ...pending.map(({ message }) => message),
    ...left.map(({ name }) => `${unservable.get(nodeOwner(name))}`),
  ];
  const conditions = policyConditions({
    nodes: selected.length,
    available: byHealth.get("available")?.length ?? 0,
    failing: failing.sort(byCodeUnit),
    notReady: selected.filter(({ isReady }) => isReady === false).length,
    ...unfinishedIn(parts, nodes),
    waiting: [...waiting],
    reasons: [...new Set(reasons)],
    rejected: rejected === undefined ? undefined : inSentences({ message: rejected, ...step }),
  });
  const status = (conditions: readonly Bag[]) => ({ verb: "status", object, conditions, hasHeartbeat: true }) as const;
  const isParked = asPolicy(object).spec.nodeSelector?.[parkKey] === "parked";
  const unlock = isParked ? undefined : unlocking(asPolicy(object).status.conditions);
  return [...(unlock === undefined ? [] : [status(unlock)]), { verb: "apply", object, spec }, status(conditions)];
}

/** How one node fares with a policy: with one of its own, or with its enactment of the one for many nodes. */
interface Part {
  readonly node: string;
  /** It gives addresses, and not only takes some off or sets DNS servers. */
  readonly isOwn: boolean;
  readonly health: RolloutHealth;
}

function partsOf(policy: string, made: Known["made"]): Part[] {
  const fleet = made.find(({ object }) => isFleetPolicy(object))?.object;
  return made.flatMap(({ object, about }): Part[] => {
    if (object === fleet) return [];
    if (object.kind === policyKind) {
      const node = `${nodeOf(object)}`;
      return [{ node, isOwn: nameOf(object) === childName(policy, node), health: healthBy(object, about[0]) }];
    }
    const node = `${labelsOf(object)[enactmentLabels.node]}`;
    return fleet === undefined ? [] : [{ node, isOwn: true, health: healthBy(fleet, object) }];
  });
}

/** Returns the nodes that have a part which gives them addresses, by health. If a node has several parts, the worst of them counts. */
function nodesByHealth(nodes: readonly ClusterNode[], parts: readonly Part[]): Map<RolloutHealth, string[]> {
  const byNode = Map.groupBy(parts, ({ node }) => node);
  const names = nodes.map(({ name }) => name).filter((name) => byNode.get(name)?.some(({ isOwn }) => isOwn));
  return Map.groupBy(names, (name): RolloutHealth => {
    const all = (byNode.get(name) ?? []).map(({ health }) => health);
    return (["failing", "progressing"] as const).find((health) => all.includes(health)) ?? "available";
  });
}

/** Returns the nodes that have yet to apply a policy: those that are Ready, and the others. */
function unfinishedIn(parts: readonly Part[], nodes: Facts["nodes"]): Pick<Count, "unfinished" | "away"> {
  const unready = new Set<unknown>(nodes.filter(({ isReady }) => isReady === false).map(({ name }) => name));
  const onTheirWay = parts.filter(({ health }) => health === "progressing");
  const names = [...new Set(onTheirWay.map(({ node }) => node))].sort(byCodeUnit);
  const [away, unfinished] = partition(names, (name) => unready.has(name));
  return { away, unfinished };
}

/**
 * Returns whether a policy asks the controller for addresses. What a plan renders has no capture of a pool left, so one whose pools
 * are all missing asks the controller, too.
 *
 *  its pools in the cluster  | asks
 *  --------------------------+-----
 *  any of authority Cluster  | yes
 *  any of authority Plan     | no
 *  none                      | yes
 */
function asksHere({ captures }: Policy, { pools, unsound }: Facts): boolean {
  const arePlanned = [...captures.values()].map(({ pool: name }) => {
    const pool = pools.get(name);
    return pool === undefined ? unsound?.get(name)?.isPlanned : isPlanned(pool);
  });
  return arePlanned.includes(false) || (captures.size > 0 && !arePlanned.includes(true));
}

/** Returns `maxUnavailable` as the handler reads it: a count or a percentage that is rounded up, at least one; by default half of the nodes. */
function limit(policy: Bag, made: number): number {
  const text = String(asPolicy(policy).spec.maxUnavailable ?? "50%");
  const [, number, percent] = /^(\d+)(%?)$/.exec(text) ?? [text, "50", "%"];
  const count = percent === "%" ? Math.ceil((Number(number) * made) / 100) : Number(number);
  return Math.max(1, count);
}

const rollout: NonNullable<MadeObjects["rollout"]> = {
  limit,
  health: (child, [enactment], node) => healthBy(child, enactment, node !== undefined && isReadyNode(node)),
};

/** kubernetes-nmstate in a cluster: policies that take addresses from pools stay parked, and nodes get policies of their own. */
export const nmstateInCluster: ClusterIntegration<NmstateModel> = {
  ...nmstate,
  recording: nmstateRecording,
  report,
  made: { rollout },
};

/** The same, but a policy that can have the fleet form stays one policy. */
export const fleetInCluster: ClusterIntegration<NmstateModel> = {
  ...nmstateInCluster,
  uses: [...nmstate.uses, { kind: "NodeNetworkConfigurationEnactment", reader: () => usesOfEnactment }],
  render: (model, facts, holdings) => renderPolicies(model, facts, holdings, true),
  report: (known, facts) => [...fleetSteps(known, facts), ...report(known, facts)],
  made: {
    // Its handlers make it again where somebody has deleted it.
    takesOver: (object, _, wanted) => wanted !== undefined && isFleetEnactment(object),
    rollout: {
      limit: (policy, made) => (canBeFleet(policy) ? Number.POSITIVE_INFINITY : limit(policy, made)),
      health: (object, about, node) => (object.kind === policyKind ? rollout.health(object, about, node) : "available"),
    },
  },
};

/** Returns the steps to the one policy that a policy becomes. */
function fleetSteps({ object, rejected, made }: Known, facts: Facts): Step[] {
  const { value: policy } = parsePolicy(object);
  if (policy === undefined || rejected !== undefined || !canBeFleet(object) || !asksHere(policy, facts)) return [];
  const there = made.find(({ object: one }) => isFleetPolicy(one))?.object;
  return [{ verb: "put", object: fleetPolicy(policy, facts.pools, object), there }];
}
