import { unwrap } from "../../../core/errors.ts";
import { emptySnapshot, plan } from "../../../core/index.ts";
import { infraClaims, poolsOf } from "../../../integrations/metal3/claims.ts";
import type { Cluster } from "../../../integrations/metal3/cluster.ts";
import type { Infra } from "../../../integrations/metal3/infra.ts";
import { infraObjects } from "../../../integrations/metal3/infra-objects.ts";
import { applyPlan } from "../../../state/apply.ts";
import { lineOf } from "../core/text.ts";

/** Every object of a configuration in a cluster, with what an empty record gives it; these lines are releasing there. */
export function objectsOfInfra(infra: Infra, cluster: Cluster, releasing: readonly string[] = []) {
  const planned = plan({ pools: poolsOf(infra), claims: infraClaims(infra), snapshot: emptySnapshot });
  const snapshot = applyPlan(emptySnapshot, planned) ?? emptySnapshot;
  const leaving = { ...snapshot, releasing: releasing.map(lineOf) };
  return unwrap(infraObjects({ ...infra, cluster }, { snapshot: leaving, set: "default" }));
}

/** A cluster of each mode and version. */
export const clusters = {
  hosts: { mode: "hosts", apiVersion: "v1beta2", clusterName: "blue" },
  machines: {
    mode: "machines",
    apiVersion: "v1beta2",
    clusterName: "blue",
    network: "network-data",
    image: { url: "http://image", checksum: "http://image.sha256" },
  },
  pools: { mode: "pools", clusterName: "blue" },
} as const satisfies Readonly<Record<Cluster["mode"], Cluster>>;
