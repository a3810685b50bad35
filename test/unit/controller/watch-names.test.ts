import { expect, it } from "vitest";
import { kindsOf, mergedKinds } from "../../../controller/cache/kinds.ts";
import type { WorldKind } from "../../../controller/cache/world-kind.ts";
import { watchNames } from "../../../controller/run/watches.ts";
import { integrationsInCluster, reconcilersInCluster } from "../../../pipeline/integrations.ts";

it("each watch is named by its kind and what it selects, with every integration on", () => {
  const on = { clusterApi: "v1beta2", metal3: "hosts", nodeSlices: "kube-system" } as const;
  const options = { ...on, ipamClaims: true, vmClaims: true, vmAddresses: true, workloadAddresses: true };
  const kinds = [
    ...kindsOf(integrationsInCluster(options)),
    ...reconcilersInCluster(options).flatMap((one) => one.kinds.map((kind) => kind as WorldKind)),
  ];
  const names = mergedKinds(kinds).flatMap(watchNames);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => name.startsWith("ConfigMap"))).toEqual(
    expect.arrayContaining([expect.stringContaining("hosts/")]),
  );
  expect(names.filter((name) => / \d+$/.test(name))).toEqual([]);
});
