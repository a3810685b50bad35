// Checked by the compiler, never run: what must not compile does not, and what people write does.
import { App, Chart } from "cdk8s";
import {
  AddressPlan,
  type DesiredState,
  type Interface,
  loadState,
  NodeIPPool,
  NodeNetworkPolicy,
  Nodes,
} from "nodeippool/constructs";

const app = new App();
const chart = new Chart(app, "network");
const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/24" } });
const nodes = Nodes.named("n1");
const state: DesiredState = { interfaces: [] };
const nic = (more: Omit<Interface, "name">): Interface => ({ name: "eth1", ...more });

// Pools.
// @ts-expect-error: no range
new NodeIPPool(chart, "a", {});
// @ts-expect-error: a range without cidr
new NodeIPPool(chart, "a", { range: { start: "10.0.0.1" } });
// @ts-expect-error: no such field
new NodeIPPool(chart, "a", { range: { cidr: "10.0.0.0/24" }, gatway: "10.0.0.1" });
// @ts-expect-error: no such authority
new NodeIPPool(chart, "a", { range: { cidr: "10.0.0.0/24" }, authority: "Both" });
// @ts-expect-error: one text, not a list
new NodeIPPool(chart, "a", { range: { cidr: "10.0.0.0/24", exclude: "10.0.0.1" } });
// @ts-expect-error: a name is text
pool.claim(1);

// Policies.
// @ts-expect-error: no desired state
new NodeNetworkPolicy(chart, "a", { nodes });
// @ts-expect-error: names are not Nodes
new NodeNetworkPolicy(chart, "a", { nodes: ["n1"], desiredState: state });
// @ts-expect-error: label values are text
new NodeNetworkPolicy(chart, "a", { nodes, nodeSelector: { worker: true }, desiredState: state });
// @ts-expect-error: a policy of single nodes has no finalizers
new NodeNetworkPolicy(chart, "a", { nodes, desiredState: state, metadata: { finalizers: ["a"] } });
// @ts-expect-error: a number
new NodeNetworkPolicy(chart, "a", { nodes, desiredState: state, nodesPerSyncWave: "2" });
// @ts-expect-error: only `of`, `named` and `fromFile` make them
new Nodes([]);
// @ts-expect-error: labels are known, or the name alone: Nodes.named
Nodes.of({ name: "n1" });

// Desired states.
export const refused: readonly DesiredState[] = [
  // @ts-expect-error: no such section
  { interface: [] },
  // @ts-expect-error: an interface has a name
  { interfaces: [{ type: "ethernet" }] },
  // @ts-expect-error: no such type of interface
  { interfaces: [nic({ type: "bonding" })] },
  // @ts-expect-error: no such state
  { interfaces: [nic({ state: "UP" })] },
  // @ts-expect-error: no such field
  { interfaces: [nic({ macAddress: "02:00:00:00:00:01" })] },
  // @ts-expect-error: a number
  { interfaces: [nic({ mtu: "9000" })] },
  // @ts-expect-error: true or false
  { interfaces: [nic({ ipv4: { enabled: "true" } })] },
  // @ts-expect-error: autoconf is of IPv6
  { interfaces: [nic({ ipv4: { enabled: true, autoconf: false } })] },
  // @ts-expect-error: a list
  { interfaces: [nic({ ipv4: { enabled: true, address: pool.claim("eth1") } })] },
  // @ts-expect-error: a pool is no claim
  { interfaces: [nic({ ipv4: { enabled: true, address: [pool] } })] },
  // @ts-expect-error: prefix-length, not prefix
  { interfaces: [nic({ ipv4: { address: [{ ip: "10.0.0.1", prefix: 24 }] } })] },
  // @ts-expect-error: a number
  { interfaces: [nic({ ipv4: { address: [{ ip: "10.0.0.1", "prefix-length": "24" }] } })] },
  // @ts-expect-error: text
  { interfaces: [nic({ ipv4: { address: [{ ip: 10, "prefix-length": 24 }] } })] },
  // @ts-expect-error: a VLAN has an id
  { interfaces: [nic({ vlan: { "base-iface": "eth0" } })] },
  // @ts-expect-error: no such mode
  { interfaces: [nic({ "link-aggregation": { mode: "lacp" } })] },
  // @ts-expect-error: a list
  { routes: { config: { destination: "0.0.0.0/0" } } },
  // @ts-expect-error: next-hop-address
  { routes: { config: [{ destination: "0.0.0.0/0", gateway: "10.0.0.1" }] } },
  // @ts-expect-error: text
  { routes: { config: [{ destination: "0.0.0.0/0", "next-hop-address": pool.claim("eth1") }] } },
  // @ts-expect-error: only captures stand for whole sections
  { routes: { config: "all" } },
  // @ts-expect-error: config
  { "dns-resolver": { server: ["10.0.0.53"] } },
];

export const accepted: readonly DesiredState[] = [
  { interfaces: [nic({ ipv4: { enabled: true, dhcp: false, address: [pool.claim("eth1")] } })] },
  { interfaces: [nic({ mtu: "{{ capture.a.interfaces.0.mtu }}", ipv4: "{{ capture.a.interfaces.0.ipv4 }}" })] },
  { routes: { config: "{{ capture.a.routes.running }}" } },
  { routes: { config: [{ destination: "::/0", "next-hop-address": pool.claim("eth1").gateway }] } },
  { interfaces: [nic({ type: "bond", "link-aggregation": { mode: "802.3ad", options: { lacp_rate: "fast" } } })] },
  { interfaces: [nic({ libreswan: { anything: 1 } })] },
];

// The record.
// @ts-expect-error: no such property
AddressPlan.configure(app, { lockfile: "nodeippool.lock" });
// @ts-expect-error: loaded, with loadState
AddressPlan.configure(app, { state: "nodeippool.lock" });
// @ts-expect-error: a backend, not a path
void loadState("nodeippool.lock");
// @ts-expect-error: there is one per app, and it makes itself
new AddressPlan(app);
