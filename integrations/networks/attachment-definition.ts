import type { Parsed } from "../../core/index.ts";
import { parseJson } from "../../schema/json.ts";
import type { Bag } from "../../schema/objects.ts";
import type { Of } from "../../schema/shape.ts";
import { kindInGroup } from "../contract/object-key.ts";
import { nameOf, namespaceOf } from "../contract/object-metadata.ts";
import { asAttachmentDefinition, asNetworkConfig, asPlugin } from "./objects.ts";

/** A network that pods may be attached to, as Multus reads it. Its configuration of CNI is JSON in a text. */
export const attachmentGroup = "k8s.cni.cncf.io";
export const attachmentKind = "NetworkAttachmentDefinition";
export const attachmentPlural = "network-attachment-definitions";

/** On a pod: the networks that Multus attaches it to. */
export const networksAnnotation = "k8s.v1.cni.cncf.io/networks";

/** On a pod: the network that is its eth0, in place of the cluster's. */
export const defaultNetworkAnnotation = "v1.multus-cni.io/default-network";

/** The path of the CNI configuration in a NetworkAttachmentDefinition, as JSON. */
export const configPath = ["spec", "config"];

/** Returns whether an apiVersion is of this group. */
export function isOfGroup(apiVersion: unknown, group: string): boolean {
  return typeof apiVersion === "string" && apiVersion.startsWith(`${group}/`);
}

/** Returns the text of a definition's configuration; empty if the object is no definition, or has none. */
export function configText(object: Bag): string {
  const { apiVersion, kind, spec } = asAttachmentDefinition(object);
  const { config } = spec;
  return kind === attachmentKind && isOfGroup(apiVersion, attachmentGroup) && typeof config === "string" ? config : "";
}

/** The plugins in a configuration, and the name of its network: that in the configuration, else the object's, as in Multus. */
export interface NetworkConfig {
  readonly network: string;
  readonly plugins: readonly Of<typeof asPlugin>[];
}

export function parseNetworkConfig(definition: Bag): Parsed<NetworkConfig> {
  const { value: config, issues } = parseJson(configText(definition), "config is");
  if (issues !== undefined) return { issues: issues.map((issue) => ({ ...issue, path: configPath })) };
  const { name, plugins } = asNetworkConfig(config);
  const network = typeof name === "string" && name !== "" ? name : nameOf(definition);
  const listed = Array.isArray(plugins) ? plugins : [config];
  return { value: { network, plugins: listed.map((one) => asPlugin(one)) } };
}

/** `namespace/name`. */
export function attachmentTitle(definition: Bag): string {
  return `${namespaceOf(definition)}/${nameOf(definition)}`;
}

/** Returns the key of a definition, `namespace/name`. */
export function keyOfDefinition(definition: string): string {
  return `${kindInGroup(attachmentKind, attachmentGroup)}/${definition.replace("/", ":")}`;
}
