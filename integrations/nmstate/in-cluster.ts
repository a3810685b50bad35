import { byCodeUnit, isPlanned, nodeNameOf, nodeOwner, ownerOfKey } from "../../core/index.ts";
import { partition } from "../../core/partition.ts";
import { inSentences } from "../../schema/issues.ts";
import type { ClusterNode } from "../../schema/node.ts";
import type { Bag } from "../../schema/objects.ts";
import type { ClusterIntegration } from "../contract/cluster-integration.ts";
import type { Facts } from "../contract/integration.ts";
import type { Known } from "../contract/known.ts";
import type { RolloutHealth } from "../contract/made-objects.ts";
import { metadataOf } from "../contract/object-metadata.ts";
import type { Step } from "../contract/step.ts";
import { isReadyNode } from "../contract/watched-nodes.ts";
import { childName, nodeOf } from "./child.ts";
import { healthBy } from "./enactment.ts";
import { type NmstateModel, replaceCaptures } from "./model.ts";
import { asPolicy } from "./objects.ts";
import { parsePolicy } from "./parse-policy.ts";
import { nmstate } from "./plan.ts";
import type { Policy } from "./policy.ts";
import { type Count, policyConditions, unlocking } from "./policy-status.ts";
import { nmstateRecording, policyKind, unselectable } from "./recording.ts";
import { parkKey, selectedBy } from "./select.ts";

/** Reports about a parked policy: the key that parks it, and the health of its nodes. */
function report({ object, made, rejected, pending }: Known, facts: Facts): Step[] {
  const { nodes } = facts;
  const { value: policy, issues = [] } = parsePolicy(object);
  if (policy !== undefined && !asksHere(policy, facts)) return [];
  const step = issues.some(({ path }) => path?.[1] === "capture") ? { hint: replaceCaptures } : {};
  const spec = { nodeSelector: { [parkKey]: "parked" } };
  const selected = policy === undefined ? [] : selectedBy(policy, nodes);
  const children = made.filter(({ object: one }) => one.kind === policyKind);
  const byHealth = nodesByHealth(selected, `${policy?.name}`, children);
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
    ...unfinishedIn(children, nodes),
    waiting: [...waiting],
    reasons: [...new Set(reasons)],
    rejected: rejected === undefined ? undefined : inSentences({ message: rejected, ...step }),
  });
  const status = (conditions: readonly Bag[]) => ({ verb: "status", object, conditions, hasHeartbeat: true }) as const;
  const isParked = asPolicy(object).spec.nodeSelector?.[parkKey] === "parked";
  const unlock = isParked ? undefined : unlocking(asPolicy(object).status.conditions);
  return [...(unlock === undefined ? [] : [status(unlock)]), { verb: "apply", object, spec }, status(conditions)];
}

/** Returns the nodes that have a policy of their own, by health. If a node has a second policy for its DNS servers, the worse of both counts. */
function nodesByHealth(
  nodes: readonly ClusterNode[],
  policy: string,
  children: Known["made"],
): Map<RolloutHealth, string[]> {
  const byNode = Map.groupBy(children, ({ object }) => nodeOf(object));
  const hasOwn = (name: string) =>
    byNode.get(name)?.some(({ object }) => metadataOf(object).name === childName(policy, name)) ?? false;
  const names = nodes.map(({ name }) => name).filter(hasOwn);
  return Map.groupBy(names, (name): RolloutHealth => {
    const all = (byNode.get(name) ?? []).map(({ object, about }) => healthBy(object, about[0]));
    return (["failing", "progressing"] as const).find((health) => all.includes(health)) ?? "available";
  });
}

/** Returns the nodes that have yet to apply a policy: those that are Ready, and the others. */
function unfinishedIn(children: Known["made"], nodes: Facts["nodes"]): Pick<Count, "unfinished" | "away"> {
  const unready = new Set<unknown>(nodes.filter(({ isReady }) => isReady === false).map(({ name }) => name));
  const onTheirWay = children.filter(({ object, about }) => healthBy(object, about[0]) === "progressing");
  const names = [...new Set(onTheirWay.map(({ object }) => `${nodeOf(object)}`))].sort(byCodeUnit);
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

/** kubernetes-nmstate in a cluster: policies that take addresses from pools stay parked, and nodes get policies of their own. */
export const nmstateInCluster: ClusterIntegration<NmstateModel> = {
  ...nmstate,
  recording: nmstateRecording,
  report,
  made: {
    rollout: {
      limit,
      health: (child, [enactment], node) => healthBy(child, enactment, node !== undefined && isReadyNode(node)),
    },
  },
};
