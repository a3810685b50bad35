import type { Address, Family, Issue, Place, Use } from "../core/index.ts";

/** What a text shows of the addresses that nodes have. */
export interface Evidence {
  readonly uses: Use[];
  /**
   * The owners (`Node/<name>`) that it speaks about, and of which of their NICs (that are up) and families: what `uses` does not
   * show of these, they do not have. Only a NodeNetworkState tells that much, and only if it lists interfaces and its
   * handler could read them (it keeps the last state that it read, with condition Failing). Policies and CSV say what
   * a node has, never what it has no more.
   */
  readonly nodes: Map<string, Map<string, Set<Family>>>;
}

/** What has been found so far. */
export interface Findings extends Evidence {
  /** Addresses that a policy writes out and does not give: their NIC goes, or their family is off. */
  readonly idle: Set<Address>;
  readonly issues: Issue[];
  /** Was there anything that could have shown an address? */
  speaks: boolean;
}

export function emptyFindings(): Findings {
  return { uses: [], nodes: new Map(), idle: new Set(), issues: [], speaks: false };
}

/** An address that somebody has, at a place of a text. */
export function useOf(address: Address, owner: string | undefined, nic: string | undefined, at: Place): Use {
  return { address, ...(owner === undefined ? {} : { owner }), ...(nic === undefined ? {} : { interface: nic }), at };
}
