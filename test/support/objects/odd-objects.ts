import type { Bag } from "../../../schema/objects.ts";
import { instanceOf, launcherOf } from "../real/virt-controller.ts";
import { resources } from "../sim/every-system.ts";
import { withMetadata } from "./bad-object.ts";
import { policy, pool } from "./controller-objects.ts";
import { claim } from "./ipam-claims.ts";
import { macvlanNetwork, ovnNetwork, vm } from "./vm-objects.ts";
import { attachment } from "./whereabouts-objects.ts";
import { gate, singlePod, workload } from "./workload-objects.ts";

type Kind = keyof typeof resources;

function made(kind: Kind, name: string, namespace: string | undefined, content: Bag, metadata: Bag = {}): Bag {
  const { apiVersion } = resources[kind];
  return { apiVersion, kind, metadata: { name, ...(namespace && { namespace }), ...metadata }, ...content };
}

function marked(object: Bag, metadata: Bag, status?: Bag): Bag {
  return { ...withMetadata(object, metadata), ...(status && { status }) };
}

const poolRef = { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "machines" };
const text = "networks: [{id: a, type: ipv4, ip_address: 10.0.8.99, netmask: 255.255.255.0}]";
const machine = vm("odd", { red: "red" });

/** Objects of all kinds that the controller watches, with all that it reads of them: what one is, once a field has another shape, is odd. */
export const oddObjects: readonly Bag[] = [
  marked(
    pool("odd", 90, 9),
    { annotations: { "nodeippool.nmstate.io/reset": "", "nodeippool.nmstate.io/conflicts": "{}" }, labels: { a: "b" } },
    { conditions: [{ type: "Available", status: "True", reason: "a", message: "b" }], "allocated-offsets": [1] },
  ),
  marked(policy("odd", "nodes", "eth94"), {}, { conditions: [{ type: "Available", status: "True", reason: "a" }] }),
  marked(
    claim("odd.red"),
    {
      annotations: { "nodeippool.nmstate.io/addresses": "10.3.0.177/20" },
      ownerReferences: [{ apiVersion: "kubevirt.io/v1", kind: "VirtualMachine", name: "odd", uid: "0" }],
    },
    { ips: ["10.3.0.178/20"], conditions: [{ type: "IPsAllocated", status: "True", reason: "a" }] },
  ),
  attachment("odd", { range: "10.84.0.0/24", node_slice_size: "/26" }),
  macvlanNetwork("odd", "lan"),
  ovnNetwork("odd", { subnets: "10.88.0.0/24" }),
  workload("StatefulSet", "odd", { replicas: 1, ordinals: { start: 1 } }),
  workload("Deployment", "odd", { replicas: 1, strategy: { rollingUpdate: { maxSurge: "25%" } } }),
  singlePod("odd", "red", [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "odd", uid: "0", controller: true }]),
  machine,
  instanceOf(machine),
  launcherOf(instanceOf(machine), "1", [gate]),
  made("IPAddressClaim", "odd", "default", { spec: { clusterName: "c", poolRef }, status: { conditions: [] } }),
  made("IPAddress", "odd", "default", {
    spec: { claimRef: { name: "odd" }, poolRef, address: "10.0.2.177", prefix: 24, gateway: "10.0.2.254" },
  }),
  made("Secret", "pool-odd", "metal3", { data: { networkData: Buffer.from(text).toString("base64") } }),
  made("BareMetalHost", "pool-h1", "metal3", {
    spec: { online: true, networkData: { name: "pool-h1", namespace: "metal3" } },
    status: { provisioning: { state: "available" } },
  }),
  made("NodeNetworkState", "n1", undefined, {
    status: {
      currentState: {
        interfaces: [{ name: "eth1", state: "up", ipv4: { enabled: true, address: [{ ip: "10.0.1.1" }] } }],
      },
    },
  }),
  made(
    "NodeNetworkConfigurationEnactment",
    "n1.a1--n1",
    undefined,
    { status: { policyGeneration: 1, conditions: [{ type: "Available", status: "True" }] } },
    { labels: { "nmstate.io/node": "n1", "nmstate.io/policy": "a1--n1" } },
  ),
  made("IPPool", "n1-10.101.0.0-26", "kube-system", {
    spec: { range: "10.101.0.0/26", allocations: { 5: { podref: "default/a", id: "b" } } },
  }),
];
