import { ownPrefix } from "../../schema/node.ts";
import type { Bag } from "../../schema/objects.ts";
import { yamlWriter } from "../../schema/yaml-text.ts";
import type { RenderedObject } from "../contract/integration.ts";
import { labelsOf } from "../contract/object-metadata.ts";
import type { ObjectOptions } from "./cluster.ts";
import { labelsOfHost } from "./host-selector.ts";
import { objectName, ownerOfHost, type Unit } from "./infra.ts";
import type { NetworkData } from "./network-data.ts";

/** Tells one BareMetalHost from others, where a machine has to be on that very host. Its value is the name of its objects. */
export const hostLabel = `${ownPrefix}host`;

/** What a BareMetalHost of another name may have been provisioned with: the names of Secrets of hosts. */
export const usedAnnotation = `${ownPrefix}network-data`;

/** Tells of network data whose it is: the name of its owner, as the record has it. */
export const ownerLabel = `${ownPrefix}owner`;

/** Returns the owner in the label of a Secret. */
export function ownerIn(secret: Bag): string | undefined {
  const name = labelsOf(secret)[ownerLabel];
  return typeof name === "string" ? `Host/${name}` : undefined;
}

/** Name, namespace and labels. */
export function metadataFor(name: string, { namespace }: ObjectOptions, labels: Readonly<Record<string, string>> = {}) {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
  };
}

/** Hosts of a unit differ in addresses alone. */
const networkDataText = yamlWriter();

/** Returns the network data of a host, where the bare metal operator reads it. The operator would add the first label itself. */
export function networkDataSecret(
  unit: string,
  host: string,
  data: NetworkData,
  options: ObjectOptions,
): RenderedObject {
  const labels = { "environment.metal3.io": "baremetal", [ownerLabel]: ownerOfHost(unit, host).name };
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: metadataFor(objectName(unit, host), options, labels),
    stringData: { networkData: networkDataText(data) },
  };
}

/**
 * What a BareMetalHost has besides its own: the labels that it is selected by, and this. It is to be applied server-side onto
 * the object that has BMC and boot MAC address; `online` is there because its kind demands it.
 */
export function bareMetalHost(
  { name: unit, hostSelector }: Pick<Unit, "name" | "hostSelector">,
  host: string,
  { spec = {}, annotations = {} }: { readonly spec?: object; readonly annotations?: Readonly<Record<string, string>> },
  options: ObjectOptions,
): RenderedObject {
  const name = objectName(unit, host);
  const metadata = metadataFor(name, options, { ...labelsOfHost(hostSelector), [hostLabel]: name });
  return {
    apiVersion: "metal3.io/v1alpha1",
    kind: "BareMetalHost",
    metadata: Object.keys(annotations).length === 0 ? metadata : { ...metadata, annotations },
    spec: { online: true, ...spec },
  };
}
