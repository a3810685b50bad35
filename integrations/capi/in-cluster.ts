import type { ClusterApiVersion } from "../contract/cluster-api.ts";
import type { ClusterIntegration } from "../contract/cluster-integration.ts";
import { readEach } from "../contract/read-each.ts";
import { addressKind, asksOurGroup, claimKind, ipamGroup, isAddressClaim, parseAddressClaim } from "./claim.ts";
import { type CapiModel, claimsForAddresses, renderAddresses, usesOfAddress } from "./model.ts";
import { capiInCluster } from "./recording.ts";

/** Cluster API: each IPAddressClaim on a NodeIPPool gets an IPAddress. Claims are made at run time, so it has a part in the cluster alone. */
export function capi(version: ClusterApiVersion): ClusterIntegration<CapiModel> {
  return {
    name: "capi",
    reads: [
      { group: ipamGroup, kind: claimKind, plural: "ipaddressclaims", owns: asksOurGroup, mark: /\bNodeIPPool\b/ },
    ],
    read: ({ owned }) => readEach(owned, parseAddressClaim),
    claims: claimsForAddresses,
    isClaim: isAddressClaim,
    render: (model, facts, holdings) => renderAddresses(model, facts, holdings, version),
    uses: [{ kind: addressKind, reader: () => usesOfAddress }],
    explain: { freeOnce: "no IPAddress has it (kubectl get ipaddresses.ipam.cluster.x-k8s.io -A)" },
    ...capiInCluster(version),
  };
}
