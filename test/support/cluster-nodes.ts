import type { Cluster } from "./cluster.ts";

/** Nodes that are Ready. */
export async function addNodes(cluster: Cluster, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await createNode(cluster, name);
    await setReady(cluster, name, true);
  }
}

export async function createNode(cluster: Cluster, name: string, labels: object = {}): Promise<void> {
  const metadata = { name, labels: { "kubernetes.io/hostname": name, ...labels } };
  await cluster.kubectl(["create", "-f", "-"], JSON.stringify({ apiVersion: "v1", kind: "Node", metadata }));
}

export async function setReady(cluster: Cluster, name: string, is: boolean): Promise<void> {
  const status = { conditions: [{ type: "Ready", status: is ? "True" : "False", reason: "Test", message: "" }] };
  const patch = ["--subresource=status", "--type=merge", "-p", JSON.stringify({ status })];
  await cluster.kubectl(["patch", "node", name, ...patch]);
}
