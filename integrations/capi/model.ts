import { type Claim, IpamError, isOfAddresses, isPlanned, parseAddress } from "../../core/index.ts";
import type { Findings } from "../../schema/findings.ts";
import { didYouMean } from "../../schema/nearest.ts";
import { issueIn, type LocatedObject } from "../../schema/objects.ts";
import type { ClusterApiVersion } from "../contract/cluster-api.ts";
import type { Facts, Holdings, Rendered, RenderedObject } from "../contract/integration.ts";
import type { ReadObject } from "../contract/read-each.ts";
import { addressOf } from "./address.ts";
import {
  type AddressClaim,
  addressClaimName,
  addressKind,
  claimKind,
  ipamGroup,
  keyOfClaim,
  nodeIPPoolOf,
  ownerOfClaim,
} from "./claim.ts";
import { asAddress } from "./objects.ts";

/** The claims on our pools, each with the object that it was read from. */
export type CapiModel = readonly ReadObject<AddressClaim>[];

/** Throws IpamError `invalid` for a pool that is not there, or that gives no single addresses to the cluster. */
export function claimsForAddresses(model: CapiModel, facts: Facts): Claim[] {
  const issues = model.flatMap(({ value: claim, source }) => {
    const why = whyNotFrom(claim.pool, facts);
    return why === undefined ? [] : [issueIn(source, { message: why, path: ["spec", "poolRef", "name"] })];
  });
  if (issues.length > 0) throw new IpamError("invalid", issues);
  return model.map(({ value: claim }) => ({ owner: ownerOfClaim(claim), name: addressClaimName, pool: claim.pool }));
}

function whyNotFrom(name: string, { pools, poolUids = new Map() }: Facts): string | undefined {
  if (!poolUids.has(name))
    return `there is no NodeIPPool ${name} to take addresses from${didYouMean(name, poolUids.keys())}`;
  const pool = pools.get(name);
  if (pool === undefined) return `NodeIPPool ${name} gives nothing as it stands: its conditions say why`;
  if (!isOfAddresses(pool)) return `NodeIPPool ${name} gives blocks of /${pool.blockLength}, not addresses`;
  return isPlanned(pool) ? `NodeIPPool ${name} has authority Plan: nothing of it is given in the cluster` : undefined;
}

/** Renders one IPAddress for each claim with a recorded address. */
export function renderAddresses(
  model: CapiModel,
  facts: Facts,
  { snapshot }: Holdings,
  version: ClusterApiVersion,
): Rendered {
  const lines = new Map(snapshot.allocations.map((line) => [line.claim, line]));
  const objectsOf = (claim: AddressClaim): RenderedObject[] => {
    const line = lines.get(keyOfClaim(claim));
    const pool = facts.pools.get(claim.pool);
    if (line === undefined || pool === undefined) return [];
    return [addressOf(claim, line, pool, facts.poolUids?.get(pool.name), version)];
  };
  const instead = new Map(model.map(({ value, source }) => [source, objectsOf(value)]));
  return { instead, added: [], left: [] };
}

/** Adds each IPAddress as its claim's, whichever program made it, with its pool if that is a NodeIPPool. */
export function usesOfAddress({ object, at }: LocatedObject, { uses }: Findings): void {
  const { metadata, spec } = asAddress(object);
  const { name, namespace } = metadata;
  const { address, claimRef } = spec;
  if (object.kind !== addressKind || !`${object.apiVersion}`.startsWith(`${ipamGroup}/`)) return;
  const { value } = parseAddress(`${address}`);
  if (value === undefined) return;
  const owner = `${claimKind}/${namespace ?? "default"}:${claimRef.name ?? name}`;
  const pool = nodeIPPoolOf(object)?.name;
  const named = typeof pool === "string" ? { pool } : {};
  uses.push({ address: value, owner, ...named, at: at(["spec", "address"], `${address}`) });
}
