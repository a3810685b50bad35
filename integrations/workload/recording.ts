import { formatOwner, ownerOfKey, policyOfKey } from "../../core/index.ts";
import { type Bag, placeless } from "../../schema/objects.ts";
import { keyOf, nameOf, namespaceOf } from "../contract/object-metadata.ts";
import type { Recording } from "../contract/recording.ts";
import type { Concern, WatchedKind } from "../contract/watched-kind.ts";
import { attachmentKind } from "../networks/attachment-definition.ts";
import { isGated } from "../networks/gated-pod.ts";
import { networksKind } from "./bound-network.ts";
import { gone, isStillNamed } from "./kept-addresses.ts";
import { namespaceKind } from "./namespace.ts";
import { mapNameOf, mapsKind, workloadOfMap } from "./pod-addresses.ts";
import { asksController, indexOfPod, isWaitingAlone, usesOfWorkloadPod, workloadOfPod, workloadPods } from "./pods.ts";
import {
  isWorkload,
  keepWorkload,
  keyOfWorkload,
  ownerOfWorkload,
  workloadGroup,
  workloadKinds,
} from "./workload-object.ts";

function kinds(): WatchedKind[] {
  return [
    ...workloadKinds.map(
      (one): WatchedKind => ({
        ...{ ...one, apiVersion: `${workloadGroup}/v1`, isOwner: true, ignoresStatus: true, keep: keepWorkload },
      }),
    ),
    networksKind,
    { apiVersion: "v1", kind: namespaceKind, plural: "namespaces", keep: () => ({}) },
    { ...mapsKind, showsIfMade: true },
    { ...workloadPods, mayHaveAny: true, isOwner: true },
  ];
}

/** What the controller asks to record the addresses of pods. */
export const workloadRecording: Recording = {
  kinds: kinds(),
  concerns,
  evidenceOf: ({ claim }) => [keyOfMap(ownerOfKey(claim))],
  gone,
  // Each index is a share of its own: if the addresses run out, only the pods without one wait.
  owners: { shareOf: policyOfKey, has: isStillNamed },
};

/**
 * Returns the owners and sources that an object concerns.
 *
 *  object                                | owners                                    | sources
 *  --------------------------------------+-------------------------------------------+-----------------
 *  StatefulSet, Deployment of ours       | itself                                    | itself
 *  definition of a network               | all                                       | itself
 *  namespace                             | all                                       | none
 *  ConfigMap with addresses of pods      | its workload                              | its workload
 *  pod                                   | those of the addresses that it uses; its  | none; itself, if it
 *                                        |  workload, or itself, while it waits      |  waits and is standalone
 *  any other                             | none                                      | none
 */
function concerns(object: Bag): Concern {
  const self = () => keyOf(object);
  if (isWorkload(object)) return asksController(object) ? { owners: [ownerIn(object)], sources: [self()] } : nobody;
  if (object.kind === attachmentKind) return { owners: "all", sources: [self()] };
  if (object.kind === namespaceKind) return { owners: "all", sources: [] };
  const workload = workloadOfMap(object);
  if (workload !== undefined) {
    const owner = formatOwner(ownerOfWorkload(workload));
    return { owners: [owner], sources: [keyOfWorkload(owner)], isEvidence: true };
  }
  if (object.kind !== workloadPods.kind) return nobody;
  return concernOfPod(object);
}

/** Returns what a pod concerns. The end of a standalone pod matters like that of any owner. */
function concernOfPod(pod: Bag): Concern {
  const maker = isGated(pod) ? workloadOfPod(pod) : indexOfPod(pod)?.workload;
  const owners = usesOfWorkloadPod(placeless(pod)).flatMap(({ owner }) => owner ?? []);
  const isAlone = maker?.kind === "Pod";
  const all = [...owners, ...(maker === undefined ? [] : [formatOwner(ownerOfWorkload(maker))])];
  const sources = isWaitingAlone(pod) ? [keyOf(pod)] : [];
  return { owners: [...new Set(all)], sources, isEvidence: !isAlone };
}

const nobody: Concern = { owners: [], sources: [] };

function ownerIn(object: Bag): string {
  return formatOwner({ kind: `${object.kind}`, namespace: namespaceOf(object), name: nameOf(object) });
}

function keyOfMap(owner: string): string {
  const [, kind, namespace, name = ""] = /^([^/]*)\/([^:]*):(.*)$/s.exec(owner) ?? [];
  return `ConfigMap/${namespace}:${mapNameOf({ kind: `${kind}`, name })}`;
}
