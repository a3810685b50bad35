import { ApiObject, App, Chart } from "cdk8s";
import { StatefulSet } from "cdk8s-plus-33";
import { NodeIPPool, WorkloadAddresses } from "nodeippool/constructs";

const app = new App();
const chart = new Chart(app, "shop", { namespace: "shop" });

const pool = new NodeIPPool(chart, "vlan-30", {
  range: { cidr: "10.30.0.0/24", start: "10.30.0.10", end: "10.30.0.99" },
});

// The plugin takes the addresses that a pod is told.
const plugin = { type: "macvlan", master: "eth1", capabilities: { ips: true }, ipam: { type: "static" } };
new ApiObject(chart, "network", {
  apiVersion: "k8s.cni.cncf.io/v1",
  kind: "NetworkAttachmentDefinition",
  metadata: { name: "vlan-30" },
  spec: { config: JSON.stringify({ cniVersion: "1.0.0", name: "vlan-30", plugins: [plugin] }) },
});

const db = new StatefulSet(chart, "db", {
  metadata: { name: "db" },
  replicas: 2,
  containers: [{ image: "postgres", portNumber: 5432 }],
});
new WorkloadAddresses(chart, "db-addresses", { workload: db, networks: ["vlan-30"], pools: [pool.name] });

app.synth();
