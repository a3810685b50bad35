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
 * Frees the addresses of Deployments' pods that are being deleted and do not end. Once a pod was in that state for its grace period and
 * `after` milliseconds, the controller marks it. A marked pod counts as ended: its addresses go to the next pod. The mark is in the pod,
 * so it needs no record, and survives a restart of the controller and a change of its flags.
 *
 *  its node                            | ready-nodes                     | all-nodes
 *  ------------------------------------+---------------------------------+----------
 *  there is none yet: it never runs    | marked                          | marked
 *  is Ready, also when the server is   | marked                          | marked
 *   asked, and was all the time        |                                 |
 *  is not Ready, or not there: the pod | not marked                      | marked
 *   may still run unseen               |                                 |
 *
 * A pod of a StatefulSet is never marked, because the next pod is made only once it is gone.
 */
export function freedPods(nodes: Exclude<FreeingNodes, "never">, after: number): Reconciler {
  return {
    kinds: [workloadPods, watchedNodes],
    // Keyed by node: a node's heartbeat reconciles its own pods alone.
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

/** Returns whether a Deployment's pod with addresses is being deleted and has not ended. */
function isStuck(pod: Bag): boolean {
  const isEnding = isDeleting(pod) && !isOver(pod) && workloadOfPod(pod)?.kind === "Deployment";
  return isEnding && addressesOfPod(pod).length > 0;
}

/** Returns the name of a pod's node; empty if it has none. */
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
