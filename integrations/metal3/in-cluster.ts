import { ownerOfKey } from "../../core/index.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import {
  type Concern,
  type InCluster,
  isManaged,
  type Known,
  managedBy,
  type Report,
  type WatchedKind,
} from "../in-cluster.ts";
import { hostGroup, hostKind, hostState, keyOfHost, linkOf, mayUse, namesIn } from "./bare-metal-host.ts";
import { configMapName } from "./config-map.ts";
import { hostOfClaim, objectName } from "./infra.ts";
import { infraFile } from "./infra-file.ts";
import { ownerLabel } from "./objects.ts";
import { networkDataKind } from "./uses.ts";

/** What the controller does for the hosts of a namespace. */
export function metal3Part(namespace: string): InCluster {
  const source = `ConfigMap/${namespace}:${configMapName}`;
  const concernOf = (object: Bag) => concerns(object, source);
  return {
    kinds: kinds(namespace),
    concerns: concernOf,
    sourceOf: () => source,
    objectOf: (claim) => `${networkDataKind}/${namespace}:${nameOf(claim)}`,
    evidenceOf: (claim) => [keyOfHost(namespace, nameOf(claim))],
    // Neither its Secret nor a host may have the address any more.
    gone: (objects, _, releasing) => {
      const hosts = objects.filter(({ kind }) => kind === hostKind).map(hostState);
      const secrets = objects.filter(({ kind }) => kind === networkDataKind);
      const shown = new Set(secrets.flatMap((one) => concernOf(one).owners));
      return releasing.filter(
        ({ claim }) => !shown.has(ownerOfKey(claim)) && !hosts.some((host) => mayUse(host, nameOf(claim))),
      );
    },
    report,
    outlivesSource: true,
  };
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
      where: { namespace, labels: ofController },
      isReport: true,
      // Of one that is somebody else's nothing is kept in memory.
      keep: () => ({}),
      keepMade: ({ data }) => ({ data }),
    },
    {
      apiVersion: `${hostGroup}/v1alpha1`,
      kind: hostKind,
      plural: "baremetalhosts",
      where: { namespace },
      keep: ({ spec, status }) => ({
        spec: only(spec, "networkData", "preprovisioningNetworkDataName", "automatedCleaningMode"),
        status: { provisioning: only(asBag(status)?.provisioning, "state") },
      }),
    },
  ];
}

const ofController = Object.entries(managedBy)
  .map((label) => label.join("="))
  .join(",");

/**
 * Whom an object concerns.
 *
 *  object         | owners                                   | tells about
 *  ---------------+------------------------------------------+----------------------------------------------
 *  ConfigMap      | all                                      | itself
 *  Secret         | the host that its label says             | the ConfigMap, and the BareMetalHost of its name
 *  BareMetalHost  | hosts whose objects would have its name, | nothing
 *                 |  or that of a Secret that it names       |
 */
function concerns(object: Bag, source: string): Concern {
  const { name, namespace, labels } = asBag(object.metadata) ?? {};
  if (object.kind === "ConfigMap") return { owners: "all", sources: [source] };
  if (object.kind === hostKind)
    return { owners: namesIn(hostState(object)).flatMap(ownersNamed), sources: [], isEvidence: true };
  const owner = asBag(labels)?.[ownerLabel];
  if (object.kind !== networkDataKind || typeof owner !== "string") return { owners: [], sources: [] };
  return { owners: [`Host/${owner}`], sources: [source, keyOfHost(`${namespace}`, `${name}`)], isEvidence: true };
}

/** Each host that may go by this name: which dash is the one between unit and host, it does not say. */
function ownersNamed(name: string): string[] {
  return [...name.matchAll(/-/g)].map(({ index }) => `Host/${name.slice(0, index)}.${name.slice(index + 1)}`);
}

/** The name of the objects of the host that a claim is of. */
function nameOf(claim: string): string {
  const { unit = "", host = "" } = hostOfClaim(claim) ?? {};
  return objectName(unit, host);
}

/** A ConfigMap has no status: what is wrong with it, Events say. */
function report({ object, made }: Known): Report {
  if (object.kind !== hostKind) return {};
  const host = hostState(object);
  const link = linkOf(
    host,
    made.some(({ object: one }) => isManaged(one) && asBag(one.metadata)?.deletionTimestamp === undefined),
  );
  const { name, namespace, networkData } = host;
  if (link === "set") return { spec: { networkData: { name, namespace } }, yields: true };
  if (link === "none") return {};
  const message = `spec.networkData names Secret ${networkData?.name}, and the addresses of this host are in Secret ${name}`;
  return { refused: `${message}. Remove that field, and the controller sets it.` };
}

function only(value: unknown, ...fields: readonly string[]): Bag {
  const bag = asBag(value) ?? {};
  return Object.fromEntries(fields.flatMap((field) => (bag[field] === undefined ? [] : [[field, bag[field]]])));
}
