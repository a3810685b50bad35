import {
  type Allocation,
  type Claim,
  formatAddress,
  formatOwner,
  nameOfKey,
  ownerOfKey,
  policyOfKey,
  type Use,
} from "../../core/index.ts";
import { asBag, type Bag, type LocatedObject, placeless } from "../../schema/objects.ts";
import { attachmentKind, keyOfDefinition } from "../attachment-definition.ts";
import type { Facts } from "../facts.ts";
import { isGated, isOver } from "../gated-pod.ts";
import { type Concern, isManaged, type Known, type Report, type WatchedKind } from "../in-cluster.ts";
import type { Holdings, Integration, Rendered, RenderedObject } from "../integration.ts";
import { objectKey } from "../object-key.ts";
import { isDeleting, nameOf, uidOf } from "../object-metadata.ts";
import { type BoundNetwork, networksKind, readBound } from "./bound-network.ts";
import { wishOf } from "./named-pools.ts";
import { isNamespace, namespaceKind, readNamespace } from "./namespace.ts";
import { entriesOfMap, mapNameOf, mapsKind, podAddresses, wishAnnotation, workloadOfMap } from "./pod-addresses.ts";
import { detectedByPod, isLeftOut, mayLeaveOut, withPlacesInstead } from "./pod-detected.ts";
import { networksOfPod, ordinalOf, usesOfNetwork, usesOfWorkloadPod, workloadOfPod, workloadPods } from "./pods.ts";
import { maySelect, type PoolSources, servedNetworks } from "./pools-of-workload.ts";
import {
  addressesByNic,
  claimsOfWorkload,
  isServed,
  readModel,
  readsOf,
  type WorkloadModel,
  wrongWith,
} from "./workload.ts";
import {
  claimOfPlace,
  isGatedWorkload,
  isOfWorkload,
  isRenderedWorkload,
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
 * Fixed addresses of pods, decided in the cluster: each StatefulSet and Deployment whose pods wait for the controller has a ConfigMap
 * with them. What a pod bears is nobody else's for as long as it may run, whatever the record or the ConfigMap says.
 */
export const workloadsInCluster: Integration<WorkloadModel> = {
  name: "workload",
  reads: readsOf(isOurs, isAbout),
  usedIn: ["ConfigMap", workloadPods.kind],
  read: (objects) => readModel(objects, isOurs),
  claims: (model, facts) => model.workloads.flatMap(({ value }) => claimsOfPlaces(value, model, facts)),
  isClaim: isOfWorkload,
  render: renderMaps,
  uses: () => (located, found) => {
    found.uses.push(...usesOfWorkloadPod(located), ...usesOfMap(located));
  },
  inCluster: {
    kinds: kinds(),
    concerns,
    sourceOf: (claim) => keyOfWorkload(ownerOfKey(claim)),
    // One pod more than there are addresses waits by itself.
    shareOf: policyOfKey,
    evidenceOf: ({ claim }) => [keyOfMap(ownerOfKey(claim))],
    detected: (object) => (object.kind === workloadPods.kind ? detectedByPod(object) : []),
    mayLeaveOut,
    has: isStillNamed,
    gone,
    report,
  },
};

/** Does it tell about networks of pods? Those that are not bound are known, too: so it is known which one is not there. */
function isAbout(object: Bag): boolean {
  return isNamespace(object) || object.kind === attachmentKind;
}

/** Does the controller see to its pods? Where a plan has rendered it, that has made the ConfigMap. */
function isOurs(object: Bag): boolean {
  return isGatedWorkload(object) && !isRenderedWorkload(object);
}

function kinds(): WatchedKind[] {
  return [
    ...workloadKinds.map(
      (one): WatchedKind => ({
        ...{ ...one, apiVersion: `${workloadGroup}/v1`, isOwner: true, hasMereStatus: true, keep: keepWorkload },
      }),
    ),
    networksKind,
    { apiVersion: "v1", kind: namespaceKind, plural: "namespaces", keep: () => ({}) },
    { ...mapsKind, isReport: "made" },
    { ...workloadPods, isReport: true, mayHaveAny: true },
  ];
}

/** The address of a place says its place, so that what a pod shows is that claim's and no other one's. */
function claimsOfPlaces(workload: Workload, model: WorkloadModel, facts: Facts): Claim[] {
  return claimsOfWorkload(withPlacesInstead(workload, facts), model, facts).map((claim) => ({
    ...claim,
    interface: claim.name,
  }));
}

/** A workload that lacks an address of some of its pods has a ConfigMap with the others. */
function renderMaps(model: WorkloadModel, facts: Facts, { snapshot }: Holdings): Rendered {
  const instead = model.workloads.map(({ value, source }): [typeof source, RenderedObject[]] => {
    if (wrongWith(value, model, facts) !== undefined || !isServed(value, model, facts)) return [source, []];
    const map = podAddresses(
      withPlacesInstead(value, facts),
      addressesByNic(snapshot.allocations, value, model, facts),
      (place) => isLeftOut(value, place, facts),
    );
    if (Object.keys(asBag(asBag(map)?.data) ?? {}).length === 0) return [source, []];
    const { apiVersion, kind } = source.object;
    const owner = { apiVersion, kind, name: value.name, uid: uidOf(source.object) };
    const annotations = { ...asBag(map.metadata.annotations), [wishAnnotation]: wishOf(value.annotations) };
    return [source, [{ ...map, metadata: { ...map.metadata, annotations, ownerReferences: [owner] } }]];
  });
  return { instead: new Map(instead), added: [], left: [] };
}

/** What a ConfigMap says of places. */
function usesOfMap({ object, at }: LocatedObject): Use[] {
  const workload = workloadOfMap(object);
  if (workload === undefined) return [];
  return entriesOfMap(object, workload).flatMap(({ key, place, networks }) =>
    networks.flatMap((network) => usesOfNetwork(network, { workload, place }, at(["data", key], ""))),
  );
}

/**
 * Whom an object concerns.
 *
 *  object                                | owners                                    | tells about
 *  --------------------------------------+-------------------------------------------+-----------------
 *  StatefulSet, Deployment of ours       | itself                                    | itself
 *  definition of a network               | all                                       | itself
 *  namespace                             | all                                       | nothing
 *  ConfigMap with addresses of pods      | its workload                              | its workload
 *  pod                                   | whose addresses it bears, and, while it   | nothing
 *                                        |  waits, who made it                       |
 *  any other                             | nobody                                    | nothing
 */
function concerns(object: Bag): Concern {
  const self = () => objectKey(object as never);
  if (isWorkload(object)) return isOurs(object) ? { owners: [ownerIn(object)], sources: [self()] } : nobody;
  if (object.kind === attachmentKind) return { owners: "all", sources: [self()] };
  if (object.kind === namespaceKind) return { owners: "all", sources: [] };
  const workload = workloadOfMap(object);
  if (workload !== undefined) {
    const owner = formatOwner(ownerOfWorkload(workload));
    return { owners: [owner], sources: [keyOfWorkload(owner)], isEvidence: true };
  }
  if (object.kind !== workloadPods.kind) return nobody;
  const maker = isGated(object) ? workloadOfPod(object) : undefined;
  const owners = usesOfWorkloadPod(placeless(object as never)).flatMap(({ owner }) => owner ?? []);
  const all = [...owners, ...(maker === undefined ? [] : [formatOwner(ownerOfWorkload(maker))])];
  return { owners: [...new Set(all)], sources: [], isEvidence: true };
}

const nobody: Concern = { owners: [], sources: [] };

function ownerIn(object: Bag): string {
  const { namespace = "default" } = asBag(object.metadata) ?? {};
  return formatOwner({ kind: `${object.kind}`, namespace: `${namespace}`, name: nameOf(object) });
}

function keyOfMap(owner: string): string {
  const [, kind, namespace, name = ""] = /^([^/]*)\/([^:]*):(.*)$/s.exec(owner) ?? [];
  return `ConfigMap/${namespace}:${mapNameOf({ kind: kind as Workload["kind"], namespace: `${namespace}`, name })}`;
}

/** Names the template of a workload the place and the network of a line still, and somebody its pool? While that network cannot be read, or its pool, the line stays. */
function isStillNamed(owner: Bag, line: Allocation, find: (key: string) => Bag | undefined): boolean {
  const workload = isOurs(owner) && !isDeleting(owner) ? parseWorkload(owner).value : undefined;
  if (workload === undefined) return false;
  const name = nameOfKey(line.claim);
  const network = workload.networks.find(({ nic }) =>
    workload.places.some((place) => claimOfPlace(place, nic) === name),
  );
  return network !== undefined && maySelect(line, workload, network, sourcesFound(workload, find));
}

/** What says which pools it may have addresses of, as it is in the cluster. */
function sourcesFound(
  { namespace, networks }: Pick<Workload, "namespace" | "networks">,
  find: (key: string) => Bag | undefined,
): PoolSources {
  const object = find(`${namespaceKind}/${namespace}`);
  return {
    networks: new Map(networks.flatMap(({ definition }) => boundBy(definition, find))),
    namespaces: new Map(object === undefined ? [] : [[namespace, readNamespace(object)]]),
  };
}

/**
 * Is an address off its place?
 *
 *  there is                                          | it is
 *  --------------------------------------------------+---------------------------------------------------
 *  a pod with it that has not come to its end        | no
 *  a pod that waits, may be told this place, and has | no: somebody may be about to tell it, by what the
 *   a network of this name and pool                  |  ConfigMap said
 *  a ConfigMap with it                               | no: the next pod would be told
 *  none of these                                     | yes
 */
function gone(
  objects: readonly Bag[],
  _: Facts,
  releasing: readonly Allocation[],
  __: boolean,
  find: (key: string) => Bag | undefined,
): readonly Allocation[] {
  const located = objects.map((object) => placeless(object as never));
  const uses = located.flatMap((one) => [...usesOfWorkloadPod(one), ...usesOfMap(one)]);
  const used = new Set(uses.map(({ address, owner = "" }) => `${formatAddress(address)} ${owner}`));
  const awaited = objects.flatMap((object) => awaitedBy(object, find));
  return releasing.filter((line) => {
    const isUsed = used.has(`${formatAddress(line.address)} ${ownerOfKey(line.claim)}`);
    return !isUsed && !awaited.some((one) => one.isOf(line.claim) && one.mayHave(line));
  });
}

/** What a pod that waits may be told: for which claims, and of which pools. Any place of a Deployment may be its. */
function awaitedBy(object: Bag, find: (key: string) => Bag | undefined) {
  const isWaiting = object.kind === workloadPods.kind && isGated(object) && !isOver(object);
  const workload = isWaiting ? workloadOfPod(object) : undefined;
  if (workload === undefined) return [];
  const owner = `${formatOwner(ownerOfWorkload(workload))}/`;
  const place = workload.kind === "StatefulSet" ? `${ordinalOf(object, workload)}/` : "";
  const networks = networksOfPod(object);
  const annotations = asBag(asBag(object.metadata)?.annotations) ?? {};
  const asking = { ...workload, networks, annotations };
  const sources = sourcesFound(asking, find);
  return networks.map((network) => ({
    isOf: (claim: string) => claim.startsWith(`${owner}${place}`) && claim.endsWith(`/${network.nic}`),
    mayHave: (line: Allocation) => maySelect(line, asking, network, sources),
  }));
}

/**
 * What is said of a workload, in Events: its status is somebody else's.
 *
 *  its networks                         | what is said
 *  -------------------------------------+----------------------------------------------------------
 *  cannot give addresses                | why not
 *  none is bound to NodeIPPools         | that
 *  are of plans, and it has no ConfigMap | that a plan is to give them
 *  any other                            | why some pods have none
 */
function report({ object, made, find, pending: [pending] }: Known, known: Facts): Report {
  const workload = isWorkload(object) ? parseWorkload(object).value : undefined;
  if (workload === undefined || isDeleting(object)) return {};
  const facts: Facts = { ...known, authority: "Cluster" };
  const sources = sourcesFound(workload, find);
  const wrong = wrongWith(workload, sources, facts);
  if (wrong !== undefined) return { refused: [wrong.message, wrong.hint].filter(Boolean).join(". ") };
  if (servedNetworks(workload, sources, facts).value?.length === 0) return { refused: unbound };
  const isPlanned = !isServed(workload, sources, facts);
  const hasMap = made.some((one) => workloadOfMap(one.object) !== undefined && !isManaged(one.object));
  if (isPlanned) return hasMap ? {} : { refused: planned };
  return pending === undefined ? {} : { refused: pending.message };
}

const unbound =
  "no network of its pods is bound to NodeIPPools, so they wait for ever. Name the pools in annotation nodeippool.nmstate.io/pool of a NetworkAttachmentDefinition, or take label nodeippool.nmstate.io/addresses off the template";
const planned =
  "a plan gives the addresses of its pods (its NodeIPPools have authority Plan). Allocate and render it, and apply its ConfigMap";

function boundBy(definition: string, find: (key: string) => Bag | undefined): [string, BoundNetwork][] {
  const object = find(keyOfDefinition(definition));
  return object === undefined ? [] : [[definition, readBound(object)]];
}
