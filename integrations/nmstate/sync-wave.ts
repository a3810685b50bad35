import type { Address, Pool } from "../../core/index.ts";
import { annotationsOf } from "../contract/object-metadata.ts";
import type { Policy, PolicyObject } from "./policy.ts";

/*
 * Argo CD applies the objects of one sync wave, and the next ones when those are healthy. A node's wave follows from its
 * address alone, so that it never changes when other nodes come and go.
 */

/** More than Argo CD would ever walk through; addresses of IPv6 pools can be that far apart. */
const waves = 1_000_000n;

/** One node's policy, in the wave of the address that it has by its first capture. */
export function inItsWave(
  object: PolicyObject,
  { nodesPerSyncWave, captures }: Policy,
  addresses: ReadonlyMap<string, { readonly address: Address; readonly pool: Pool }>,
): PolicyObject {
  const [capture = ""] = [...captures.keys()].sort();
  const first = addresses.get(capture);
  if (nodesPerSyncWave === undefined || first === undefined) return object;
  const offset = first.address - first.pool.prefix.first;
  return inWave(object, 1n + ((offset / BigInt(nodesPerSyncWave)) % waves));
}

/** Returns the parked policy in the wave after all of these: the controller reports its health. */
export function inLastWave(object: PolicyObject, { nodesPerSyncWave }: Policy): PolicyObject {
  return nodesPerSyncWave === undefined ? object : inWave(object, waves + 1n);
}

function inWave(object: PolicyObject, wave: bigint): PolicyObject {
  const annotations = {
    ...annotationsOf(object),
    "argocd.argoproj.io/sync-wave": `${wave}`,
  };
  return { ...object, metadata: { ...object.metadata, annotations } };
}
