import type { Parsed } from "../../core/index.ts";
import { asBag, asList, type Bag } from "../../schema/objects.ts";
import { parseSliceConfig, type SliceConfig } from "./slice-config.ts";

/** A NetworkAttachmentDefinition whose pods get addresses of the slice of their node. */
export interface Attachment {
  /** `namespace/name`: what it is sorted by. */
  readonly title: string;
  /** What the NodeSlicePool of its network is called. */
  readonly network: string;
  readonly config: SliceConfig;
}

export const attachmentGroup = "k8s.cni.cncf.io";
export const attachmentKind = "NetworkAttachmentDefinition";

/** Where it has its configuration of CNI, as JSON. */
export const configPath = ["spec", "config"];

/** Is it a version of this group? */
export function isOfGroup(apiVersion: unknown, group: string): boolean {
  return typeof apiVersion === "string" && apiVersion.startsWith(`${group}/`);
}

/** Does it have the key in its text? What it says by it, `parseAttachment` reads. */
export function namesSlices({ apiVersion, kind, spec }: Bag): boolean {
  const config = asBag(spec)?.config;
  const isAttachment = kind === attachmentKind && isOfGroup(apiVersion, attachmentGroup);
  return isAttachment && typeof config === "string" && config.includes('"node_slice_size"');
}

/**
 * The network that one is of, and its slices; undefined where it has none. In a list of plugins, the first one counts whose
 * IPAM is whereabouts. A network is called by its `network_name`, else as its configuration, else as the object, as Multus does it.
 */
export function parseAttachment({ metadata, spec }: Bag): Parsed<Attachment | undefined> {
  const { name, namespace = "default" } = asBag(metadata) ?? {};
  const { value: config, issues } = parsedJson(asBag(spec)?.config);
  if (issues !== undefined) return { issues };
  const ipam = ipamOf(config);
  const slices = ipam === undefined ? { value: undefined } : parseSliceConfig(ipam);
  if (slices.issues !== undefined) return { issues: slices.issues.map((issue) => ({ ...issue, path: configPath })) };
  if (slices.value === undefined) return { value: undefined };
  const named = typeof config.name === "string" && config.name !== "" ? config.name : `${name}`;
  const network = slices.value.scope ?? named;
  return { value: { title: `${namespace}/${name}`, network, config: slices.value } };
}

function parsedJson(text: unknown): Parsed<Bag> {
  try {
    return { value: asBag(JSON.parse(`${text}`)) ?? {} };
  } catch (error) {
    return { issues: [{ message: `config is no JSON: ${(error as Error).message}`, path: configPath }] };
  }
}

function ipamOf(config: Bag): Bag | undefined {
  const plugins = "plugins" in config ? asList(config.plugins).map(asBag) : [config];
  return plugins.map((plugin) => asBag(plugin?.ipam)).find((ipam) => ipam?.type === "whereabouts");
}
