import { App, Chart } from "cdk8s";
import { AddressPlan, NodeIPPool, NodeNetworkPolicy, Nodes } from "../constructs/index.ts";

const names = Array.from({ length: 5_000 }, (_, i) => `node${String(i).padStart(4, "0")}`);

/** Two pools, and two policies for 5,000 nodes. */
export function ours(lock: string): App {
  const app = new App();
  AddressPlan.configure(app, { lock });
  const chart = new Chart(app, "network");
  const nodes = Nodes.named(...names);
  for (const i of [1, 2]) {
    const pool = new NodeIPPool(chart, `traffic-${i}`, { range: { cidr: `10.${i}.0.0/16` }, gateway: `10.${i}.0.1` });
    const claim = pool.claim("address");
    const name = `eth${i}`;
    new NodeNetworkPolicy(chart, `static-${i}`, {
      nodes,
      desiredState: {
        interfaces: [{ name, type: "ethernet", state: "up", ipv4: { enabled: true, dhcp: false, address: [claim] } }],
        routes: {
          config: [{ destination: `192.${i}.0.0/16`, "next-hop-address": claim.gateway, "next-hop-interface": name }],
        },
      },
    });
  }
  return app;
}
