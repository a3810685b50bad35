import type { Address } from "./address.ts";
import { blockAt } from "./block.ts";
import { type Claim, claimKey, formatOwner, parseOwner } from "./claim.ts";
import type { Parsed } from "./errors.ts";

/** An address (or block, by its first address) of a pool that is kept for an owner (or one claim of it), or kept away from everybody. */
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

  private readonly blockLength: number;

  constructor(all: readonly Reservation[], blockLength: number) {
    this.all = all;
    this.blockLength = blockLength;
    this.byAddress = new Map(all.map((reservation) => [reservation.address, reservation]));
    for (const reservation of all) {
      const { owner, claim } = reservation;
      const holder = owner === undefined || claim === undefined ? owner : `${owner}/${claim}`;
      if (holder !== undefined && !this.byHolder.has(holder)) this.byHolder.set(holder, reservation);
    }
  }

  /** What an address, or the block that it is in, is kept for. */
  at(address: Address): Reservation | undefined {
    return this.all.length === 0 ? undefined : this.byAddress.get(blockAt(address, this.blockLength).address);
  }

  /** What is kept for a claim: under its own name, else for its owner. */
  for({ owner, name }: Claim): Reservation | undefined {
    if (this.all.length === 0) return undefined;
    return this.byHolder.get(claimKey(owner, name)) ?? this.byHolder.get(formatOwner(owner));
  }

  /** Returns whether an address is kept from this claim: for another claim, or from all. */
  keepsFrom({ owner, name }: Claim, address: Address): boolean {
    const kept = this.at(address);
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
