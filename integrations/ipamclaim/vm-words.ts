import { ownPrefix } from "../../schema/node.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";

/** On a claim that the controller has made: the name of its VM, which may be too long for a label. */
export const madeAnnotation = `${ownPrefix}vm`;

/** On a claim that is held: the uid of the VM that it is held for. */
export const heldAnnotation = `${ownPrefix}vm-uid`;

/** Keeps a claim for as long as its VM is there, or runs. */
export const hold = "nmstate.io/used-by-vm";

/** Keeps a pod from being scheduled until its addresses are written into it. */
export const gate = `${ownPrefix}addresses`;

export function isGated({ spec }: Bag): boolean {
  return asList(asBag(spec)?.schedulingGates).some((one) => asBag(one)?.name === gate);
}
