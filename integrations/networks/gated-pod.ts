import { ownPrefix } from "../../schema/node.ts";
import { asList, type Bag } from "../../schema/objects.ts";
import { raw } from "../../schema/shape.ts";
import { asGate, asPod } from "./objects.ts";

/** Keeps a pod from being scheduled until its addresses are written into it. */
export const gate = `${ownPrefix}addresses`;

export function isGated(pod: Bag): boolean {
  return asPod(pod).spec.schedulingGates.some(({ name }) => name === gate);
}

/** Returns the scheduling gates of a pod without ours. */
export function otherGates(pod: Bag): readonly unknown[] {
  return asList(raw(asPod(pod).spec).schedulingGates).filter((one) => asGate(one).name !== gate);
}

/** Returns whether a pod has ended. */
export function isOver(pod: Bag): boolean {
  return ["Succeeded", "Failed"].includes(`${asPod(pod).status.phase}`);
}
