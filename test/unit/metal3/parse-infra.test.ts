import { describe, expect, it } from "vitest";
import { formatAddress } from "../../../core/address.ts";
import { labelsOfHost } from "../../../integrations/metal3/host-selector.ts";
import type { HostSelector } from "../../../integrations/metal3/infra-spec.ts";
import { allocated, exampleText, infraOf, issuesIn } from "../../support/cli/metal3-infra.ts";

const seed = exampleText("seed.yaml");
/** The seed with one text replaced. */
const seedWith = (from: string | RegExp, to: string) => {
  const text = seed.replace(from, to);
  expect(text).not.toBe(seed);
  return text;
};

/** A network, and one unit that is on it. */
const small = (network: string, more = "") => `
infra:
  networks:
    a: ${network}
${more}controllers:
  replicas: 1
  hostSelector: {role: controller}
  networkConfig: [{type: interface, name: em0, addresses: [{ip_netmask: "{{ ip['a'] }}"}]}]
  macMapping: {n: {em0: "00:00:00:00:00:01"}}
`;
const poolOf = (network: string) => infraOf(small(network)).networks.get("a")?.pool;
const offers = (network: string) =>
  poolOf(network)?.automatic.map(({ first, last }) => `${formatAddress(first)}-${formatAddress(last)}`);

describe("parseInfra reads the configuration of the study", () => {
  it("R1, R6, R7, R8, R9: networks that all units share, controllers and node pools", () => {
    const { networks, units } = infraOf(seed);
    expect([...networks.keys()]).toEqual(["net0", "net1"]);
    expect(networks.get("net0")?.dnsServers.map(formatAddress)).toEqual(["8.8.8.8", "8.8.4.4"]);
    expect(units.map(({ name, replicas, hosts }) => [name, replicas, hosts.map((host) => host.name)])).toEqual([
      ["controllers", 1, ["node-0"]],
      ["nodepool1", 1, ["node-0"]],
    ]);
    expect(units[0]?.networkConfig).toHaveLength(2);
  });

  it("I3, R8: hostSelector is labels, and true the text that it looks like", () => {
    expect(infraOf(seed).units.map(({ hostSelector }) => hostSelector.matchLabels)).toEqual([
      { "metal3.io/controller": "true" },
      { "metal3.io/nodepool": "nodepool1" },
    ]);
    const labels = infraOf(seedWith("metal3.io/controller: true", "{rack: 3, metal3.io/controller: true}"));
    expect(labels.units[0]?.hostSelector.matchLabels).toEqual({ "metal3.io/controller": "true", rack: "3" });
  });

  it("hostSelector has the form of Metal3Machine, too", () => {
    const text = "{matchLabels: {rack: 3}, matchExpressions: [{key: size, operator: in, values: [xl, l]}]}";
    const selector = infraOf(seedWith("metal3.io/controller: true", text)).units[0]?.hostSelector as HostSelector;
    const size = { key: "size", operator: "in", values: ["xl", "l"] };
    expect(selector).toEqual({ matchLabels: { rack: "3" }, matchExpressions: [size] });
    expect(labelsOfHost(selector)).toEqual({ rack: "3", size: "xl" });
  });

  it("R30: MAC addresses by NIC, in lower case", () => {
    const { units } = infraOf(seedWith("00:c8:7c:e6:f0:2e", "00:C8:7C:E6:F0:2E"));
    expect([...(units[0]?.hosts[0]?.macs ?? [])]).toEqual([
      ["em0", "00:c8:7c:e6:f0:2e"],
      ["em1", "00:c8:7c:e6:f0:2f"],
      ["em2", "00:c8:7c:e6:f0:30"],
    ]);
  });

  it("I5: both units have a node-0, and each gets addresses of its own: the lowest (R12, R14, R18)", () => {
    expect([...allocated(infraOf(seed))].map(([claim, address]) => `${claim} ${formatAddress(address)}`)).toEqual([
      "Host/controllers.node-0/net0 192.168.0.10",
      "Host/nodepool1.node-0/net0 192.168.0.11",
      "Host/controllers.node-0/net1 192.168.1.10",
      "Host/nodepool1.node-0/net1 192.168.1.11",
    ]);
  });
});

describe("networks are pools", () => {
  it.each([
    [
      "R16: both ends are in",
      "{netmask: 24, addressRange: {start: 10.0.0.10, end: 10.0.0.250}}",
      ["10.0.0.10-10.0.0.250"],
    ],
    [
      "R6: a list",
      "{netmask: 24, addresses: [10.0.0.10, 10.0.0.11, 10.0.0.12, 10.0.0.15]}",
      ["10.0.0.10-10.0.0.12", "10.0.0.15-10.0.0.15"],
    ],
    [
      "a list in any order",
      "{netmask: 24, addresses: [10.0.0.15, 10.0.0.12, 10.0.0.10, 10.0.0.11]}",
      ["10.0.0.10-10.0.0.12", "10.0.0.15-10.0.0.15"],
    ],
    [
      "network, broadcast and gateway are skipped",
      "{netmask: 29, addressRange: {start: 10.0.0.0, end: 10.0.0.7}, gateway: 10.0.0.3}",
      ["10.0.0.1-10.0.0.2", "10.0.0.4-10.0.0.6"],
    ],
    [
      "in a list, too",
      "{netmask: 24, addresses: [10.0.0.0, 10.0.0.1, 10.0.0.2, 10.0.0.255], gateway: 10.0.0.1}",
      ["10.0.0.2-10.0.0.2"],
    ],
    [
      "last octets 0 and 255 are addresses like others",
      "{netmask: 23, addressRange: {start: 10.0.0.254, end: 10.0.1.1}}",
      ["10.0.0.254-10.0.1.1"],
    ],
    ["/31 has two", "{netmask: 31, addressRange: {start: 10.0.0.0, end: 10.0.0.1}}", ["10.0.0.0-10.0.0.1"]],
    ["/32 has one", "{netmask: 32, addresses: [10.0.0.0]}", ["10.0.0.0-10.0.0.0"]],
    [
      "IPv6",
      '{netmask: 64, addressRange: {start: "2001:db8::", end: "2001:db8::ffff"}, gateway: "2001:db8::1"}',
      ["2001:db8::2-2001:db8::ffff"],
    ],
    [
      "DNS servers inside are skipped",
      "{netmask: 24, addresses: [10.0.0.9, 10.0.0.10], dnsServers: [10.0.0.9, 8.8.8.8]}",
      ["10.0.0.10-10.0.0.10"],
    ],
  ])("%s: %s", (_, network, expected) => {
    expect(offers(network)).toEqual(expected);
  });

  it("no network skips last octets", () => {
    expect(poolOf("{netmask: 16, addressRange: {start: 10.0.0.1, end: 10.0.9.9}}")?.skipsZeroAnd255).toBe(false);
  });

  it.each([
    ["R2", "{addresses: [10.0.0.1]}", "f:4:8: netmask is missing: a number from 1 to 32"],
    ["R3: none", "{netmask: 24}", "f:4:8: a network has either addressRange or addresses"],
    [
      "R3: both",
      "{netmask: 24, addresses: [10.0.0.1], addressRange: {start: 10.0.0.1, end: 10.0.0.2}}",
      "f:4:33: a network has either addressRange or addresses",
    ],
    ["R5", "{netmask: 33, addresses: [10.0.0.1]}", "f:4:18: netmask must be a prefix length, a number from 1 to 32"],
    [
      "R5",
      '{netmask: 129, addresses: ["2001:db8::1"]}',
      "f:4:18: netmask must be a prefix length, a number from 1 to 128",
    ],
    ["R5", "{netmask: 0, addresses: [10.0.0.1]}", "f:4:18: netmask must be a prefix length, a number from 1 to 32"],
    ["R5", "{netmask: 24.5, addresses: [10.0.0.1]}", "f:4:18: netmask must be a prefix length, a number from 1 to 32"],
    [
      "R5",
      '{netmask: "24", addresses: [10.0.0.1]}',
      "f:4:18: netmask must be a prefix length, a number from 1 to 32\n  Write it as the prefix length: 24",
    ],
    [
      "I8",
      "{netmask: 255.255.255.0, addresses: [10.0.0.1]}",
      "f:4:18: netmask must be a prefix length, a number from 1 to 32\n  Write it as the prefix length: 24",
    ],
    [
      "I8: no netmask",
      "{netmask: 255.0.255.0, addresses: [10.0.0.1]}",
      "f:4:18: netmask must be a prefix length, a number from 1 to 32",
    ],
    [
      "start > end",
      "{netmask: 24, addressRange: {start: 10.0.0.9, end: 10.0.0.1}}",
      "f:4:59: addressRange ends (10.0.0.1) before it starts (10.0.0.9)",
    ],
    [
      "not in one subnet",
      "{netmask: 24, addressRange: {start: 10.0.0.9, end: 10.0.1.1}}",
      "f:4:59: 10.0.1.1 is not in 10.0.0.0/24",
    ],
    [
      "not in one subnet",
      "{netmask: 24, addresses: [10.0.0.9, 10.0.1.1]}",
      "f:4:44: 10.0.1.1 is not in 10.0.0.0/24, where the first one is",
    ],
    [
      "not in one family",
      '{netmask: 24, addresses: [10.0.0.9, "2001:db8::1"]}',
      "f:4:44: a network is of one family; make a network of its own for the other one",
    ],
    [
      "not in one family",
      '{netmask: 24, addressRange: {start: 10.0.0.9, end: "2001:db8::1"}}',
      "f:4:59: a network is of one family; make a network of its own for the other one",
    ],
    ["twice", "{netmask: 24, addresses: [10.0.0.9, 10.0.0.8, 10.0.0.9]}", "f:4:54: 10.0.0.9 is addresses[0] already"],
    ["an empty list", "{netmask: 24, addresses: []}", "f:4:33: addresses is empty"],
    ["no list", "{netmask: 24, addresses: 10.0.0.1}", "f:4:33: addresses must be a list"],
    ["no address", "{netmask: 24, addresses: [10.0.0.256]}", 'f:4:34: "10.0.0.256" has an octet above 255'],
    [
      "the gateway is elsewhere",
      "{netmask: 24, addresses: [10.0.0.9], gateway: 10.0.1.1}",
      "f:4:54: 10.0.1.1 is not in 10.0.0.0/24",
    ],
    [
      "no gateway",
      "{netmask: 24, addresses: [10.0.0.9], gateway: 10.0.0}",
      'f:4:54: "10.0.0" has 3 octets; an IPv4 address has 4',
    ],
    [
      "no DNS server",
      "{netmask: 24, addresses: [10.0.0.9], dnsServers: [8.8.8.8, dns]}",
      'f:4:67: "dns" is not an IP address',
    ],
    [
      "multicast",
      "{netmask: 24, addresses: [224.0.0.1]}",
      "f:4:18: 224.0.0.0/24 is multicast: no host has such an address",
    ],
    [
      "a field",
      "{netmask: 24, adresses: [10.0.0.9], addresses: [10.0.0.9]}",
      "f:4:32: unknown field adresses; did you mean addresses?",
    ],
    [
      "a field of a range",
      "{netmask: 24, addressRange: {from: 10.0.0.9, end: 10.0.0.10}}",
      "f:4:36: unknown field from",
    ],
    ["a half range", "{netmask: 24, addressRange: {start: 10.0.0.9}}", "f:4:36: end is missing"],
  ])("%s: %s", (_, network, expected) => {
    expect(issuesIn(small(network))).toEqual([expected]);
  });

  it("networks of one prefix with ranges apart are fine; those that share addresses are not", () => {
    const a = "{netmask: 24, addressRange: {start: 10.0.0.1, end: 10.0.0.9}}";
    expect(issuesIn(small(a, "    b: {netmask: 24, addresses: [10.0.0.10]}\n"))).toEqual([]);
    expect(issuesIn(small(a, "    b: {netmask: 24, addresses: [10.0.0.10, 10.0.0.5]}\n"))).toEqual([
      "f:5:8: networks a and b share addresses\n  Give them separate ranges.",
    ]);
  });

  it("names of networks are names of pools", () => {
    expect(issuesIn(seed.replaceAll("net1", "Net_1"))[0]).toContain('"Net_1" is no name');
  });
});

describe("units", () => {
  const rows: [title: string, from: string | RegExp, to: string, ...issues: string[]][] = [
    ["R4: an unknown network", "ip['net1']", "ip['net2']", "network net2 is not defined; did you mean net0?"],
    [
      "R27: no gateway",
      "config['net0'].gateway",
      "config['net1'].gateway",
      "network net1 has no gateway\n  Write gateway in infra.networks.net1, or take this out.",
    ],
    [
      "R27: no DNS servers",
      "config['net0'].dnsServers",
      "config['net1'].dnsServers",
      "network net1 has no dnsServers\n  Write dnsServers in infra.networks.net1, or take this out.",
    ],
    [
      "D9: an unknown field",
      "config['net0'].gateway",
      "config['net0'].gatway",
      "config has the fields gateway, dnsServers, not gatway; did you mean gateway?",
    ],
    [
      "R14: one address on two links",
      "ip['net1']",
      "ip['net0']",
      "a host has one address of net0, and it stands at networkConfig.0.addresses.0.ip_netmask already\n  Make a second network for the second link.",
    ],
    ["R10: a NIC of the template", "name: em1", "name: em3", "NIC em3 is not in macMapping; did you mean em0?"],
    [
      "R11: more replicas",
      "replicas: 1",
      "replicas: 2",
      "replicas is 2, and macMapping has 1 hosts\n  Each host is one replica.",
    ],
    ["R11: no number", "replicas: 1", "replicas: many", "replicas must be a whole number"],
    ["a node pool called controllers", "  nodepool1:", "  controllers:", "a node pool cannot be called controllers"],
    [
      "a name with a dot",
      "  nodepool1:",
      "  node.pool:",
      '"node.pool" is no name: at most 63 lower case letters, digits and -',
    ],
    [
      "a host's name with a dot",
      "    node-0:",
      "    node.0:",
      '"node.0" is no name: at most 63 lower case letters, digits and -',
    ],
    [
      "R33: no MAC",
      "00:c8:7c:e6:f0:2e",
      "00:c8:7c:e6:f0",
      "em0 needs a MAC address: six pairs of hexadecimal digits with colons, in quotes",
    ],
    [
      "R33: one MAC twice, in capitals",
      "00:c8:7c:e6:f0:3e",
      "00:C8:7C:E6:F0:2F",
      "em0 has the MAC address 00:c8:7c:e6:f0:2f, which Host/controllers.node-0 has already",
      "em1 has the MAC address 00:c8:7c:e6:f0:2f, which Host/nodepool1.node-0 has, too",
    ],
    ["a field", "  macMapping:", "  macMaping: 1\n  macMapping:", "unknown field macMaping; did you mean macMapping?"],
    ["a field that is missing", "  replicas: 1\n", "", "replicas is missing"],
    [
      "an empty selector",
      "hostSelector: metal3.io/controller: true",
      "hostSelector: {}",
      'hostSelector has labels: {metal3.io/controller: "true"}',
    ],
    ["no label", "hostSelector: metal3.io/controller: true", "hostSelector: {a b: c}", '"a b" is no label'],
    [
      "no value of a label",
      "hostSelector: metal3.io/controller: true",
      "hostSelector: {matchLabels: {a: [b]}}",
      "the value of a must be text in quotes: at most 63 letters, digits, -, _ and .",
    ],
    [
      "an operator that Metal3 lacks",
      "hostSelector: metal3.io/controller: true",
      "hostSelector: {matchExpressions: [{key: a, operator: In, values: [b]}]}",
      "operator is one of in, notin, exists, !, =, ==, !=, gt, lt",
    ],
    [
      "a value that YAML reads otherwise than it looks",
      "hostSelector: metal3.io/controller: true",
      "hostSelector: {release: 1.10}",
      "the value of release must be text in quotes: at most 63 letters, digits, -, _ and .",
    ],
    [
      "R33: a MAC address with dashes",
      "00:c8:7c:e6:f0:2e",
      "00-c8-7c-e6-f0-2e",
      "em0 needs a MAC address: six pairs of hexadecimal digits with colons, in quotes",
    ],
    [
      "a name of a NIC",
      'em0: "00:c8:7c:e6:f0:2e"',
      '"em 0": "00:c8:7c:e6:f0:2e"',
      '"em 0" is no name of a NIC: at most 15 letters, digits, -, _ and .',
      "NIC em0 is not in macMapping; did you mean em 0?",
    ],
    [
      "an address of a network that is written out",
      "ip_netmask: {{ ip['net1']}}",
      "ip_netmask: 192.168.1.11/24",
      "192.168.1.11/24 is of network net1, whose addresses are given to hosts by the plan\n  Write \"{{ ip['net1'] }}\", or an address of another subnet.",
    ],
    [
      "an address that os-net-config's schema takes",
      "ip_netmask: {{ ip['net1']}}",
      "ip_netmask: 192x168y0z10/24",
      '"192x168y0z10" is not an IP address',
    ],
    [
      "no prefix length",
      "ip_netmask: {{ ip['net1']}}",
      "ip_netmask: 10.0.0.1",
      '"10.0.0.1" has no prefix length; write for example 10.0.0.0/24',
    ],
    [
      "no next hop",
      "next_hop: {{ config['net0'].gateway}}",
      "next_hop: 10.0.0",
      '"10.0.0" has 3 octets; an IPv4 address has 4',
    ],
    ["no route", "default: true", "default: false", "a route has either default: true or one destination"],
    [
      "an unknown type",
      "type: ovs_bond",
      "type: ovs_bnd",
      "an entry has a type of os-net-config, not ovs_bnd; did you mean ovs_bond?",
    ],
  ];
  it.each(rows)("%s: %s -> %s", (_, from, to, ...issues) => {
    expect(issuesIn(seedWith(from, to)).map((issue) => issue.replace(/^f:\d+:\d+: /, ""))).toEqual(issues);
  });

  it("R10: all hosts of a unit have the same NICs", () => {
    const text = seedWith(/replicas: 1/, "replicas: 2").replace(
      "nodepools:",
      '    node-1: {em0: "00:00:00:00:00:01"}\nnodepools:',
    );
    expect(issuesIn(text)).toEqual([
      "f:56:13: node-1 has the NICs em0, and node-0 has em0, em1, em2\n  All hosts of a unit have the same NICs.",
    ]);
  });

  it("no two hosts give objects one name", () => {
    const unit = (name: string, host: string, mac: string) =>
      `  ${name}: {replicas: 1, hostSelector: {a: b}, macMapping: {${host}: {em0: "00:00:00:00:00:0${mac}"}}, networkConfig: [{type: interface, name: em0}]}\n`;
    const text = `infra: {networks: {a: {netmask: 24, addresses: [10.0.0.1]}}}\nnodepools:\n${unit("a-b", "c", "1")}${unit("a", "b-c", "2")}`;
    expect(issuesIn(text)).toEqual([
      expect.stringMatching(/^f:3:.* makes objects called a-b-c, which Host\/a\.b-c has already$/),
      expect.stringMatching(/^f:4:.* makes objects called a-b-c, which Host\/a-b\.c has, too$/),
    ]);
  });

  it("says all that is wrong at once, each in its place", () => {
    const text = seedWith("netmask: 24", "netmask: 255.255.0.0")
      .replace(/replicas: 1/g, "replicas: 3")
      .replace("node-0:", "NODE:");
    expect(issuesIn(text).map((issue) => issue.split(": ")[0])).toEqual(["f:4:16", "f:53:7", "f:20:13", "f:58:15"]);
  });

  it.each([undefined, null, 1, "infra", [], {}, { infra: 1, controllers: [], nodepools: "x" }])(
    "hostile: %j",
    (value) => {
      expect(issuesIn(JSON.stringify(value) ?? "").length).toBeGreaterThan(0);
    },
  );
});

it("an address that is written out for several hosts is refused", () => {
  const text = exampleText("rack.yaml").replace(`"{{ ip['management'] }}"`, "10.9.9.9/24");
  expect(issuesIn(text)).toEqual([expect.stringContaining("each of the 3 hosts would have 10.9.9.9/24")]);
});
