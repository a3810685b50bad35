import { ApiObject, App, Chart } from "cdk8s";
import { NodeIPPool, NodeNetworkPolicy, Nodes } from "nodeippool/constructs";

const app = new App();
const network = new Chart(app, "network");

const traffic = new NodeIPPool(network, "traffic", {
  range: { cidr: "10.10.10.0/24", start: "10.10.10.1", end: "10.10.10.10", exclude: ["10.10.10.4", "10.10.10.7"] },
});
const storage = new NodeIPPool(network, "storage", { range: { cidr: "fd00:10:20::/64" }, gateway: "fd00:10:20::1" });

const nodes = Nodes.fromFile("nodes.yaml");

new NodeNetworkPolicy(network, "traffic-nic", {
  nodes,
  desiredState: {
    interfaces: [
      {
        name: "eth1",
        type: "ethernet",
        state: "up",
        ipv4: { enabled: true, dhcp: false, address: [traffic.claim("eth1")] },
      },
    ],
  },
});

const eth2 = storage.claim("eth2");
new NodeNetworkPolicy(network, "storage-nic", {
  nodes,
  nodeSelector: { "node-role.kubernetes.io/worker": "" },
  nodesPerSyncWave: 2,
  desiredState: {
    interfaces: [
      {
        name: "eth2",
        type: "ethernet",
        state: "up",
        mtu: 9000,
        ipv6: { enabled: true, dhcp: false, autoconf: false, address: [eth2] },
      },
    ],
    routes: {
      config: [{ destination: "fd00:10:30::/64", "next-hop-address": eth2.gateway, "next-hop-interface": "eth2" }],
    },
  },
});

// Any object of the app may ask for an address that a node holds.
new ApiObject(new Chart(app, "gateway"), "upstream", {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "upstream", namespace: "gateway" },
  data: { "peers.conf": `primary ${traffic.addressOf("node01")};\nbackup ${traffic.addressOf("node02")};\n` },
});

app.synth();
