import type { Issue, Pool } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { attachmentKind, attachmentTitle, parseNetworkConfig } from "../attachment-definition.ts";
import { boundPools, takesTold, whyUnbound } from "../bound-pools.ts";
import type { Facts } from "../facts.ts";

/** A network that takes its addresses from NodeIPPools. */
export interface BoundNetwork {
  /** The NetworkAttachmentDefinition, as `namespace/name`. */
  readonly title: string;
  readonly pools: readonly string[];
  /** Do its pods take the addresses that they are told (`ips`)? */
  readonly takesIps: boolean;
}

export function isBound(object: Bag): boolean {
  return object.kind === attachmentKind && boundPools(object) !== undefined;
}

/** A definition whose configuration cannot be read takes no addresses. */
export function readBound(object: Bag): BoundNetwork {
  const plugins = parseNetworkConfig(object).value?.plugins ?? [];
  return { title: attachmentTitle(object), pools: boundPools(object) ?? [], takesIps: takesTold(plugins) };
}

/** Its pools, one of each family; or why it gives no addresses. */
export function poolsOfBound({ title, pools: names, takesIps }: BoundNetwork, facts: Facts): readonly Pool[] | Issue {
  if (!takesIps)
    return {
      message: `${attachmentKind} ${title} takes no addresses`,
      hint: 'Give its plugin "capabilities": {"ips": true} and "ipam": {"type": "static"}.',
    };
  const why = whyUnbound(names, facts);
  if (why !== undefined) return { message: `${attachmentKind} ${title}: ${why.message}` };
  return names.flatMap((name) => facts.pools.get(name) ?? []);
}
