import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Cluster, freePort } from "../cluster/cluster.ts";
import { startDaemon } from "../cluster/daemon.ts";
import { installAllOfKubevirt } from "../cluster/kinds.ts";
import { tool } from "../tools/tools.ts";
import { until } from "../until.ts";

/** The nodes that VMs run on. */
export const vmNodes = ["node1", "node2"];

const object = (apiVersion: string, kind: string, name: string, more: object = {}) => ({
  apiVersion,
  kind,
  metadata: { name },
  ...more,
});

/** What virt-api's webhook does to an instance that is created: KubeVirt keeps it until its pods have ended. */
const finalizerOfInstances = [
  object("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", "virt-api", {
    spec: {
      failurePolicy: "Fail",
      reinvocationPolicy: "Never",
      matchConstraints: {
        resourceRules: [
          {
            ...{ apiGroups: ["kubevirt.io"], apiVersions: ["v1"] },
            ...{ operations: ["CREATE"], resources: ["virtualmachineinstances"] },
          },
        ],
      },
      mutations: [
        {
          patchType: "ApplyConfiguration",
          applyConfiguration: {
            expression: `Object{metadata: Object.metadata{finalizers: ["foregroundDeleteVirtualMachine"]}}`,
          },
        },
      ],
    },
  }),
  object("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding", "virt-api", {
    spec: { policyName: "virt-api" },
  }),
];

const labels = { "kubevirt.io/schedulable": "true" };

/** Starts the real virt-controller on a cluster, with the kinds and the objects that it needs; it ends with the test. */
export async function startVirtController(cluster: Cluster): Promise<{ stop(): Promise<void> }> {
  await installAllOfKubevirt(cluster);
  const objects = [
    object("v1", "Namespace", "kubevirt"),
    {
      ...object("kubevirt.io/v1", "KubeVirt", "kubevirt"),
      metadata: { name: "kubevirt", namespace: "kubevirt" },
      spec: {},
    },
    ...finalizerOfInstances,
    ...vmNodes.map((name) => ({ ...object("v1", "Node", name), metadata: { name, labels } })),
  ];
  for (const one of objects) await cluster.kubectl(["create", "-f", "-"], JSON.stringify(one));
  const port = await freePort();
  // It reads certificates again whenever anything changes in their folder.
  const folder = join(cluster.folder, "virt-controller");
  mkdirSync(folder);
  const { certificate, key } = cluster.certificates.server;
  copyFileSync(certificate, join(folder, "tls.crt"));
  copyFileSync(key, join(folder, "tls.key"));
  const args = [
    `--kubeconfig=${cluster.kubeconfig}`,
    "--listen=127.0.0.1",
    `--port=${port}`,
    `--prom-cert-file=${join(folder, "tls.crt")}`,
    `--prom-key-file=${join(folder, "tls.key")}`,
    "--launcher-image=example.com/virt-launcher",
  ];
  const daemon = await startDaemon(await tool("virt-controller"), args, join(cluster.folder, "virt-controller.log"));
  const isLeader = async () => {
    const lease = await cluster
      .kubectl(["get", "lease", "virt-controller", "-n", "kubevirt", "-o", "name"])
      .catch(() => "");
    return lease !== "";
  };
  await until(isLeader, "virt-controller leads");
  return daemon;
}
