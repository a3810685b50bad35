import type { Address } from "./address.ts";
import type { Place } from "./errors.ts";

/** An address, or a block, that something out there uses: a rendered manifest, a node's own report. */
export interface Use {
  readonly address: Address;
  /** The prefix length of a block, where it is one. */
  readonly length?: number;
  /** The owner that configures it, as `formatOwner` writes it; absent where a text only mentions it. */
  readonly owner?: string;
  readonly interface?: string;
  /** The name of the claim that it is, where that is known: an owner may be several pods. */
  readonly claim?: string;
  /** A line of a list says it, of what its header calls so. There, a network of a VM is what the VM calls it. */
  readonly listed?: "node" | "VM";
  /** The pool that it is of, where a text knows pools. */
  readonly pool?: string;
  readonly prefixLength?: number;
  /** It is in use, but nobody's for good: DHCP or SLAAC gave it, for a time, or only a copy of a report shows it. */
  readonly isTemporary?: boolean;
  /** DHCP or SLAAC is on for its NIC, and the report does not tell which addresses they gave. */
  readonly mayBeTemporary?: boolean;
  readonly at: Place;
  /** What to do about it where the record says otherwise. */
  readonly hint?: string;
}

/** `Node/a eth1`: who has it, and on which NIC. */
export function describeUse(use: Use): string {
  return use.interface === undefined ? `${use.owner}` : `${use.owner} ${use.interface}`;
}
