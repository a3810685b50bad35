import { asBag, type Bag, conditionOf } from "../../schema/objects.ts";
import type { Fares } from "../in-cluster.ts";

/**
 * How a node fares with its policy, by the NodeNetworkConfigurationEnactment of a policy, which the node's handler writes.
 *
 *  the enactment                            | the node
 *  -----------------------------------------+------------
 *  none, or of another generation           | progressing
 *  Available                                | available
 *  Failing, and no longer Progressing       | failing: the handler tries no more
 *  Aborted                                  | failing
 *  anything else (Pending, Retrying)        | progressing
 */
export function faresBy(policy: Bag, enactment: Bag | undefined): Fares {
  const { policyGeneration, conditions } = asBag(enactment?.status) ?? {};
  if (policyGeneration !== asBag(policy.metadata)?.generation) return "progressing";
  const isTrue = (type: string) => conditionOf(conditions, type)?.status === "True";
  if (isTrue("Available")) return "available";
  return (isTrue("Failing") && !isTrue("Progressing")) || isTrue("Aborted") ? "failing" : "progressing";
}
