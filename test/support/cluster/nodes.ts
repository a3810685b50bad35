import { findAccess, type KubeObject, type Objects, objectsOf } from "../../../kube/index.ts";
import type { Cluster } from "./cluster.ts";

export const nodes = { apiVersion: "v1", plural: "nodes" };

/** Nodes that are Ready. */
export async function addNodes(cluster: Cluster, ...names: readonly string[]): Promise<void> {
  const kube = objectsOf(findAccess({ kubeconfig: cluster.kubeconfig }));
  for (const name of names) {
    await createNode(kube, name);
    await setReady(kube, name, true);
  }
  kube.close();
}

export async function createNode(kube: Objects, name: string, labels: Record<string, string> = {}): Promise<void> {
  const metadata = { name, labels: { "kubernetes.io/hostname": name, ...labels } };
  await kube.create<KubeObject>(nodes, { apiVersion: "v1", kind: "Node", metadata });
}

export async function setReady(kube: Objects, name: string, is: boolean): Promise<void> {
  const status = { conditions: [{ type: "Ready", status: is ? "True" : "False", reason: "Test", message: "" }] };
  await kube.patch(nodes, name, undefined, { status }, { type: "merge", subresource: "status" });
}
