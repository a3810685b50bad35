import { ownPrefix } from "../../schema/node.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";

/** Keeps a pod from being scheduled until its addresses are written into it. */
export const gate = `${ownPrefix}addresses`;

export function isGated({ spec }: Bag): boolean {
  return asList(asBag(spec)?.schedulingGates).some((one) => asBag(one)?.name === gate);
}

/** The gates of a pod without ours. */
export function otherGates({ spec }: Bag): readonly unknown[] {
  return asList(asBag(spec)?.schedulingGates).filter((one) => asBag(one)?.name !== gate);
}

/** Has a pod come to its end? */
export function isOver({ status }: Bag): boolean {
  return ["Succeeded", "Failed"].includes(`${asBag(status)?.phase}`);
}
