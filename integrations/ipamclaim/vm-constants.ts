import { ownPrefix } from "../../schema/node.ts";

/** On a claim that the controller has made: the name of its VM, which may be too long for a label. */
export const madeAnnotation = `${ownPrefix}vm`;

/** On a claim that is held: the uid of the VM that it is held for. */
export const heldAnnotation = `${ownPrefix}vm-uid`;

/** Keeps a claim for as long as its VM is there, or runs. */
export const vmFinalizer = "nmstate.io/used-by-vm";

/** The milliseconds that a start may take before an Event reports that it waits. */
export const debounce = 60_000;
