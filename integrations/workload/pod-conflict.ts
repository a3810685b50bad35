import { formatAddress, formatOwner } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { conflictsAnnotation } from "../../schema/pool-conflicts.ts";
import { isDeleting, keyOf } from "../contract/object-metadata.ts";
import type { Step } from "../contract/step.ts";
import { isGated } from "../networks/gated-pod.ts";
import { hasRun } from "./detect-status.ts";
import type { WorkloadName } from "./pod-addresses.ts";
import { type DetectedLine, detectedIn, mostLeftOut } from "./pod-detected.ts";
import { hasEnded, isAlone, workloadOfPod } from "./pods.ts";
import { keyOfWorkload, ownerOfWorkload } from "./workload-object.ts";

/** What happens to a pod that does not start because another host answers for its address. */
export type Way = "waits" | "replaced" | "no index" | "too many" | "alone" | "failed";

/** The state of the index of such a pod. */
export interface StuckPod {
  /** No other pod of the Deployment gets the index. */
  readonly isLeftOut: boolean;
  /** Another index is free. */
  readonly isOtherFree: boolean;
  /** The number of indexes of the Deployment that are left out. */
  readonly leftOut: number;
}

/**
 * Returns what happens to a pod that does not start (`isStuck`).
 *
 *  the pod is of          | its index       | another index | the pod
 *  -----------------------+-----------------+---------------+------------------------------------------------
 *  any other              | any             | any           | waits: the kubelet tries again
 *  a Deployment           | is left out     | is free       | is replaced: the next pod gets another index
 *  a Deployment           | is left out     | is not        | waits, because no index is free
 *  a Deployment           | is not, as too  | any           | waits: one host answers for every address
 *                         |  many are       |               |
 *  a Deployment           | is not yet      | any           | waits
 */
export function wayOf(kind: WorkloadName["kind"], { isLeftOut, isOtherFree, leftOut }: StuckPod): Way {
  if (kind !== "Deployment") return "waits";
  if (isLeftOut) return isOtherFree ? "replaced" : "no index";
  return leftOut >= mostLeftOut ? "too many" : "waits";
}

/** Returns whether another host answers for an address of a pod, none of whose other containers has run. */
export function isStuck(pod: Bag): boolean {
  return !isDeleting(pod) && !hasRun(pod) && detectedIn(pod).some(({ kind }) => kind === "conflict");
}

const tidy = `Find that host by its MAC address, take the address off it, and then out of annotation ${conflictsAnnotation} of the NodeIPPool`;

const another = "the next one gets another address, if it has another name or is made a minute later";

const ends: Readonly<Record<Way, string>> = {
  waits: "The pod waits, and starts once that host is gone: find it by its MAC address, and take the address off it",
  alone: `The pod waits, and starts once that host is gone: find it by its MAC address, and take the address off it. Or delete the pod: ${another}`,
  failed: `The pod has failed, and ${another}. ${tidy}`,
  replaced: `Another pod gets another address. ${tidy}`,
  "no index":
    "The pod waits, as no other address is free: take this one off that host, or let the NodeIPPool have more addresses",
  "too many": `The pod waits, as ${mostLeftOut} addresses of its Deployment are in conflict already. Does something on the network answer for every address (a proxy of ARP or NDP)? Then switch that off; once the others are free, take them out of annotation ${conflictsAnnotation} of the NodeIPPool`,
};

/** Warns about conflicts of standalone pods. It needs no ConfigMap, which is gone once they have their addresses. One that has ended has failed. */
export function warnOfAlone(pods: readonly Bag[]): Step[] {
  const ungated = pods.filter((pod) => isAlone(pod) && !isGated(pod));
  return ungated.flatMap((pod) => warnOfDetected(pod, hasEnded(pod) ? "failed" : "alone"));
}

/** Returns Events about what a pod detected: on the pod, and, if the pod is replaced and so gone soon, on its workload as well. */
export function warnOfDetected(pod: Bag, way: Way): Step[] {
  const own = keyOf(pod);
  const workload = workloadOfPod(pod);
  const isGoing = way === "replaced" && workload !== undefined;
  const abouts = isGoing ? [own, keyOfWorkload(formatOwner(ownerOfWorkload(workload)))] : [own];
  const lines = detectedIn(pod);
  const [conflicts, unreachable] = [lines.filter(isOf("conflict")), lines.filter(isOf("unreachable"))];
  const step = (problem: "IPConflict" | "GatewayUnreachable", message: string): Step[] =>
    abouts.map((about) => ({ verb: "warn", about, problem, message }));
  return [
    ...(conflicts.length === 0
      ? []
      : step("IPConflict", `${conflicts.map(describeConflict).join(", ")}. ${ends[way]}`)),
    ...(unreachable.length === 0
      ? []
      : step("GatewayUnreachable", `${unreachable.map(describeUnreachable).join(", ")}. ${lookAt}`)),
  ];
}

function isOf(kind: DetectedLine["kind"]) {
  return (line: DetectedLine) => line.kind === kind;
}

function describeConflict({ address, nic, mac }: DetectedLine): string {
  return `another host, with MAC address ${mac}, answers for ${formatAddress(address)} on ${nic}`;
}

function describeUnreachable({ address, nic }: DetectedLine): string {
  return `gateway ${formatAddress(address)} does not answer on ${nic}`;
}

const lookAt =
  "The pod waits, and starts once it does: look at the gateway, and at the VLAN and the bridge of this network on the node";
