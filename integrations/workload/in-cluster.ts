import { type Allocation, type Claim, formatOwner, nameOfKey, ownerOfKey } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import type { ClusterIntegration } from "../contract/cluster-integration.ts";
import type { Facts } from "../contract/facts.ts";
import type { Holdings, Rendered, RenderedObject } from "../contract/integration.ts";
import type { Known } from "../contract/known.ts";
import { isManaged } from "../contract/managed-by.ts";
import { annotationsOf, isDeleting, uidOf } from "../contract/object-metadata.ts";
import { issuesOf } from "../contract/read-each.ts";
import { type Step, warn } from "../contract/step.ts";
import { attachmentKind } from "../networks/attachment-definition.ts";
import { poolRequest } from "./named-pools.ts";
import { isNamespace } from "./namespace.ts";
import { asConfigMap } from "./objects.ts";
import { addressesByNic, claimsOfWorkload, isServed, linesByClaim, readModel, readsOf, wrongWith } from "./plan.ts";
import { podAddresses, poolRequestAnnotation, workloadOfMap } from "./pod-addresses.ts";
import { detectedByPod, isLeftOut, mayLeaveOut, withIndexesInstead } from "./pod-detected.ts";
import { asksController, usesOfMap, usesOfWorkloadPod, workloadPods } from "./pods.ts";
import { maySelect, servedNetworks } from "./pools-of-workload.ts";
import { workloadRecording } from "./recording.ts";
import { sourcesFound } from "./sources-in-cluster.ts";
import type { WorkloadModel } from "./workload-model.ts";
import { isOfWorkload, isWorkload, ownerOfWorkload, parseWorkload, type Workload } from "./workload-object.ts";

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
  recording: workloadRecording,
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
