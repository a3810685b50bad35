import { type Allocation, type Claim, formatOwner, nameOfKey, ownerOfKey, policyOfKey } from "../../core/index.ts";
import { type Bag, placeless } from "../../schema/objects.ts";
import type { ClusterIntegration } from "../contract/cluster-integration.ts";
import type { Facts } from "../contract/facts.ts";
import type { Holdings, Rendered, RenderedObject } from "../contract/integration.ts";
import type { Known } from "../contract/known.ts";
import { isManaged } from "../contract/managed-by.ts";
import { annotationsOf, isDeleting, keyOf, nameOf, namespaceOf, uidOf } from "../contract/object-metadata.ts";
import { issuesOf } from "../contract/read-each.ts";
import { type Step, warn } from "../contract/step.ts";
import type { Concern, WatchedKind } from "../contract/watched-kind.ts";
import { attachmentKind } from "../networks/attachment-definition.ts";
import { isGated } from "../networks/gated-pod.ts";
import { networksKind } from "./bound-network.ts";
import { gone, isStillNamed } from "./kept-addresses.ts";
import { poolRequest } from "./named-pools.ts";
import { isNamespace, namespaceKind } from "./namespace.ts";
import { asConfigMap } from "./objects.ts";
import { addressesByNic, claimsOfWorkload, isServed, linesByClaim, readModel, readsOf, wrongWith } from "./plan.ts";
import { mapNameOf, mapsKind, podAddresses, poolRequestAnnotation, workloadOfMap } from "./pod-addresses.ts";
import { detectedByPod, isLeftOut, mayLeaveOut, withIndexesInstead } from "./pod-detected.ts";
import {
  asksController,
  indexOfPod,
  isWaitingAlone,
  usesOfMap,
  usesOfWorkloadPod,
  workloadOfPod,
  workloadPods,
} from "./pods.ts";
import { maySelect, servedNetworks } from "./pools-of-workload.ts";
import { sourcesFound } from "./sources-in-cluster.ts";
import type { WorkloadModel } from "./workload-model.ts";
import {
  isOfWorkload,
  isWorkload,
  keepWorkload,
  keyOfWorkload,
  ownerOfWorkload,
  parseWorkload,
  type Workload,
  workloadGroup,
  workloadKinds,
} from "./workload-object.ts";

/**
 * Addresses of pods, decided in the cluster: each StatefulSet and Deployment whose pods wait for the controller has a ConfigMap
 * with them, and so has any standalone pod while it waits. No other owner gets an address that a pod may still run with, even if the
 * record or the ConfigMap was lost.
 */
export const workloadsInCluster: ClusterIntegration<WorkloadModel> = {
  name: "workload",
  reads: [
    ...readsOf(asksController, isAbout),
    { group: "", kind: "Pod", plural: "pods", owns: asksController, mark: /(?!)/, runsAsIs: true },
  ],
  read: (objects) => {
    const model = readModel(objects, asksController);
    return model.unread.length > 0 ? { issues: issuesOf(model.unread) } : { value: model };
  },
  claims: (model, facts) => model.workloads.flatMap(({ value }) => claimsOfIndexes(value, model, facts)),
  isClaim: isOfWorkload,
  render: renderMaps,
  uses: [
    { kind: "ConfigMap", reader: () => (map, found) => void found.uses.push(...usesOfMap(map)) },
    { kind: workloadPods.kind, reader: () => (pod, found) => void found.uses.push(...usesOfWorkloadPod(pod)) },
  ],
  recording: {
    kinds: kinds(),
    concerns,
    evidenceOf: ({ claim }) => [keyOfMap(ownerOfKey(claim))],
    gone,
    // Each index is a share of its own: if the addresses run out, only the pods without one wait.
    owners: { shareOf: policyOfKey, has: isStillNamed },
  },
  detection: {
    detected: (object) => (object.kind === workloadPods.kind ? detectedByPod(object) : []),
    mayLeaveOut,
  },
  report,
};

/** Returns whether an object is a source for networks of pods. Unbound networks are sources too, so that a missing one can be reported. */
function isAbout(object: Bag): boolean {
  return isNamespace(object) || object.kind === attachmentKind;
}

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

/** Returns the claims of a workload. Each has its index as its interface, so an address that a pod shows is that claim's and no other's. */
function claimsOfIndexes(workload: Workload, model: WorkloadModel, facts: Facts): Claim[] {
  return claimsOfWorkload(withIndexesInstead(workload, facts), model, facts).map((claim) => ({
    ...claim,
    interface: claim.name,
  }));
}

/**
 * Renders the ConfigMap of each workload.
 *
 *  its networks                          | its ConfigMap
 *  --------------------------------------+------------------------------------------------
 *  can give addresses                    | has the pods that have all their addresses
 *  cannot, and all that its pods have is | stays as it is: the pods keep their addresses
 *   of pools that are still named        |
 *  cannot, and some is of others, or is  | is removed: no other pod must get these addresses
 *   releasing                            |
 *  are of plans, or not bound            | is not the controller's
 */
function renderMaps(model: WorkloadModel, facts: Facts, { snapshot }: Holdings): Rendered {
  const lines = linesByClaim(snapshot.allocations);
  const instead = model.workloads.map(({ value, source }): [typeof source, RenderedObject[]] => {
    if (!isServed(value, model, facts)) return [source, []];
    const map = podAddresses(withIndexesInstead(value, facts), addressesByNic(lines, value, model, facts), (index) =>
      isLeftOut(value, index, facts),
    );
    if (Object.keys(asConfigMap(map).data).length === 0) return [source, []];
    const { apiVersion, kind } = source.object;
    const owner = { apiVersion, kind, name: value.name, uid: uidOf(source.object) };
    const annotations = { ...annotationsOf(map), [poolRequestAnnotation]: poolRequest(value.annotations) };
    return [source, [{ ...map, metadata: { ...map.metadata, annotations, ownerReferences: [owner] } }]];
  });
  return { instead: new Map(instead), added: [], left: [], kept: keptIn(model, facts, snapshot) };
}

/** Returns the workloads that can get no addresses now, and whose pods have addresses only of networks and pools that are still named. */
function keptIn(model: WorkloadModel, facts: Facts, { allocations, releasing }: Holdings["snapshot"]): string[] {
  const wrong = model.workloads.filter(({ value }) => wrongWith(value, model, facts) !== undefined);
  if (wrong.length === 0) return [];
  const lines = Map.groupBy(allocations, ({ claim }) => ownerOfKey(claim));
  const leaving = new Set(releasing.map(({ claim }) => ownerOfKey(claim)));
  return wrong.flatMap(({ value }) => {
    const owner = formatOwner(ownerOfWorkload(value));
    const isNamed = (line: Allocation) => {
      const network = value.networks.find(({ nic }) => nic === nameOfKey(line.claim).split("/")[1]);
      return network !== undefined && maySelect(line, value, network, model, () => true);
    };
    return !leaving.has(owner) && (lines.get(owner) ?? []).every(isNamed) ? [owner] : [];
  });
}

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

/**
 * Reports about a workload in Events, because its status belongs to another controller.
 *
 *  its networks                         | the Event
 *  -------------------------------------+----------------------------------------------------------
 *  cannot give addresses                | reports why
 *  none is bound to NodeIPPools         | reports that
 *  are of plans, and it has no ConfigMap | asks for a plan to allocate them
 *  any other                            | reports why some pods have none
 */
function report({ object, made, find, pending: [pending] }: Known, known: Facts): Step[] {
  const workload = isWorkload(object) || asksController(object) ? parseWorkload(object).value : undefined;
  if (workload === undefined || isDeleting(object)) return [];
  const facts: Facts = { ...known, authority: "Cluster" };
  const sources = sourcesFound(workload, find);
  const wrong = wrongWith(workload, sources, facts);
  if (wrong !== undefined) return [warn(object, [wrong.message, wrong.hint].filter(Boolean).join(". "))];
  if (servedNetworks(workload, sources, facts).value?.length === 0) return [warn(object, unbound)];
  const isPlanned = !isServed(workload, sources, facts);
  const hasMap = made.some((one) => workloadOfMap(one.object) !== undefined && !isManaged(one.object));
  if (isPlanned) return hasMap ? [] : [warn(object, workload.kind === "Pod" ? unplanned : planned)];
  return pending === undefined ? [] : [warn(object, pending.message)];
}

const unbound =
  "no network of its pods is bound to NodeIPPools, so they wait for ever. Name the pools in annotation nodeippool.nmstate.io/pool of a NetworkAttachmentDefinition, or take label nodeippool.nmstate.io/addresses off the template";
const planned =
  "a plan gives the addresses of its pods (its NodeIPPools have authority Plan). Allocate and render it, and apply its ConfigMap";
const unplanned =
  "its network takes addresses of a NodeIPPool of authority Plan, and no plan has a pod by itself. Name a NodeIPPool of authority Cluster";
