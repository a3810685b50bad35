import { describe, expect, it } from "vitest";
import { formatAddress, formatPrefix, type Pool } from "../../../core/index.ts";
import { type PersistentNetwork, parsePersistentNetwork } from "../../../integrations/ipamclaim/network.ts";
import { parsePoolSpec } from "../../../schema/node-ip-pool.ts";
import type { Bag } from "../../../schema/objects.ts";
import { macvlanNetwork, ovnNetwork } from "../../support/objects/vm-objects.ts";

const pools = ({ pools }: PersistentNetwork): Pool[] =>
  pools.map(({ name, spec }) => {
    const { value, issues } = parsePoolSpec(name, spec);
    if (value === undefined) throw new Error(JSON.stringify(issues));
    return value;
  });

/** `blue: 192.168.10.0/24 .1-.4 .6-.254` */
function told(object: Bag): string {
  const { value, issues = [] } = parsePersistentNetwork(object);
  if (issues.length > 0) return issues.map(({ message }) => message).join("\n");
  if (value === undefined) return "keeps none";
  if (value.bound !== undefined) return `of ${value.bound.join(" and ")}`;
  const textOf = ({ name, prefix, assignable }: Pool) => {
    const parts = assignable.map(({ first, last }) => `${formatAddress(first)}-${formatAddress(last)}`);
    return `${name}: ${formatPrefix(prefix)} ${parts.join(" ")}`;
  };
  return pools(value).map(textOf).join("; ");
}

const ovn = (config: Bag) => told(ovnNetwork("blue", { subnets: "192.168.10.0/24", ...config }));

describe("C3, C12: the addresses of a network", () => {
  it.each<[string, Bag, string]>([
    ["network and broadcast are nobody's", {}, "blue: 192.168.10.0/24 192.168.10.1-192.168.10.254"],
    [
      "excludeSubnets",
      { excludeSubnets: "192.168.10.1/32, 192.168.10.128/25" },
      "blue: 192.168.10.0/24 192.168.10.2-192.168.10.127",
    ],
    [
      "infrastructureSubnets",
      { infrastructureSubnets: "192.168.10.0/30" },
      "blue: 192.168.10.0/24 192.168.10.4-192.168.10.254",
    ],
    [
      "of reservedSubnets alone: OVN-Kubernetes gives the rest by itself",
      { reservedSubnets: "192.168.10.200/29,192.168.10.240/28", excludeSubnets: "192.168.10.201/32" },
      "blue: 192.168.10.0/24 192.168.10.200-192.168.10.200 192.168.10.202-192.168.10.207 192.168.10.240-192.168.10.254",
    ],
    [
      "the gateway's",
      { defaultGatewayIPs: "192.168.10.7" },
      "blue: 192.168.10.0/24 192.168.10.1-192.168.10.6 192.168.10.8-192.168.10.254",
    ],
    [
      "both families",
      { subnets: "10.5.0.0/30,fd10::/126", excludeSubnets: "fd10::2/127" },
      "blue: 10.5.0.0/30 10.5.0.1-10.5.0.2; blue-ipv6: fd10::/126 fd10::1-fd10::1",
    ],
    ["a wide subnet", { subnets: "10.5.0.0/16" }, "blue: 10.5.0.0/16 10.5.0.1-10.5.255.254"],
    ["the first 65,535 of a wide subnet of IPv6", { subnets: "fd10::/64" }, "blue-ipv6: fd10::/64 fd10::1-fd10::ffff"],
    ["all of a small subnet of IPv6", { subnets: "fd10::/112" }, "blue-ipv6: fd10::/112 fd10::1-fd10::ffff"],
    [
      "an error of a subnet of one address: OVN-Kubernetes allocates neither the first nor the last",
      { subnets: "10.5.0.0/32" },
      "subnet 10.5.0.0/32 has no address that OVN-Kubernetes allocates",
    ],
    ["C14: none of a primary network", { role: "primary" }, "keeps none"],
    ["none of layer3, where a node has a subnet of its own", { topology: "layer3" }, "keeps none"],
    ["C13: none where it is off", { allowPersistentIPs: false }, "keeps none"],
    ["none without subnets", { subnets: "" }, "keeps none"],
    [
      "two subnets of a family",
      { subnets: "10.5.0.0/24,10.6.0.0/24" },
      "subnets has several of IPv4; a claim gets one address",
    ],
    ["what is no subnet", { subnets: "10.5.0.0" }, '"10.5.0.0" has no prefix length; write for example 10.0.0.0/24'],
    [
      "what is no text",
      { excludeSubnets: ["10.5.0.0/24"] },
      "excludeSubnets must be text, with commas between several",
    ],
  ])("%s", (_, config, text) => {
    expect(ovn(config)).toBe(text);
  });

  it("are of the NodeIPPools that the annotation names", () => {
    expect(told(macvlanNetwork("red", "vlan-20, vlan-20-v6"))).toBe("of vlan-20 and vlan-20-v6");
  });

  it("C14: a network of OVN-Kubernetes with the annotation must be a secondary one that has claims", () => {
    const bound = (config: Bag) => {
      const object = ovnNetwork("blue", config);
      return told({
        ...object,
        metadata: { ...(object.metadata as Bag), annotations: { "nodeippool.nmstate.io/pool": "p" } },
      });
    };
    expect(bound({})).toBe("of p");
    for (const config of [{ allowPersistentIPs: false }, { role: "primary" }, { topology: "layer3" }])
      expect(bound(config)).toMatch(/^OVN-Kubernetes reads claims of secondary networks alone/);
  });

  it("configuration that is no JSON is an error", () => {
    const { spec: _, ...object } = macvlanNetwork("red", "p");
    expect(told({ ...object, spec: { config: "{" } })).toMatch(/^config is no JSON/);
  });
});
