import { formatAddress } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import type { FreeingNodes } from "../contract/freeing-nodes.ts";
import { isDeleting, keyOf, metadataOf, nameOf, uidOf } from "../contract/object-metadata.ts";
import type { Reconciler } from "../contract/reconciler.ts";
import type { Step } from "../contract/step.ts";
import { isReadyNode, watchedNodes } from "../contract/watched-nodes.ts";
import { isOver } from "../networks/gated-pod.ts";
import { asPod } from "../networks/objects.ts";
import { addressesOfPod, freedAnnotation, isFreed, workloadOfPod, workloadPods } from "./pods.ts";

/**
 * Pods of Deployments that are being deleted and do not end. Once one was seen so for its grace period, and so many milliseconds more,
 * it is marked, and counts from then on as one that has ended: its addresses are the next pod's. The mark is in the pod, so it
 * needs no record, and holds whatever becomes of the controller and of its flags.
 *
 *  its node                            | ready-nodes                     | all-nodes
 *  ------------------------------------+---------------------------------+----------
 *  there is none yet: it never runs    | marked                          | marked
 *  is Ready, also when the server is   | marked                          | marked
 *   asked, and was all the time        |                                 |
 *  is not Ready, or not there: the pod | nothing                         | marked
 *   may run without anybody knowing    |                                 |
 *
 * A pod of a StatefulSet is never marked: there is no next one as long as it is there.
 */
export function freedPods(nodes: Exclude<FreeingNodes, "never">, after: number): Reconciler {
  return {
    kinds: [workloadPods, watchedNodes],
    // So a node that says that it is alive is a reason to look at its own pods alone.
    belongsTo: (object) => {
      if (object.kind === watchedNodes.kind) return [nameOf(object)];
      return isStuck(object) ? [nodeOf(object)] : [];
    },
    steps: (name, belonging) => {
      const node = belonging.find((one) => one.kind === watchedNodes.kind);
      const isToBeFreed = nodes === "all-nodes" || name === "" || (node !== undefined && isReadyNode(node));
      const needs = nodes === "all-nodes" || node === undefined ? undefined : { keys: [keyOf(node)] };
      return belonging.filter(isStuck).flatMap((pod): Step[] => {
        if (isFreed(pod)) return [{ verb: "warn", about: keyOf(pod), problem: "Freed", message: freedMessage(pod) }];
        const fields = { metadata: { annotations: { [freedAnnotation]: uidOf(pod) } } };
        const step = { verb: "change", object: pod, fields, after: graceOf(pod) + after } as const;
        return isToBeFreed ? [{ ...step, ...(needs && { needs }) }] : [];
      });
    },
  };
}

/** Is it to end, and has not? */
function isStuck(pod: Bag): boolean {
  const isEnding = isDeleting(pod) && !isOver(pod) && workloadOfPod(pod)?.kind === "Deployment";
  return isEnding && addressesOfPod(pod).length > 0;
}

/** Empty where it has none. */
function nodeOf(pod: Bag): string {
  return `${asPod(pod).spec.nodeName ?? ""}`;
}

function graceOf(pod: Bag): number {
  return 1000 * Number(metadataOf(pod).deletionGracePeriodSeconds ?? 0);
}

function freedMessage(pod: Bag): string {
  const where = nodeOf(pod) === "" ? "it" : `node ${nodeOf(pod)}`;
  return `${addressesOfPod(pod).map(formatAddress).join(", ")} may be another pod's by now: this one was deleted, and ${where} did not end it in time. See that it runs no more, and delete it by force`;
}
