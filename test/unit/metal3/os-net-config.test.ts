import { describe, expect, it } from "vitest";
import { address } from "../../../core/address.ts";
import type { Unit } from "../../../integrations/metal3/infra.ts";
import { osNetConfig } from "../../../integrations/metal3/os-net-config.ts";
import { addressesOf, dataOf, exampleText, infraOf } from "../../support/cli/metal3-infra.ts";

/** What the study shows for node-0, with the networks as it defines them (I1: there it says 192.0.0.10 and 192.0.1.10). */
const node0 = `
network_config:
  -
    type: ovs_bridge
    name: br-ctlplane
    addresses:
      -
        ip_netmask: 192.168.0.10/24
    routes:
      -
        default: true
        next_hop: 192.168.0.1
    dns_servers:
      - 8.8.8.8
      - 8.8.4.4
    members:
      -
        type: ovs_bond
        name: bond1
        members:
          -
            type: interface
            name: em1
          -
            type: interface
            name: em2
  -
    type: interface
    name: em0
    addresses:
      -
        ip_netmask: 192.168.1.10/24
`;

describe("osNetConfig", () => {
  const infra = infraOf(exampleText("seed.yaml"));
  const [controllers, nodepool1] = infra.units as [Unit, Unit];

  it("I1, R12, R25, R26, R28: gives node-0 of the controllers what the study shows", () => {
    expect(osNetConfig(infra, controllers, addressesOf(infra, controllers, "node-0"))).toEqual(dataOf(node0));
  });

  it("R29: and node-0 of the node pool the same with addresses of its own", () => {
    const text = node0.replace("0.10/24", "0.11/24").replace("1.10/24", "1.11/24");
    expect(osNetConfig(infra, nodepool1, addressesOf(infra, nodepool1, "node-0"))).toEqual(dataOf(text));
  });

  it("throws for a network that no address is given of", () => {
    const addresses = new Map([["net0", address("192.168.0.10")]]);
    expect(() => osNetConfig(infra, controllers, addresses)).toThrow("there is no value for {{ ip['net1']}}");
  });
});
