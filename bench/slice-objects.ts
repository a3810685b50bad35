import type { KubeObject } from "../kube/index.ts";
import { attachment } from "../test/support/objects/whereabouts-objects.ts";

/** A network of a /8 whose nodes have slices of a /22, in a space of its own. */
export function sliceDefinition(i: number): KubeObject {
  const ipam = { range: "10.0.0.0/8", node_slice_size: "/22", network_name: `net-${i}` };
  return attachment(`net-${i}`, ipam) as unknown as KubeObject;
}
