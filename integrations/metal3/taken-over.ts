import type { Use } from "../../core/index.ts";
import { emptyFindings } from "../../schema/findings.ts";
import { type Bag, placeless } from "../../schema/objects.ts";
import { ownerIn } from "./object-parts.ts";
import { usesOfSecret } from "./uses.ts";

/** Returns the addresses in a Secret; undefined if it cannot be read. */
export function usesInSecret(secret: Bag): readonly Use[] | undefined {
  const found = emptyFindings();
  usesOfSecret(placeless(secret), found);
  return found.speaks && found.issues.length + found.unreadable.length === 0 ? found.uses : undefined;
}

/**
 * Returns whether the controller takes over a Secret that another program made for a host. The host may run with the addresses in it,
 * even if the Secret changes later.
 *
 *  its label names  | its network data                             | it is
 *  -----------------+----------------------------------------------+------------
 *  another owner    | any                                          | left alone
 *  this host        | cannot be read                               | left alone
 *  this host        | has another address of a network than wanted | left alone
 *  this host        | has what is wanted, or a part of that        | taken over
 */
export function isTakenOver(secret: Bag, owner: string, wanted: Bag | undefined): boolean {
  const [has, gets] = [usesInSecret(secret), wanted && usesInSecret(wanted)];
  if (ownerIn(secret) !== owner || has === undefined || gets === undefined) return false;
  const byNetwork = new Map(gets.map(({ pool, address }) => [pool, address]));
  return has.every(({ pool, address }) => (byNetwork.get(pool) ?? address) === address);
}

/** Returns the message about a Secret that is for a host, and is left alone. */
export function whyNotTakenOver(secret: Bag): string | undefined {
  if (ownerIn(secret) === undefined) return undefined;
  return "says otherwise than the record, and stays as it is. Find out which addresses are in use, and delete what is wrong.";
}
