import type { Bag } from "../../schema/objects.ts";
import type { Needs, Step } from "../contract/step.ts";
import { otherGates } from "./gated-pod.ts";
import { allocatedAnnotation, type PodAllocation } from "./pod-allocation.ts";

/** What is written into a pod that waits. */
export interface Injected {
  /** What its interfaces are given. */
  readonly given: readonly PodAllocation[];
  /** Annotations besides: its networks, as Multus reads them, if that is to be told anything. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Fields of its spec besides. */
  readonly spec?: Bag;
}

/** Writes addresses into a pod that waits for them, and lets it be scheduled. */
export function inject(pod: Bag, { given, annotations = {}, spec = {} }: Injected, needs: Needs): Step {
  const hasAnnotations = given.length > 0 || Object.keys(annotations).length > 0;
  const injected = { ...annotations, [allocatedAnnotation]: JSON.stringify(given) };
  const fields = {
    ...(hasAnnotations ? { metadata: { annotations: injected } } : {}),
    spec: { ...spec, schedulingGates: otherGates(pod) },
  };
  return { verb: "change", object: pod, fields, needs };
}
