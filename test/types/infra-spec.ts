// Checked by the compiler, never run: what must not compile does not, and what people write does.
import type { ClusterSpec, InfraSpec, NetworkSpec, UnitSpec } from "nodeippool/metal3";

const addresses = ["10.0.0.5"];
const addressRange = { start: "10.0.0.5", end: "10.0.0.9" };
const infra = { networks: { lan: { netmask: 24, addresses } } };
const image = { url: "http://image", checksum: "http://image.sha256" };

export const networks: readonly NetworkSpec[] = [
  { netmask: 24, addressRange, gateway: "10.0.0.1", dnsServers: ["10.0.0.2"] },
  { netmask: 24, addresses },
  // @ts-expect-error: neither range nor list
  { netmask: 24 },
  // @ts-expect-error: both
  { netmask: 24, addressRange, addresses },
  // @ts-expect-error: a length, not a mask
  { netmask: "255.255.255.0", addresses },
  // @ts-expect-error: no such field
  { netmask: 24, addresses, gatway: "10.0.0.1" },
];

export const unit: UnitSpec = {
  replicas: 1,
  hostSelector: { "metal3.io/controller": "true" },
  networkConfig: [
    {
      type: "ovs_bridge",
      name: "br0",
      use_dhcp: false,
      addresses: [{ ip_netmask: "{{ ip['lan'] }}" }],
      routes: [{ default: true, next_hop: "{{ config['lan'].gateway }}" }],
      dns_servers: "{{ config['lan'].dnsServers }}",
      members: [{ type: "interface", name: "em0", mtu: 9000 }],
    },
    // @ts-expect-error: each entry has a type
    { name: "em1" },
  ],
  macMapping: { "node-0": { em0: "00:c8:7c:e6:f0:2e" } },
};

export const specs: readonly InfraSpec[] = [
  { infra, controllers: unit, nodepools: { workers: unit } },
  // @ts-expect-error: no networks
  { controllers: unit },
  // @ts-expect-error: no such field
  { infra, nodePools: { workers: unit } },
  // @ts-expect-error: labels are text
  { infra, controllers: { ...unit, hostSelector: { "metal3.io/controller": true } } },
];

export const clusters: readonly ClusterSpec[] = [
  {},
  { mode: "hosts", name: "blue", namespace: "metal", apiVersion: "v1beta1" },
  { mode: "machines", name: "blue", image, version: "v1.36.3", network: "os-net-config", kubeadmConfig: { users: [] } },
  { mode: "pools", name: "blue" },
  // @ts-expect-error: machines have an image
  { mode: "machines", name: "blue" },
  // @ts-expect-error: pools are of a cluster
  { mode: "pools" },
  // @ts-expect-error: an image is of machines
  { mode: "hosts", name: "blue", image },
  // @ts-expect-error: the template is of v1beta1 always
  { mode: "pools", name: "blue", apiVersion: "v1beta2" },
  // @ts-expect-error: no such mode
  { mode: "hostz" },
];
