import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "yaml";
import { findAccess, type KubeObject, type Objects, objectsOf } from "../../../kube/index.ts";
import { type Bag, conditionOf } from "../../../schema/objects.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { goModule } from "../tools/go-module.ts";
import { tool } from "../tools/tools.ts";
import { until } from "../until.ts";

const crds = { apiVersion: "apiextensions.k8s.io/v1", plural: "customresourcedefinitions" };
const clusters = { apiVersion: "cluster.x-k8s.io/v1beta2", plural: "clusters" };

/** Installs the kinds of Cluster API of clusterctl's version, with the label that `clusterctl init` gives them. */
export async function installForClusterctl(cluster: Cluster): Promise<void> {
  const folder = join(await goModule("sigs.k8s.io/cluster-api", "cluster-api"), "config/crd/bases");
  const kube = objectsOf(findAccess({ kubeconfig: cluster.kubeconfig }));
  for (const file of readdirSync(folder)) {
    const crd = parse(readFileSync(join(folder, file), "utf8"));
    crd.metadata.labels = { ...crd.metadata.labels, "clusterctl.cluster.x-k8s.io": "" };
    await kube.apply(crds, crd, { manager: "clusterctl", force: true });
  }
  await until(
    () =>
      kube.list(clusters).then(
        () => true,
        () => false,
      ),
    "the kinds of Cluster API are served",
  );
  kube.close();
}

/** Creates a Cluster that clusterctl accepts to move: its providers say that it is there. */
export async function createCluster(kube: Objects, name: string, namespace: string): Promise<void> {
  const spec = { clusterNetwork: { services: { cidrBlocks: ["10.96.0.0/12"] } } };
  await kube.create(clusters, {
    apiVersion: clusters.apiVersion,
    kind: "Cluster",
    metadata: { name, namespace },
    spec,
  } as KubeObject);
  await sayProvisioned(kube, name, namespace);
}

/**
 * Says in the status of a Cluster, as its providers do, that it is provisioned. A move drops the status.
 * Returns once the core manager keeps it: a reconcile that read the Cluster before writes the condition away again.
 */
export async function sayProvisioned(kube: Objects, name: string, namespace: string): Promise<void> {
  const condition = {
    ...{ type: "ControlPlaneInitialized", status: "True", reason: "Initialized", message: "" },
    lastTransitionTime: "2026-01-01T00:00:00Z",
  };
  const initialization = { infrastructureProvisioned: true, controlPlaneInitialized: true };
  let kept = 0;
  await until(async () => {
    const conditions = (await kube.get<KubeObject & Bag>(clusters, name, namespace))?.status as Bag | undefined;
    const reconciled = conditionOf(conditions?.conditions, "Available") !== undefined;
    const isSaid = conditionOf(conditions?.conditions, condition.type)?.status === "True";
    kept = isSaid && reconciled ? kept + 1 : 0;
    const status: Bag = { initialization, conditions: [condition] };
    if (!isSaid) await kube.patch(clusters, name, namespace, { status }, { type: "merge", subresource: "status" });
    return kept > 5;
  }, `Cluster ${name} is provisioned`);
}

/** Runs the real `clusterctl move` for a namespace. Returns what it prints. */
export async function move(from: Cluster, to: Cluster, namespace: string): Promise<string> {
  const clusterctl = await tool("clusterctl");
  const args = [
    "move",
    "--kubeconfig",
    from.kubeconfig,
    "--to-kubeconfig",
    to.kubeconfig,
    "--namespace",
    namespace,
    "-v",
    "5",
  ];
  const env = { ...process.env, XDG_CONFIG_HOME: from.folder, CLUSTERCTL_DISABLE_VERSIONCHECK: "true" };
  const { stdout, stderr } = await promisify(execFile)(clusterctl, args, { env, timeout: 180_000 });
  return stdout + stderr;
}
