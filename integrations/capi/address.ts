import { type Allocation, formatAddress, type Pool } from "../../core/index.ts";
import { type ClusterApiVersion, clusterNameLabel } from "../contract/cluster-api.ts";
import type { RenderedObject } from "../contract/integration.ts";
import { type AddressClaim, addressKind, claimKind, ipamGroup, poolRefOf } from "./claim.ts";

/** Keeps an IPAddress from being deleted by mistake. */
export const protection = "nmstate.io/protect-address";

/**
 * The IPAddress of a claim, as Cluster API's contract wants it: of the claim's name, owned by the claim and by the pool. Of the
 * claim's labels it has the one that names the cluster: others come from programs that manage the claim.
 */
export function addressOf(
  claim: AddressClaim,
  { address }: Allocation,
  pool: Pool,
  poolUid: string | undefined,
  version: ClusterApiVersion,
): RenderedObject {
  const { name, namespace, uid } = claim;
  const cluster = claim.labels[clusterNameLabel];
  const labels = cluster === undefined ? {} : { [clusterNameLabel]: cluster };
  const { prefix, gateway } = pool;
  const owners = [
    ...(uid === undefined ? [] : [reference(`${ipamGroup}/${version}`, claimKind, name, uid, true)]),
    ...(poolUid === undefined ? [] : [reference("nmstate.io/v1", "NodeIPPool", pool.name, poolUid, false)]),
  ];
  return {
    apiVersion: `${ipamGroup}/${version}`,
    kind: addressKind,
    metadata: { name, namespace, labels, ownerReferences: owners, finalizers: [protection] },
    spec: {
      claimRef: { name },
      poolRef: poolRefOf(pool.name),
      address: formatAddress(address),
      prefix: prefix.length,
      ...(gateway === undefined ? {} : { gateway: formatAddress(gateway) }),
    },
  };
}

function reference(apiVersion: string, kind: string, name: string, uid: string, controller: boolean) {
  return { apiVersion, kind, name, uid, controller, blockOwnerDeletion: true };
}
