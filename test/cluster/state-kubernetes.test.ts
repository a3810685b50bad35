import { afterAll, beforeAll } from "vitest";
import { findAccess, objectsOf } from "../../kube/index.ts";
import { kubernetes } from "../../state/kubernetes/backend.ts";
import { contract } from "../contract/state-backend.ts";
import { type Cluster, startCluster } from "../support/cluster/cluster.ts";

let cluster: Cluster;
let next = 0;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster?.stop());

contract("kubernetes", () => {
  const namespace = `record-${next++}`;
  const objects = objectsOf(findAccess({ kubeconfig: cluster.kubeconfig }));
  const made = objects.create(
    { apiVersion: "v1", plural: "namespaces" },
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
  );
  const backend = kubernetes(objects, namespace);
  return {
    open: () => ({
      name: backend.name,
      read: () => made.then(() => backend.read()),
      commit: (plan) => made.then(() => backend.commit(plan)),
    }),
    stamp: async () => {
      await made;
      const maps = await objects.list({ apiVersion: "v1", plural: "configmaps" }, { namespace });
      return maps.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).join();
    },
  };
});
