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

/** Where a claim gets its address from, as both kinds say it. */
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

/** What either kind says by poolRef of a NodeIPPool: its name. */
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

/** The claim is its own owner: who comes back under its name is the same one, and gets the same address. */
export function ownerOfClaim({ name, namespace }: Pick<AddressClaim, "name" | "namespace">): Owner {
  return { kind: claimKind, namespace, name };
}

/** An IPAddressClaim is for one address, which goes by this name. */
export const addressClaimName = "address";

export function keyOfClaim(claim: AddressClaim): string {
  return claimKey(ownerOfClaim(claim), addressClaimName);
}

/** Is a claim, by its key in the record, one of these? */
export function isAddressClaim(claim: string): boolean {
  return claim.startsWith(`${claimKind}/`);
}
