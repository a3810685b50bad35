import { claimKey, type Owner, type Parsed } from "../../core/index.ts";
import type { Bag } from "../../schema/objects.ts";
import { asAddressClaim } from "./objects.ts";

/** The group of Cluster API's contract for IPAM providers. */
export const ipamGroup = "ipam.cluster.x-k8s.io";
export const claimKind = "IPAddressClaim";
export const addressKind = "IPAddress";
const poolGroup = "nmstate.io";
const poolKind = "NodeIPPool";

/** An IPAddressClaim that asks a NodeIPPool for its address. */
export interface AddressClaim {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string | undefined;
  readonly labels: Bag;
  readonly pool: string;
}

/** Returns the poolRef of a claim, which is the same in an IPAddress. */
export function poolRefOf(pool: string): Bag {
  return { apiGroup: poolGroup, kind: poolKind, name: pool };
}

/** Returns whether a claim refers to a pool of our group: those of other groups are other providers'. Its kind may be misspelt. */
export function asksOurGroup(object: Bag): boolean {
  const { kind, apiVersion } = object;
  return (
    kind === claimKind &&
    `${apiVersion}`.startsWith(`${ipamGroup}/`) &&
    asAddressClaim(object).spec.poolRef.apiGroup === poolGroup
  );
}

/** Returns the NodeIPPool in the poolRef of a claim or an IPAddress; undefined if it refers to no NodeIPPool. */
export function nodeIPPoolOf(object: Bag): { readonly name: unknown } | undefined {
  const { apiGroup, kind, name } = asAddressClaim(object).spec.poolRef;
  return apiGroup === poolGroup && kind === poolKind ? { name } : undefined;
}

export function parseAddressClaim(object: Bag): Parsed<AddressClaim> {
  const { metadata, spec } = asAddressClaim(object);
  const { name, namespace = "default", uid, labels } = metadata;
  const kind = `${spec.poolRef.kind}`;
  if (kind !== poolKind) {
    const message = `there is no kind ${kind} in ${poolGroup}: make the claim again with poolRef.kind ${poolKind}`;
    return { issues: [{ message, path: ["spec", "poolRef", "kind"] }] };
  }
  const pool = nodeIPPoolOf(object)?.name;
  if (typeof pool !== "string")
    return { issues: [{ message: "poolRef needs the name of a NodeIPPool", path: ["spec", "poolRef", "name"] }] };
  const known = typeof uid === "string" ? uid : undefined;
  return { value: { name: `${name}`, namespace: `${namespace}`, uid: known, labels, pool } };
}

/** Returns the owner for a claim: the claim itself, so that a claim made again under its name gets the same address. */
export function ownerOfClaim({ name, namespace }: Pick<AddressClaim, "name" | "namespace">): Owner {
  return { kind: claimKind, namespace, name };
}

/** The name, in the record, of the one address of an IPAddressClaim. */
export const addressClaimName = "address";

export function keyOfClaim(claim: AddressClaim): string {
  return claimKey(ownerOfClaim(claim), addressClaimName);
}

/** Returns whether a key in the record is that of an IPAddressClaim. */
export function isAddressClaim(claim: string): boolean {
  return claim.startsWith(`${claimKind}/`);
}
