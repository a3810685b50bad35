import { nodeOwner } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { mapping } from "../../schema/shape.ts";
import type { ClusterPart } from "../contract/cluster-integration.ts";
import type { Known } from "../contract/known.ts";
import { isManaged } from "../contract/managed-by.ts";
import { annotationsOf, isDeleting, metadataOf, nameOf } from "../contract/object-metadata.ts";
import type { Recording } from "../contract/recording.ts";
import { type Step, warn } from "../contract/step.ts";
import type { Concern, WatchedKind } from "../contract/watched-kind.ts";
import { hostGroup, hostKind, hostState, keyOfHost, linkOf, namesIn, usedBy } from "./bare-metal-host.ts";
import { configMapName } from "./config-map.ts";
import { goneFromHosts } from "./gone.ts";
import { aliasesOfHost, nameOfObjects } from "./infra.ts";
import { infraFile } from "./infra-file.ts";
import { ownerIn, ownerLabel, usedAnnotation } from "./object-parts.ts";
import { isTakenOver, whyNotTakenOver } from "./taken-over.ts";
import { networkDataKind } from "./uses.ts";

/** Records addresses for the hosts of a namespace. */
export function metal3Part(namespace: string): ClusterPart {
  const source = `ConfigMap/${namespace}:${configMapName}`;
  const concernOf = (object: Bag) => concerns(object, source);
  const recording: Recording = {
    kinds: kinds(namespace),
    concerns: concernOf,
    sourceOf: () => source,
    evidenceOf: ({ claim }) => [keyOfSecret(namespace, nameOfObjects(claim))],
    gone: goneFromHosts,
    contention: { isMachine: (owner, node) => aliasesOfHost(owner).includes(nodeOwner(nameOf(node))) },
  };
  return { recording, report, made: { takesOver: isTakenOver, whyRefused: whyNotTakenOver, outlivesSource: true } };
}

function kinds(namespace: string): WatchedKind[] {
  return [
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      plural: "configmaps",
      where: { namespace, fields: `metadata.name=${configMapName}` },
      keep: ({ data }) => ({ data: only(data, infraFile) }),
    },
    {
      apiVersion: "v1",
      kind: networkDataKind,
      plural: "secrets",
      where: { namespace, labels: ownerLabel },
      isGrant: true,
      keep: keepData,
      keepMade: keepData,
    },
    {
      apiVersion: `${hostGroup}/v1alpha1`,
      kind: hostKind,
      plural: "baremetalhosts",
      where: { namespace },
      mayHaveAny: true,
      keep: ({ spec, status }) => ({
        spec: only(spec, "networkData", "preprovisioningNetworkDataName", "automatedCleaningMode"),
        status: { provisioning: only(mapping(status).provisioning, "state") },
      }),
    },
  ];
}

function keepData({ data }: Bag): Bag {
  return { data: only(data, "networkData") };
}

/**
 * Returns the owners and sources that an object concerns.
 *
 *  object         | owners                                   | sources
 *  ---------------+------------------------------------------+----------------------------------------------
 *  ConfigMap      | all                                      | itself
 *  Secret         | the host in its label, and hosts whose   | the ConfigMap, and the BareMetalHost of its name;
 *                 |  objects would have its name             |  none without the label
 *  BareMetalHost  | hosts whose objects would have its name, | none
 *                 |  or that of a Secret that it names       |
 */
function concerns(object: Bag, source: string): Concern {
  const { name, namespace } = metadataOf(object);
  if (object.kind === "ConfigMap") return { owners: "all", sources: [source] };
  if (object.kind === hostKind)
    return { owners: namesIn(hostState(object)).flatMap(ownersNamed), sources: [], isEvidence: true };
  if (object.kind !== networkDataKind) return { owners: [], sources: [] };
  const owner = ownerIn(object);
  const named = ownersNamed(`${name}`);
  if (owner === undefined) return { owners: named, sources: [], isEvidence: true };
  const sources = [source, keyOfHost(`${namespace}`, `${name}`)];
  return { owners: [...new Set([owner, ...named])], sources, isEvidence: true };
}

/** Returns each host that may have this name: any dash may be the one between unit and host. */
function ownersNamed(name: string): string[] {
  return [...name.matchAll(/-/g)].map(({ index }) => `Host/${name.slice(0, index)}.${name.slice(index + 1)}`);
}

/** Reports about a BareMetalHost. A ConfigMap has no status: Events report what is wrong with it. */
function report({ object, made, find }: Known): Step[] {
  if (object.kind !== hostKind) return [];
  const host = hostState(object);
  const isStaying = ({ object: one, isWanted }: Known["made"][number]) =>
    isWanted && isManaged(one) && !isDeleting(one);
  const { name, namespace, networkData } = host;
  const used = usedBy(host, (secret) => find(keyOfSecret(namespace, secret)) !== undefined);
  const annotated = annotateSteps(object, used.length === 0 ? undefined : used.join(","));
  const link = linkOf(host, made.some(isStaying));
  if (link === "none") return annotated;
  const needs = { keys: [keyOfSecret(namespace, name)] };
  const spec = { networkData: { name, namespace } };
  if (link === "set") return [...annotated, { verb: "apply", object, spec, needs, yields: true }];
  const message = `spec.networkData names Secret ${networkData?.name}, and the addresses of this host are in Secret ${name}`;
  return [warn(object, `${message}. Remove that field, and the controller sets it.`), ...annotated];
}

/** Records on a host which Secrets of other hosts it may have used; removes the annotation if `used` is undefined. */
function annotateSteps(object: Bag, used: string | undefined): Step[] {
  if (annotationsOf(object)[usedAnnotation] === used) return [];
  return [{ verb: "change", object, fields: { metadata: { annotations: { [usedAnnotation]: used ?? null } } } }];
}

function keyOfSecret(namespace: string, name: string): string {
  return `${networkDataKind}/${namespace}:${name}`;
}

function only(value: unknown, ...fields: readonly string[]): Bag {
  const bag = mapping(value);
  return Object.fromEntries(fields.flatMap((field) => (bag[field] === undefined ? [] : [[field, bag[field]]])));
}
