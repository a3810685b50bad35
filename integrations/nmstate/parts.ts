import { byCodeUnit } from "../../core/index.ts";
import { partition } from "../../core/partition.ts";
import type { ClusterNode } from "../../schema/node.ts";
import type { Facts } from "../contract/integration.ts";
import type { Known } from "../contract/known.ts";
import type { RolloutHealth } from "../contract/made-objects.ts";
import { nameOf } from "../contract/object-metadata.ts";
import { isFleetEnactment, nodeOfEnactment } from "./captured.ts";
import { childName, nodeOf } from "./child.ts";
import { isCleanupEnactment } from "./cleanup-form.ts";
import { healthBy } from "./enactment.ts";
import type { Count } from "./policy-status.ts";
import { policyKind } from "./recording.ts";
import { isFleetPolicy, isSharedCleanup, isSharedPolicy } from "./shared-policy.ts";

/** How one node fares with a policy: with one of its own, or with its enactment of the one for many nodes. */
export interface Part {
  readonly node: string;
  /** It gives addresses, and not only takes some off or sets DNS servers. */
  readonly isOwn: boolean;
  readonly health: RolloutHealth;
}

export function partsOf(policy: string, made: Known["made"]): Part[] {
  const fleet = made.find(({ object }) => isFleetPolicy(object))?.object;
  const cleanup = made.find(({ object }) => isSharedCleanup(object))?.object;
  return made.flatMap(({ object, about }): Part[] => {
    if (isSharedPolicy(object)) return [];
    if (object.kind === policyKind) {
      const node = `${nodeOf(object)}`;
      return [{ node, isOwn: nameOf(object) === childName(policy, node), health: healthBy(object, about[0]) }];
    }
    const node = nodeOfEnactment(object);
    const isOwn = isFleetEnactment(object);
    const shared = isOwn ? fleet : isCleanupEnactment(object) ? cleanup : undefined;
    return shared === undefined ? [] : [{ node, isOwn, health: healthBy(shared, object) }];
  });
}

/** Returns the nodes that have a part which gives them addresses, by health. If a node has several parts, the worst of them counts. */
export function nodesByHealth(nodes: readonly ClusterNode[], parts: readonly Part[]): Map<RolloutHealth, string[]> {
  const byNode = Map.groupBy(parts, ({ node }) => node);
  const names = nodes.map(({ name }) => name).filter((name) => byNode.get(name)?.some(({ isOwn }) => isOwn));
  return Map.groupBy(names, (name): RolloutHealth => {
    const all = (byNode.get(name) ?? []).map(({ health }) => health);
    return (["failing", "progressing"] as const).find((health) => all.includes(health)) ?? "available";
  });
}

/** Returns the nodes that have yet to apply a policy: those that are Ready, and the others. */
export function unfinishedIn(parts: readonly Part[], nodes: Facts["nodes"]): Pick<Count, "unfinished" | "away"> {
  const unready = new Set<unknown>(nodes.filter(({ isReady }) => isReady === false).map(({ name }) => name));
  const onTheirWay = parts.filter(({ health }) => health === "progressing");
  const names = [...new Set(onTheirWay.map(({ node }) => node))].sort(byCodeUnit);
  const [away, unfinished] = partition(names, (name) => unready.has(name));
  return { away, unfinished };
}
