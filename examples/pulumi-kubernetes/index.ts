import * as kubernetes from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { AllocationSet, NodeIPPool, NodeNetworkPolicy } from "nodeippool/provider";

const nodes = ["node01", "node02", "node03"];
const traffic = {
  range: { cidr: "10.10.10.0/24", start: "10.10.10.1", end: "10.10.10.10", exclude: ["10.10.10.4", "10.10.10.7"] },
  gateway: "10.10.10.254",
};

const ips = new AllocationSet("static-ip", {
  pools: { "traffic-1": traffic },
  claims: nodes.map((node) => ({ owner: { kind: "Node", name: node }, name: "eth1", pool: "traffic-1" })),
});

// Manifests in a folder, for a reviewer or for GitOps. Leave it out, and they go to the cluster of your kubeconfig.
const folder = new pulumi.Config().get("renderTo");
const provider = new kubernetes.Provider("cluster", folder === undefined ? {} : { renderYamlToDirectory: folder });

const pool = new NodeIPPool("traffic-1", { spec: traffic }, { provider });

const policy = new NodeNetworkPolicy(
  "static-ip",
  {
    nodes,
    // Two nodes at once; the third one waits until these are configured.
    batchSize: 2,
    desiredState: (node) => ({
      interfaces: [
        {
          name: "eth1",
          type: "ethernet",
          state: "up",
          ipv4: { enabled: true, dhcp: false, address: [ips.claim(node, "eth1")] },
        },
      ],
      routes: {
        config: [{ destination: "10.20.0.0/16", "next-hop-address": traffic.gateway, "next-hop-interface": "eth1" }],
      },
    }),
  },
  { provider, dependsOn: pool },
);

export const addresses = ips.addresses;
export const manifests = policy.manifests;
