import { objectKey } from "../../../integrations/contract/object-key.ts";
import { failsAnnotation } from "../sim/failing-integration.ts";
import { badEdits } from "./bad-edits.ts";
import { badNetworks } from "./bad-networks.ts";
import { badNodes } from "./bad-nodes.ts";
import { addressClaim, type BadObject, withMetadata } from "./bad-object.ts";
import { badPods } from "./bad-pods.ts";
import { policy } from "./controller-objects.ts";
import { claim } from "./ipam-claims.ts";
import { attachment } from "./whereabouts-objects.ts";
import { workload } from "./workload-objects.ts";

/** Objects on which their integrations throw, each in another function. */
const failures: readonly BadObject[] = (
  [
    ["read", policy("fails-read", "nodes", "eth91"), []],
    ["render", policy("fails-render", "nodes", "eth92"), []],
    ["conflicts", policy("fails-conflicts", "nodes", "eth93"), []],
    ["claims", claim("fails.red"), ["ipamClaims"]],
    ["render", attachment("fails", { range: "10.84.0.0/24", node_slice_size: "/26" }), ["nodeSlices"]],
    ["read", attachment("fails-read", { range: "10.85.0.0/24", node_slice_size: "/26" }), ["nodeSlices"]],
    ["render", workload("StatefulSet", "fails", { replicas: 1 }), ["workloadAddresses"]],
    ["render", addressClaim("fails", "machines"), ["clusterApi"]],
  ] as const
).map(([where, object, flags]) => ({
  what: `an object of kind ${object.kind} on which ${where} throws`,
  flags,
  isOnlySimulated: true,
  objects: [withMetadata(object, { annotations: { [failsAnnotation]: where } })],
  about: objectKey(object as never),
  word: /Invalid: .*defect of the controller/s,
}));

/** One kind of each. */
export const badObjects: readonly BadObject[] = [...badNodes, ...badEdits, ...badPods, ...badNetworks, ...failures];
