import type { Bag } from "../../schema/objects.ts";
import { objectKey } from "../contract/object-key.ts";
import { keyOfDefinition } from "../networks/attachment-definition.ts";
import { type BoundNetwork, readBound } from "./bound-network.ts";
import { namespaceKind, readNamespace } from "./namespace.ts";
import type { PoolSources } from "./pools-of-workload.ts";
import type { Workload } from "./workload-object.ts";

/** Returns the objects in the cluster that decide which pools a workload may have addresses of. */
export function sourcesFound(
  { namespace, networks }: Pick<Workload, "namespace" | "networks">,
  find: (key: string) => Bag | undefined,
): PoolSources {
  const object = find(`${namespaceKind}/${namespace}`);
  return {
    networks: new Map(networks.flatMap(({ definition }) => boundBy(definition, find))),
    namespaces: new Map(object === undefined ? [] : [[namespace, readNamespace(object)]]),
  };
}

function boundBy(definition: string, find: (key: string) => Bag | undefined): [string, BoundNetwork][] {
  const object = find(keyOfDefinition(definition));
  return object === undefined ? [] : [[definition, readBound(object)]];
}

/** Returns a predicate: whether the cluster has a NodeIPPool of a name. */
export function isPoolIn(find: (key: string) => Bag | undefined) {
  return (name: string) => poolIn(find, name) !== undefined;
}

/** Returns the NodeIPPool of a name. */
export function poolIn(find: (key: string) => Bag | undefined, name: string): Bag | undefined {
  return find(objectKey({ apiVersion: "nmstate.io/v1", kind: "NodeIPPool", metadata: { name } }));
}
