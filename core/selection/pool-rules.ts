import type { PoolLabelSelector } from "./pool-selector.ts";

/** Whom a pool serves, and how, as a NodeIPPool says it; what it does not say it does not ask for. */
export interface PoolRules {
  /** It gives nothing new, but what is reserved or wanted by address. */
  readonly disable?: boolean;
  /** It serves who names no pool, where neither the namespace nor the network does. */
  readonly default?: boolean;
  /** What pods with its addresses look for before they start. */
  readonly detect?: readonly ("Conflict" | "Gateway")[];
  /** Nodes that can reach it. `nodeAffinity` does not count beside it. */
  readonly nodeName?: readonly string[];
  readonly nodeAffinity?: PoolLabelSelector;
  /** `namespaceAffinity` does not count beside it. */
  readonly namespaceName?: readonly string[];
  readonly namespaceAffinity?: PoolLabelSelector;
  /** By the labels of the pod. */
  readonly podAffinity?: PoolLabelSelector;
  /** NetworkAttachmentDefinitions as `namespace/name`. */
  readonly multusName?: readonly string[];
}

/** What of the spec of a pool are its rules. */
export function rulesIn({
  disable,
  default: isDefault,
  detect,
  nodeName,
  nodeAffinity,
  namespaceName,
  namespaceAffinity,
  podAffinity,
  multusName,
}: PoolRules): PoolRules {
  const all = {
    disable,
    default: isDefault,
    detect,
    nodeName,
    nodeAffinity,
    namespaceName,
    namespaceAffinity,
    podAffinity,
    multusName,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
