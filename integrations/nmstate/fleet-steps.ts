import { type Bag, conditionOf } from "../../schema/objects.ts";
import type { Facts } from "../contract/integration.ts";
import type { Known } from "../contract/known.ts";
import { annotationsOf, nameOf, uidOf } from "../contract/object-metadata.ts";
import { type Step, warn } from "../contract/step.ts";
import { isFleetEnactment, nodeOfEnactment } from "./captured.ts";
import { fleetName, hashOf } from "./child.ts";
import { hasCondition } from "./enactment.ts";
import { fleetPolicy, retryAnnotation } from "./fleet.ts";
import { keyOfPolicy } from "./node-objects.ts";
import { asEnactment, asPolicy } from "./objects.ts";
import { nodesByHealth, partsOf } from "./parts.ts";
import type { Policy } from "./policy.ts";
import { policyKind } from "./recording.ts";
import { selectedBy } from "./select.ts";
import { isFleetPolicy } from "./shared-policy.ts";

/**
 * The steps to the one policy of the fleet form.
 *
 *  the policy                       | the one of the fleet form
 *  ---------------------------------+------------------------------------------------------------
 *  cannot be acted upon             | stays as it is
 *  has the fleet form               | is made, or changed; an Event says so if another one has its name
 *  has it no more, as after a       | is deleted once each node that has an enactment of it has what
 *   downgrade                       |  it needs by a policy of its own
 */
export function formSteps(
  policy: Policy,
  { object, rejected, made, find }: Known,
  facts: Facts,
  hasFleet: boolean,
): Step[] {
  if (rejected !== undefined) return [];
  const there = made.find(({ object: one }) => isFleetPolicy(one))?.object;
  const name = fleetName(policy.name);
  if (hasFleet && there === undefined && find(keyOfPolicy(name)) !== undefined)
    return [warn(object, `${policyKind} ${name} was made by somebody else. Delete it, or rename it.`)];
  if (hasFleet)
    return [
      { verb: "put", object: fleetPolicy(policy, facts.pools, object), there },
      ...(there === undefined ? [] : unblocking(there, made.map((one) => one.object).filter(isFleetEnactment))),
    ];
  const own = made.filter(({ object: one }) => one !== there && one.kind === policyKind);
  const served = new Set(nodesByHealth(facts.nodes, partsOf(policy.name, own)).get("available"));
  const needed = new Set(selectedBy(policy, facts.nodes).map((node) => node.name));
  const enacted = made.flatMap(({ object: one }) => (isFleetEnactment(one) ? nodeOfEnactment(one) : []));
  const isServed = enacted.every((node) => !needed.has(node) || served.has(node));
  return there === undefined || !isServed ? [] : [{ verb: "delete", object: there, needs: { keys: [] } }];
}

/**
 * The steps that have handlers go on once what failed is mended. kubernetes-nmstate 0.86 counts a node that failed for good as one that is
 * unavailable, also once it is mended; and nodes that were aborted for it never try again.
 *
 *  the enactments                                        | step
 *  ------------------------------------------------------+------------------------------------------------------
 *  one fails                                             | none: the others wait, or are aborted
 *  one waits for its turn, and no handler is at work     | the count of unavailable nodes is emptied
 *  some are aborted                                      | those are tried again: the gates read the annotation
 */
function unblocking(policy: Bag, enactments: readonly Bag[]): Step[] {
  const are = (type: string) => enactments.filter((one) => hasCondition(one, type));
  if (are("Failing").length > 0) return [];
  const counts = Object.values(asPolicy(policy).status.unavailableNodeCountMap);
  const isStuck = are("Pending").length > 0 && are("Progressing").length === 0 && counts.some((count) => count !== 0);
  const aborted = are("Aborted");
  const since = (one: Bag) => conditionOf(asEnactment(one).status.conditions, "Aborted")?.lastTransitionTime;
  const text = aborted
    .map((one) => `${nameOf(one)} ${uidOf(one)} ${since(one)}`)
    .sort()
    .join();
  const retry = hashOf(text);
  const fields = { metadata: { annotations: { [retryAnnotation]: retry } } };
  return [
    ...(isStuck
      ? [{ verb: "status", object: policy, fields: { unavailableNodeCountMap: undefined }, conditions: [] } as const]
      : []),
    ...(aborted.length === 0 || annotationsOf(policy)[retryAnnotation] === retry
      ? []
      : [{ verb: "change", object: policy, fields } as const]),
  ];
}
