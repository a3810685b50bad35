import type { Address } from "./address.ts";
import { type Claim, claimKey, formatOwner, parseOwner } from "./claim.ts";
import type { Parsed } from "./errors.ts";

/** An address of a pool that is kept for an owner (or one claim of it), or kept away from everybody. */
export interface Reservation {
  readonly address: Address;
  readonly owner?: string;
  readonly claim?: string;
  /** For people. */
  readonly description?: string;
}

/** The reservations of a pool, no two of one address. Lookups cost the same, be there one or thousands. */
export class Reservations {
  readonly all: readonly Reservation[];
  private readonly byAddress: ReadonlyMap<Address, Reservation>;
  /** The first one for each owner, and for each claim that one names. */
  private readonly byHolder = new Map<string, Reservation>();

  constructor(all: readonly Reservation[]) {
    this.all = all;
    this.byAddress = new Map(all.map((reservation) => [reservation.address, reservation]));
    for (const reservation of all) {
      const { owner, claim } = reservation;
      const holder = owner === undefined || claim === undefined ? owner : `${owner}/${claim}`;
      if (holder !== undefined && !this.byHolder.has(holder)) this.byHolder.set(holder, reservation);
    }
  }

  at(address: Address): Reservation | undefined {
    return this.byAddress.get(address);
  }

  /** What is kept for a claim: under its own name, else for its owner. */
  for({ owner, name }: Claim): Reservation | undefined {
    if (this.all.length === 0) return undefined;
    return this.byHolder.get(claimKey(owner, name)) ?? this.byHolder.get(formatOwner(owner));
  }

  /** Is an address kept from this claim, be it for another one or from everybody? */
  keepsFrom({ owner, name }: Claim, address: Address): boolean {
    const kept = this.byAddress.get(address);
    return kept !== undefined && (kept.owner !== formatOwner(owner) || (kept.claim ?? name) !== name);
  }
}

/** Reads the owner of a reservation. What kubectl prints as the name of a node is none. */
export function parseReserver(text: string): Parsed<unknown> {
  const [, node] = /^nodes?\/([^/]+)/i.exec(text) ?? [];
  if (node === undefined || text.startsWith("Node/")) return parseOwner(text);
  return {
    issues: [
      { message: `${JSON.stringify(text.slice(0, 80))} is not an owner`, hint: `Write Node/${node.slice(0, 80)}.` },
    ],
  };
}
