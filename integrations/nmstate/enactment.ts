import { type Bag, conditionOf } from "../../schema/objects.ts";
import type { RolloutHealth } from "../contract/made-objects.ts";
import { metadataOf } from "../contract/object-metadata.ts";
import { asEnactment } from "./objects.ts";

/** Returns whether a condition of an enactment is True. */
export function hasCondition(enactment: Bag | undefined, type: string): boolean {
  return conditionOf(asEnactment(enactment).status.conditions, type)?.status === "True";
}

/**
 * Returns the health of a node with its policy, by the NodeNetworkConfigurationEnactment, which the node's handler writes.
 *
 *  the enactment                            | the node
 *  -----------------------------------------+------------
 *  none, or of another generation           | progressing; unreachable while the Node is not Ready
 *  Available, with another address than the | progressing: the handler has not seen the address yet
 *   one that the fleet form gives           |
 *  Available                                | available
 *  Failing, and no longer Progressing       | failing: the handler tries no more
 *  Aborted                                  | failing
 *  anything else (Pending, Retrying)        | progressing
 */
export function healthBy(policy: Bag, enactment: Bag | undefined, isReady = true): RolloutHealth {
  const { policyGeneration, isDesired } = asEnactment(enactment).status;
  // A handler writes the enactment before it changes the network: a node that has none is not away because of this policy.
  if (policyGeneration !== metadataOf(policy).generation) return isReady ? "progressing" : "unreachable";
  const isTrue = (type: string) => hasCondition(enactment, type);
  if (isTrue("Available")) return isDesired === false ? "progressing" : "available";
  return (isTrue("Failing") && !isTrue("Progressing")) || isTrue("Aborted") ? "failing" : "progressing";
}
