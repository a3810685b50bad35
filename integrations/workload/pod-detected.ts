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

/** What it has found about one address. */
export interface DetectedLine {
  readonly kind: "conflict" | "not-detected" | "unreachable";
  readonly address: Address;
  readonly nic: string;
  /** Of a conflict: the MAC address of who answers; `unknown` where nobody knows it. */
  readonly mac: string;
}

/**
 * What was found in a pod, of its own networks alone. The words are those of `nodeippool detect`:
 *
 *  a line of the container's last message  | it says
 *  ----------------------------------------+-----------------------------------------------
 *  conflict ADDRESS NIC MAC                | another host answers for an address of the pod
 *  not-detected ADDRESS NIC                | nobody else does
 *  unreachable ADDRESS NIC                 | a gateway does not answer
 *  of an address or a NIC not told to it   | nothing
 *  any other                               | nothing
 *
 * Of a pod that has ended, only conflicts count, and only where it is by itself: a Job's pod fails at its first one, and others say theirs while
 * they wait.
 */
export function detectedIn(pod: Bag): DetectedLine[] {
  const isOver = hasEnded(pod);
  const nics = new Set(networksOfPod(pod).map(({ nic }) => nic));
  const assigned = new Set(usesOfPod(pod).map(({ address, nic }) => `${formatAddress(address)} ${nic}`));
  return messageIn(pod)
    .split("\n")
    .flatMap((line): DetectedLine[] => {
      const [kind, ip = "", nic = "", text = ""] = line.replace(/ \(.*$/, "").split(" ");
      // Whoever makes a pod may have it say anything.
      const mac = /^[\da-f]{2}(:[\da-f]{2})+$/i.test(text) ? text : "unknown";
      const { value: address } = parseAddress(ip);
      if (address === undefined || !nics.has(nic)) return [];
      if (isOver && kind !== "conflict") return [];
      if (kind === "unreachable") return [{ kind, address, nic, mac }];
      const isAssigned = assigned.has(`${formatAddress(address)} ${nic}`);
      return isAssigned && (kind === "conflict" || kind === "not-detected") ? [{ kind, address, nic, mac }] : [];
    });
}

/** The addresses that a pod was told, each with the index and the NIC that it has it for; of one that has ended, its own alone, where it is by itself. */
function usesOfPod(pod: Bag) {
  const [isOver, workload] = [hasEnded(pod), workloadOfPod(pod)];
  if (isOver && workload?.kind !== "Pod") return [];
  const self = workload && formatOwner(ownerOfWorkload(workload));
  return usesAssignedTo(placeless(pod)).flatMap(({ address, owner, interface: claim }) => {
    const isMeant = owner !== undefined && claim !== undefined && (!isOver || owner === self);
    return isMeant ? [{ address, owner, claim, nic: claim.replace(/^\d+\//, "") }] : [];
  });
}

/** The same for the record: by the claims of its index. */
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

/** Has a pod that has ended found a conflict of the address of a line, and its pool does not say so yet? Nobody is to get it before. */
export function isConflictUnreported(
  pod: Bag,
  { claim, pool, address }: Allocation,
  find: (key: string) => Bag | undefined,
): boolean {
  const isFound = hasEnded(pod) && detectedByPod(pod).some((one) => one.claim === claim && one.address === address);
  const object = isFound ? poolIn(find, pool) : undefined;
  return object !== undefined && !poolConflictsOf(object).has(address);
}

/** So many indexes of one Deployment are left out; where all conflict, something answers for every address. */
export const mostLeftOut = 3;

/** May the address of a claim be left out, beside those of others? */
export function mayLeaveOut(claim: string, conflicting: ReadonlySet<string>): boolean {
  const owner = ownerOfKey(claim);
  if (!owner.startsWith("Deployment/")) return true;
  const its = [...conflicting, claim].filter((one) => ownerOfKey(one) === owner);
  return new Set(its.map(policyOfKey)).size <= mostLeftOut;
}

/** Does another host answer for an address of an index? The next pod of a Deployment gets another index. */
export function isLeftOut(workload: Workload, index: number, { conflicting = new Set() }: Facts): boolean {
  const owner = ownerOfWorkload(workload);
  const isOfDeployment = workload.kind === "Deployment" && conflicting.size > 0;
  return (
    isOfDeployment && workload.networks.some(({ nic }) => conflicting.has(claimKey(owner, claimOfIndex(index, nic))))
  );
}

/**
 * A workload with an index more for each that is left out. Those stay, with their addresses: nobody else is to have these.
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
