import { asBag, asList, type Bag, conditionOf } from "../../schema/objects.ts";
import type { WatchedKind } from "./in-cluster.ts";

/** Nodes, as they are watched. */
export const watchedNodes: WatchedKind = {
  apiVersion: "v1",
  kind: "Node",
  plural: "nodes",
  keep: ({ status }) => ({
    status: {
      conditions: asList(asBag(status)?.conditions)
        .map((one) => asBag(one) ?? {})
        .filter(({ type }) => type === "Ready")
        .map(({ type, status }) => ({ type, status })),
    },
  }),
};

/** Does a Node say that it is Ready? */
export function isReadyNode({ status }: Bag): boolean {
  return conditionOf(asBag(status)?.conditions, "Ready")?.status === "True";
}
