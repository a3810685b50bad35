import { nodeOwner } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { isManaged } from "../contract/managed-by.ts";
import { labelsOf, nameOf } from "../contract/object-metadata.ts";
import type { Reconciler } from "../contract/reconciler.ts";
import { type Step, warn } from "../contract/step.ts";
import { watchedNodes } from "../contract/watched-nodes.ts";
import { nodeOfEnactment, policyOfEnactment } from "./captured.ts";
import { cleanupName } from "./child.ts";
import { isCleanupEnactment, sharedCleanup } from "./cleanup-form.ts";
import { keyOfPolicy } from "./node-objects.ts";
import { enactmentKind, nmstateKinds, policyKind } from "./recording.ts";
import { cleanupGateOf, isSharedCleanup, openGate, originOf, policyOfCleanupGate } from "./shared-policy.ts";

/** A handler deletes the enactments of a policy that comes or goes. So one that is needed again a moment later stays. */
const lingers = 30_000;
/** So long, at most, such a policy waits for gates: where one is closed, a handler that sees the policy deletes the enactment. */
const waitsForGates = 2_000;

/**
 * Makes the policies that take addresses off many nodes, each by its name. Such a policy is there as long as a node has an enactment of
 * it, also one that its handler has made. It has no owner: it outlives the policy that gave the addresses.
 *
 *  the enactments              | the policy
 *  ----------------------------+---------------------------------------------------------------
 *  none                        | is deleted after half a minute
 *  there, but a gate is closed | is made after two seconds
 *  there, and all gates open   | is made
 */
export const cleanups: Reconciler = {
  kinds: [watchedNodes, ...nmstateKinds.filter(({ kind }) => kind !== "NodeNetworkState")],
  belongsTo: (object) => {
    if (object.kind === "Node") return Object.keys(labelsOf(object)).flatMap(policyOfCleanupGate).map(cleanupName);
    if (object.kind === policyKind) return isSharedCleanup(object) ? [nameOf(object)] : [];
    return object.kind === enactmentKind && isCleanupEnactment(object) ? [policyOfEnactment(object)] : [];
  },
  steps: (name, belonging, find): Step[] => {
    const there = belonging.find(({ kind }) => kind === policyKind);
    const enactments = belonging.filter(({ kind }) => kind === enactmentKind);
    if (enactments.length === 0)
      return there === undefined ? [] : [{ verb: "delete", object: there, needs: { keys: [] }, after: lingers }];
    const own = enactments.filter(isManaged);
    const [first] = own;
    if (first === undefined) return [];
    if (there === undefined && find(keyOfPolicy(name)) !== undefined)
      return [warn(first, `${policyKind} ${name} was made by somebody else. Delete it, or rename it.`)];
    const put = { verb: "put", object: sharedCleanup(originOf(first)), there } as const;
    return there !== undefined || own.every((one) => isOpen(one, find)) ? [put] : [{ ...put, after: waitsForGates }];
  },
};

/** Returns whether the node of an enactment has the gate of its policy open, or is gone. */
function isOpen(enactment: Bag, find: (key: string) => Bag | undefined): boolean {
  const node = find(nodeOwner(nodeOfEnactment(enactment)));
  return node === undefined || labelsOf(node)[cleanupGateOf(originOf(enactment))] === openGate;
}
