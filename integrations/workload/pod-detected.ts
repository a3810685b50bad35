import {
  type Address,
  type Allocation,
  claimKey,
  formatAddress,
  formatOwner,
  ownerOfKey,
  parseAddress,
  policyOfKey,
} from "../../core/index.ts";
import { type Bag, placeless } from "../../schema/objects.ts";
import { poolConflictsOf } from "../../schema/pool-conflicts.ts";
import type { Detected } from "../contract/detection.ts";
import type { Facts } from "../contract/facts.ts";
import { messageIn } from "./detect-status.ts";
import { hasEnded, networksOfPod, usesAssignedTo, workloadOfPod } from "./pods.ts";
import { poolIn } from "./sources-in-cluster.ts";
import { claimOfIndex, ownerOfWorkload, type Workload } from "./workload-object.ts";

/** What the init container of a pod reported about one address. */
export interface DetectedLine {
  readonly kind: "conflict" | "not-detected" | "unreachable";
  readonly address: Address;
  readonly nic: string;
  /** The MAC address of the host that answers for the address of a conflict; `unknown` if the line has none. */
  readonly mac: string;
}

/**
 * Parses what the init container of a pod reported about the pod's own networks, in the format of `nodeippool detect`:
 *
 *  a line of the container's last message  | means
 *  ----------------------------------------+-----------------------------------------------
 *  conflict ADDRESS NIC MAC                | another host answers for an address of the pod
 *  not-detected ADDRESS NIC                | no other host answers for it
 *  unreachable ADDRESS NIC                 | a gateway does not answer
 *  with an address or NIC that it lacks    | nothing
 *  any other                               | nothing
 *
 * Of a pod that has ended, only conflicts count, and only if it is standalone: a Job's pod fails at its first conflict, and other pods
 * report theirs while they wait.
 */
export function detectedIn(pod: Bag): DetectedLine[] {
  const isOver = hasEnded(pod);
  const nics = new Set(networksOfPod(pod).map(({ nic }) => nic));
  const assigned = new Set(usesOfPod(pod).map(({ address, nic }) => `${formatAddress(address)} ${nic}`));
  return messageIn(pod)
    .split("\n")
    .flatMap((line): DetectedLine[] => {
      const [kind, ip = "", nic = "", text = ""] = line.replace(/ \(.*$/, "").split(" ");
      // The user who creates a pod controls this message: trust nothing in it.
      const mac = /^[\da-f]{2}(:[\da-f]{2})+$/i.test(text) ? text : "unknown";
      const { value: address } = parseAddress(ip);
      if (address === undefined || !nics.has(nic)) return [];
      if (isOver && kind !== "conflict") return [];
      if (kind === "unreachable") return [{ kind, address, nic, mac }];
      const isAssigned = assigned.has(`${formatAddress(address)} ${nic}`);
      return isAssigned && (kind === "conflict" || kind === "not-detected") ? [{ kind, address, nic, mac }] : [];
    });
}

/** Returns the addresses assigned to a pod, each with its claim and NIC. A pod that has ended has some only if it is standalone. */
function usesOfPod(pod: Bag) {
  const [isOver, workload] = [hasEnded(pod), workloadOfPod(pod)];
  if (isOver && workload?.kind !== "Pod") return [];
  const self = workload && formatOwner(ownerOfWorkload(workload));
  return usesAssignedTo(placeless(pod)).flatMap(({ address, owner, interface: claim }) => {
    const isMeant = owner !== undefined && claim !== undefined && (!isOver || owner === self);
    return isMeant ? [{ address, owner, claim, nic: claim.replace(/^\d+\//, "") }] : [];
  });
}

/** Returns what a pod detected about its addresses, by claim, as the record has them. */
export function detectedByPod(pod: Bag): Detected[] {
  const lines = detectedIn(pod);
  if (lines.length === 0) return [];
  return usesOfPod(pod).flatMap(({ address, owner, claim, nic }) => {
    const line = lines.find((one) => one.kind !== "unreachable" && one.address === address && one.nic === nic);
    return line === undefined
      ? []
      : [{ address, claim: `${owner}/${claim}`, isConflict: line.kind === "conflict", mac: line.mac }];
  });
}

/**
 * Returns whether a pod that has ended detected a conflict of a line's address which its pool does not list yet. The line stays until
 * then, so that no other pod gets the address.
 */
export function isConflictUnreported(
  pod: Bag,
  { claim, pool, address }: Allocation,
  find: (key: string) => Bag | undefined,
): boolean {
  const isFound = hasEnded(pod) && detectedByPod(pod).some((one) => one.claim === claim && one.address === address);
  const object = isFound ? poolIn(find, pool) : undefined;
  return object !== undefined && !poolConflictsOf(object).has(address);
}

/** The most indexes of one Deployment that are left out. If all conflict, one host on the network answers for every address. */
export const mostLeftOut = 3;

/** Returns whether one more claim can be left out, beside those that conflict already. */
export function mayLeaveOut(claim: string, conflicting: ReadonlySet<string>): boolean {
  const owner = ownerOfKey(claim);
  if (!owner.startsWith("Deployment/")) return true;
  const its = [...conflicting, claim].filter((one) => ownerOfKey(one) === owner);
  return new Set(its.map(policyOfKey)).size <= mostLeftOut;
}

/** Returns whether another host answers for an address of a Deployment's index. The next pod gets another index. */
export function isLeftOut(workload: Workload, index: number, { conflicting = new Set() }: Facts): boolean {
  const owner = ownerOfWorkload(workload);
  const isOfDeployment = workload.kind === "Deployment" && conflicting.size > 0;
  return (
    isOfDeployment && workload.networks.some(({ nic }) => conflicting.has(claimKey(owner, claimOfIndex(index, nic))))
  );
}

/**
 * Returns a workload with one more index for each that is left out. A left-out index keeps its addresses, so that no other owner gets them.
 *
 *  indexes that are left out     | indexes besides
 *  ------------------------------+---------------------------------
 *  none, or of a StatefulSet     | none
 *  some                          | as many as can be used instead
 *  more than three               | three
 */
export function withIndexesInstead(workload: Workload, facts: Facts): Workload {
  const asked = workload.indexes.length;
  const indexes = [...workload.indexes];
  const usable = () => indexes.filter((index) => !isLeftOut(workload, index, facts)).length;
  while (usable() < asked && indexes.length < asked + mostLeftOut) indexes.push(indexes.length);
  return indexes.length === asked ? workload : { ...workload, indexes };
}
