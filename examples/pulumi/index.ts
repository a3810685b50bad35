import * as pulumi from "@pulumi/pulumi";
import { AllocationSet } from "nodeippool/provider";

const config = new pulumi.Config();
const nodes = (config.get("nodes") ?? "node01,node02,node03").split(",");

const ips = new AllocationSet("static-ip", {
  pools: {
    "traffic-1": {
      range: { cidr: "10.10.10.0/24", start: "10.10.10.1", end: "10.10.10.10", exclude: ["10.10.10.4", "10.10.10.7"] },
    },
  },
  claims: nodes.map((node) => ({ owner: { kind: "Node", name: node }, name: "eth1", pool: "traffic-1" })),
  release: config.get("release")?.split(",") ?? [],
});

/** Known in `pulumi preview`, like every other address. */
export const node01 = ips.address("Node/node01/eth1");
export const addresses = ips.addresses;
