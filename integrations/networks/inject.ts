import type { Bag } from "../../schema/objects.ts";
import type { Needs, Step } from "../contract/step.ts";
import { otherGates } from "./gated-pod.ts";
import { allocatedAnnotation, type PodAllocation } from "./pod-allocation.ts";

/** The fields that the controller writes into a waiting pod. */
export interface Injected {
  /** The addresses that its interfaces get. */
  readonly given: readonly PodAllocation[];
  /** Further annotations, such as the networks that Multus reads. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Further fields of its spec. */
  readonly spec?: Bag;
}

/** Returns the step that injects addresses into a waiting pod and removes our scheduling gate. */
export function inject(pod: Bag, { given, annotations = {}, spec = {} }: Injected, needs: Needs): Step {
  const hasAnnotations = given.length > 0 || Object.keys(annotations).length > 0;
  const injected = { ...annotations, [allocatedAnnotation]: JSON.stringify(given) };
  const fields = {
    ...(hasAnnotations ? { metadata: { annotations: injected } } : {}),
    spec: { ...spec, schedulingGates: otherGates(pod) },
  };
  return { verb: "change", object: pod, fields, needs };
}
