import { type Address, type Allocation, ownerOfKey } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { metadataOf } from "../contract/object-metadata.ts";
import { hostKind, hostState, mayUse } from "./bare-metal-host.ts";
import { nameOfObjects } from "./infra.ts";
import { ownerIn } from "./object-parts.ts";
import { usesInSecret } from "./taken-over.ts";
import { networkDataKind } from "./uses.ts";

/**
 * The releasing addresses of hosts that are known to be on no host any more.
 *
 *  a Secret of the host, or of its name | a host may use its Secret (`mayUse`) | the address is
 *  -------------------------------------+--------------------------------------+---------------
 *  has the address, or cannot be read   | any                                  | not free
 *  is not there, or has it no more      | yes                                  | not free
 *  is not there, or has it no more      | no                                   | free
 */
export function goneFromHosts(objects: readonly Bag[], _: unknown, releasing: readonly Allocation[]): Allocation[] {
  const hosts = objects.filter(({ kind }) => kind === hostKind).map(hostState);
  const secrets = objects.filter(({ kind }) => kind === networkDataKind).map(secretState);
  return releasing.filter(({ claim, address }) => {
    const name = nameOfObjects(claim);
    const own = secrets.filter((secret) => secret.name === name || secret.owner === ownerOfKey(claim));
    if (own.some(({ addresses }) => addresses?.has(address) ?? true)) return false;
    const isThere = own.some((secret) => secret.name === name);
    return !hosts.some((host) => mayUse(host, name, isThere));
  });
}

function secretState(secret: Bag) {
  const uses = usesInSecret(secret);
  const addresses: ReadonlySet<Address> | undefined = uses && new Set(uses.map(({ address }) => address));
  return { name: metadataOf(secret).name, owner: ownerIn(secret), addresses };
}
