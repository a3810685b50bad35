import type { Parsed } from "../../core/index.ts";
import { type LabelSelector, parseLabelSelector } from "../../schema/label-selector.ts";
import { ownPrefix } from "../../schema/node.ts";
import type { Bag } from "../../schema/objects.ts";
import { raw } from "../../schema/shape.ts";
import { annotationsOf } from "../contract/object-metadata.ts";
import { attachmentTitle, configPath, configText, parseNetworkConfig } from "../networks/attachment-definition.ts";
import { parseSliceConfig, type SliceConfig } from "./slice-config.ts";

/** A NetworkAttachmentDefinition whose pods get addresses of the slice of their node. */
export interface Attachment {
  /** `namespace/name`: what it is sorted by. */
  readonly title: string;
  /** What the NodeSlicePool of its network is called. */
  readonly network: string;
  readonly config: SliceConfig;
  /** The nodes that have a slice. */
  readonly selector: LabelSelector;
}

/** On a definition: selects by labels the nodes that have a slice; without it, all have one. */
export const selectorAnnotation = `${ownPrefix}node-selector`;
export const selectorPath = ["metadata", "annotations", selectorAnnotation];

/** Returns whether a definition has the key in its text. `parseAttachment` reads the value. */
export function namesSlices(object: Bag): boolean {
  return configText(object).includes('"node_slice_size"');
}

/**
 * The network that one is of, and its slices; undefined where it has none. In a list of plugins, the first one counts whose
 * IPAM is whereabouts. A network with a `network_name` is called by it.
 */
export function parseAttachment(object: Bag): Parsed<Attachment | undefined> {
  const { value: config, issues } = parseNetworkConfig(object);
  if (issues !== undefined) return { issues };
  const plugin = config.plugins.find(({ ipam }) => ipam.type === "whereabouts");
  const slices = plugin === undefined ? { value: undefined } : parseSliceConfig(raw(plugin).ipam);
  if (slices.issues !== undefined) return { issues: slices.issues.map((issue) => ({ ...issue, path: configPath })) };
  if (slices.value === undefined) return { value: undefined };
  const selector = parseLabelSelector(annotationsOf(object)[selectorAnnotation]);
  if (selector.issues !== undefined)
    return {
      issues: selector.issues.map(({ message, ...issue }) => ({
        ...issue,
        message: `${selectorAnnotation}: ${message}`,
        path: selectorPath,
      })),
    };
  const network = slices.value.scope ?? config.network;
  return { value: { title: attachmentTitle(object), network, config: slices.value, selector: selector.value } };
}
