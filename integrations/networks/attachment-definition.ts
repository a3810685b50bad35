import type { Parsed } from "../../core/index.ts";
import { asBag, type Bag } from "../../schema/objects.ts";
import { kindInGroup } from "../contract/object-key.ts";
import { nameOf, namespaceOf } from "../contract/object-metadata.ts";

/** A network that pods may be attached to, as Multus reads it. Its configuration of CNI is JSON in a text. */
export const attachmentGroup = "k8s.cni.cncf.io";
export const attachmentKind = "NetworkAttachmentDefinition";
export const attachmentPlural = "network-attachment-definitions";

/** Where a pod says which networks Multus attaches it to. */
export const networksAnnotation = "k8s.v1.cni.cncf.io/networks";

/** Where it says which one is its eth0, in place of the cluster's. */
export const defaultNetworkAnnotation = "v1.multus-cni.io/default-network";

/** Where it has its configuration of CNI, as JSON. */
export const configPath = ["spec", "config"];

/** Is it a version of this group? */
export function isOfGroup(apiVersion: unknown, group: string): boolean {
  return typeof apiVersion === "string" && apiVersion.startsWith(`${group}/`);
}

/** The text of its configuration; empty where the object is none, or has none. */
export function configText({ apiVersion, kind, spec }: Bag): string {
  const config = asBag(spec)?.config;
  return kind === attachmentKind && isOfGroup(apiVersion, attachmentGroup) && typeof config === "string" ? config : "";
}

/** Its configuration, the plugins in it, and what the network is called: as the configuration says, else as the object, as Multus does it. */
export interface NetworkConfig {
  readonly network: string;
  readonly plugins: readonly Bag[];
}

export function parseNetworkConfig(definition: Bag): Parsed<NetworkConfig> {
  let config: Bag;
  try {
    config = asBag(JSON.parse(configText(definition))) ?? {};
  } catch (error) {
    return { issues: [{ message: `config is no JSON: ${(error as Error).message}`, path: configPath }] };
  }
  const { name, plugins } = config;
  const network = typeof name === "string" && name !== "" ? name : `${asBag(definition.metadata)?.name}`;
  const listed = Array.isArray(plugins) ? plugins.map((plugin) => asBag(plugin) ?? {}) : [config];
  return { value: { network, plugins: listed } };
}

/** `namespace/name`. */
export function attachmentTitle(definition: Bag): string {
  return `${namespaceOf(definition)}/${nameOf(definition)}`;
}

/** The key of a definition, `namespace/name`. */
export function keyOfDefinition(definition: string): string {
  return `${kindInGroup(attachmentKind, attachmentGroup)}/${definition.replace("/", ":")}`;
}
