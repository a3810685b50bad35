import { type Bag, conditionOf } from "../../schema/objects.ts";
import { any, list, view } from "../../schema/shape.ts";
import type { WatchedKind } from "./watched-kind.ts";

const asNode = view({ status: view({ conditions: list(view({ type: any, status: any })) }) });

/** Nodes, as they are watched. */
export const watchedNodes: WatchedKind = {
  apiVersion: "v1",
  kind: "Node",
  plural: "nodes",
  keep: (object) => ({
    status: {
      conditions: asNode(object)
        .status.conditions.filter(({ type }) => type === "Ready")
        .map(({ type, status }) => ({ type, status })),
    },
  }),
};

/** Does a Node say that it is Ready? */
export function isReadyNode(object: Bag): boolean {
  return conditionOf(asNode(object).status.conditions, "Ready")?.status === "True";
}
