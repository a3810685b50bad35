import { formatAddress, ownerOfKey } from "../../core/index.ts";
import { type Bag, placeless } from "../../schema/objects.ts";
import type { Concern } from "../contract/watched-kind.ts";
import { ipamClaimsInCluster, requestedIn } from "./in-cluster.ts";
import { ipamClaimsRecording } from "./recording.ts";
import { podsKind, usesOfPod } from "./vm-pods.ts";

/**
 * Allocates for IPAMClaims in clusters where the controller also watches the pods of VMs. No other owner gets the addresses of a pod
 * while it may run, even if the record and the claim no longer have them, or a user has deleted the claim by force.
 */
export const ipamClaimsAndPods: typeof ipamClaimsInCluster = {
  ...ipamClaimsInCluster,
  uses: [
    ...ipamClaimsInCluster.uses,
    { kind: podsKind.kind, reader: () => (pod, found) => void found.uses.push(...usesOfPod(pod)) },
  ],
  recording: {
    ...ipamClaimsInCluster.recording,
    kinds: [...ipamClaimsRecording.kinds, { ...podsKind, mayHaveAny: true }],
    concerns,
    contention: {
      ...ipamClaimsInCluster.recording.contention,
      requestedUses: (objects, facts) => requestedIn(objects, facts, objects.flatMap(usesOfPod)),
    },
    gone: (objects, facts, releasing, isReset, find) => {
      const used = new Set(objects.flatMap(usesIn).map(({ address, owner = "" }) => placeOf(address, owner)));
      const free = ipamClaimsRecording.gone(objects, facts, releasing, isReset, find);
      return free.filter(({ address, claim }) => !used.has(placeOf(address, ownerOfKey(claim))));
    },
  },
};

function concerns(object: Bag): Concern {
  if (object.kind !== podsKind.kind) return ipamClaimsRecording.concerns(object);
  return { owners: usesIn(object).flatMap(({ owner }) => owner ?? []), isEvidence: true, sources: [] };
}

function usesIn(object: Bag) {
  return usesOfPod(placeless(object));
}

function placeOf(address: Parameters<typeof formatAddress>[0], owner: string): string {
  return `${formatAddress(address)} ${owner}`;
}
