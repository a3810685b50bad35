import type { NamedPools } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { annotationsOf } from "../contract/object-metadata.ts";
import type { WatchedKind } from "../contract/watched-kind.ts";
import {
  attachmentGroup,
  attachmentKind,
  attachmentPlural,
  attachmentTitle,
  configText,
  parseNetworkConfig,
} from "../networks/attachment-definition.ts";
import { boundPools, pluginsTakeIps } from "../networks/bound-pools.ts";
import { asAttachmentDefinition } from "../networks/objects.ts";
import { namedBy } from "./named-pools.ts";

/** A network on which pods may have addresses of NodeIPPools. */
export interface BoundNetwork {
  /** The NetworkAttachmentDefinition, as `namespace/name`. */
  readonly title: string;
  readonly named: NamedPools;
  /** Its pods take the addresses in their Multus annotation (`ips`). */
  readonly takesIps: boolean;
}

/** NetworkAttachmentDefinitions, as the controller watches them. */
export const networksKind: WatchedKind = {
  apiVersion: `${attachmentGroup}/v1`,
  kind: attachmentKind,
  plural: attachmentPlural,
  keep: (object) => (isBound(object) ? { spec: { config: asAttachmentDefinition(object).spec.config } } : {}),
};

/** Returns whether a definition names pools, or its pods take the addresses in their Multus annotation. */
export function isBound(object: Bag): boolean {
  if (object.kind !== attachmentKind) return false;
  return boundPools(object) !== undefined || (configText(object).includes('"ips"') && takesIps(object));
}

/** Returns a network by its definition. One whose configuration cannot be read takes no addresses. */
export function readBound(object: Bag): BoundNetwork {
  return { title: attachmentTitle(object), named: namedBy(annotationsOf(object)), takesIps: takesIps(object) };
}

function takesIps(object: Bag): boolean {
  return pluginsTakeIps(parseNetworkConfig(object).value?.plugins ?? []);
}
