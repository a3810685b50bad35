import { ApiObject, App, Chart } from "cdk8s";
import { BareMetalHosts, type UnitSpec } from "nodeippool/constructs";

const app = new App();
const chart = new Chart(app, "hosts", { namespace: "metal3" });

/** Two NICs in a bond, with an address of the network `machines`. */
const unit = (labels: UnitSpec["hostSelector"], macs: UnitSpec["macMapping"]): UnitSpec => ({
  replicas: Object.keys(macs).length,
  hostSelector: labels,
  networkConfig: [
    {
      type: "linux_bond",
      name: "bond0",
      bonding_options: "mode=802.3ad",
      addresses: [{ ip_netmask: "{{ ip['machines'] }}" }],
      routes: [{ default: true, next_hop: "{{ config['machines'].gateway }}" }],
      dns_servers: "{{ config['machines'].dnsServers }}",
      members: [
        { type: "interface", name: "em0" },
        { type: "interface", name: "em1" },
      ],
    },
  ],
  macMapping: macs,
});

const hosts = new BareMetalHosts(chart, "rack", {
  cluster: { name: "blue" },
  infra: {
    networks: {
      machines: {
        netmask: 24,
        addressRange: { start: "10.20.0.10", end: "10.20.0.250" },
        gateway: "10.20.0.1",
        dnsServers: ["10.20.0.2"],
      },
    },
  },
  controllers: unit({ role: "controller" }, { "node-0": { em0: "00:c8:7c:e6:f0:2e", em1: "00:c8:7c:e6:f0:2f" } }),
  nodepools: {
    workers: unit(
      { role: "worker" },
      {
        "node-0": { em0: "00:c8:7c:e6:f0:3e", em1: "00:c8:7c:e6:f0:3f" },
        "node-1": { em0: "00:c8:7c:e6:f0:4e", em1: "00:c8:7c:e6:f0:4f" },
      },
    ),
  },
});

// Any object of the app may have the address of a host.
new ApiObject(chart, "api", {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "api" },
  data: { server: hosts.addressOf("controllers", "node-0", "machines") },
});

app.synth();
