import { type Allocation, formatAddress, formatOwner, type Pool, parseAddress } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { metadataOf, nameOf } from "../contract/object-metadata.ts";
import { nodeIPPoolOf, ownerOfClaim } from "./claim.ts";
import { asAddress } from "./objects.ts";

/**
 * Whether the controller adopts an IPAddress that another program made under the name of a claim: a backup, `clusterctl move`, a
 * person. An adopted one is as ours: owned by its claim and pool, protected, and deleted with its claim.
 *
 *  the IPAddress                    | the claim      | adopted
 *  ---------------------------------+----------------+-------------------------------------
 *  is for another claim             | any            | no
 *  is of no NodeIPPool              | any            | no
 *  is of any NodeIPPool             | being deleted  | yes: it goes with its claim
 *  is of another pool               | any other      | no
 *  is of its pool, with the address | any other      | yes
 *   that is recorded for the claim  |                |
 *  is of its pool, with another one | any other      | no: a machine may run with either
 */
export function isAdoptable(there: Bag, owner: string, wanted: Bag | undefined): boolean {
  if (wanted !== undefined) return whyNotAdopted(there, wanted) === undefined;
  return nodeIPPoolOf(there) !== undefined && ownerOfAddress(there) === owner;
}

/**
 * Returns why an IPAddress is not adopted for a claim, as the text after its name; undefined if it is. It takes the claim, or the
 * IPAddress that the controller would make; `line` is what the record has.
 */
export function whyNotAdopted(there: Bag, wanted: Bag, line?: Allocation): string | undefined {
  const other = whichOther(there, wanted);
  if (other !== undefined) return `is ${other}. Delete it, or rename the claim.`;
  const { address } = asAddress(there).spec;
  const has = parseAddress(`${address}`).value;
  const gets = line?.address ?? parseAddress(`${asAddress(wanted).spec.address}`).value;
  if (gets === undefined || has === gets) return undefined;
  return `has ${address}, but ${formatAddress(gets)} is recorded for the claim. If no machine uses ${address}, delete the IPAddress.`;
}

/**
 * Returns in what the IPAddress of a claim differs from its pool, with the next step; undefined if it does not. The spec of an IPAddress cannot be
 * changed, but an admission webhook may have changed it as it was created, and the controller does not replace what a machine may use.
 */
export function whyDiffers(there: Bag, pool: Pool): string | undefined {
  const { prefix, gateway } = asAddress(there).spec;
  const differsIn = (field: string, has: unknown, own: string | number) =>
    has === own ? [] : [`${field} ${has || "none"} instead of ${own || "none"}`];
  const differences = [
    ...differsIn("prefix", prefix ?? "", pool.prefix.length),
    ...differsIn("gateway", gateway ?? "", pool.gateway === undefined ? "" : formatAddress(pool.gateway)),
  ];
  if (differences.length === 0) return undefined;
  return `IPAddress ${nameOf(there)} differs from NodeIPPool ${pool.name}: ${differences.join(", ")}. If no machine uses it, delete it: the controller creates it again.`;
}

/** Returns the message of a claim without an address about the IPAddress of ours that it keeps: `clusterctl move` brought it, and its address was taken. */
export function keptMessage(there: Bag): string {
  const { address } = asAddress(there).spec;
  return `IPAddress ${nameOf(there)} has ${address}, which is not recorded for the claim. If no machine uses ${address}, delete the IPAddress.`;
}

/** In which way an IPAddress is not a claim's, and not of its pool. */
function whichOther(there: Bag, wanted: Bag): string | undefined {
  const { claimRef, poolRef } = asAddress(there).spec;
  const claim = claimRef.name;
  if (claim !== metadataOf(wanted).name) return `for IPAddressClaim ${claim}`;
  if (nodeIPPoolOf(there)?.name === nodeIPPoolOf(wanted)?.name) return undefined;
  return `of ${poolRef.kind} ${poolRef.name}`;
}

function ownerOfAddress(there: Bag): string {
  const { metadata, spec } = asAddress(there);
  return formatOwner(ownerOfClaim({ name: `${spec.claimRef.name}`, namespace: `${metadata.namespace}` }));
}
