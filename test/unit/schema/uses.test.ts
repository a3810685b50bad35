import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { formatAddress } from "../../../core/address.ts";
import { readEvidence } from "../../../pipeline/evidence.ts";
import { type ClusterNode, childLabels, hostnameLabel } from "../../../schema/node.ts";
import { issuesOf, list, nicOf, pointed, policyOf, shownUse, stateOf } from "../../support/schema/uses.ts";

function node(name: string, labels?: Record<string, string>): ClusterNode {
  return { name, labels: new Map(Object.entries(labels ?? { [hostnameLabel]: name })), bare: labels === undefined };
}

/** What the evidence says; every use points to its address in the text. */
function said(text: string, nodes?: readonly ClusterNode[]): string[] {
  const evidence = readEvidence({ path: "evidence", text }, nodes);
  return [...pointed(text, evidence.uses), ...[...evidence.nodes.keys()].map((owner) => `all of ${owner}`)];
}

describe("readEvidence of NodeNetworkStates", () => {
  const two = [stateOf("n", "lo 127.0.0.1 ::1", "eth1 10.0.0.1 fe80::1 2001:db8::1"), stateOf("m", "eth1 10.0.0.2")];
  const all = [
    "10.0.0.1 Node/n eth1",
    "2001:db8::1 Node/n eth1",
    "10.0.0.2 Node/m eth1",
    "all of Node/n",
    "all of Node/m",
  ];
  const typed = { kind: "NodeNetworkStateList", items: two.map(({ kind, ...item }) => item) };

  it.each([
    ["a JSON List", JSON.stringify(list(...two))],
    ["a JSON List as kubectl writes it", JSON.stringify(list(...two), null, 4)],
    ["a List as the API server gives it", JSON.stringify(typed)],
    ["a JSON array", JSON.stringify(two)],
    ["JSON parted by ---", two.map((one) => JSON.stringify(one)).join("\n---\n")],
    ["a YAML List", stringify(list(...two))],
    ["Lists in Lists", JSON.stringify(list(list(two[0]), list(list(two[1]))))],
    ["YAML documents", two.map((one) => stringify(one)).join("---\n")],
    [
      "with others between them",
      [list(two[0]), { kind: "ConfigMap" }, two[1]].map((one) => stringify(one)).join("---\n"),
    ],
  ])("%s", (_, text) => {
    expect(said(text)).toEqual(all);
  });

  it("tells which NICs and families it shows: only of these does a node have no more", () => {
    const ovs = { name: "br0", type: "ovs-interface", ipv4: { enabled: false } };
    const down = { name: "eth3", state: "down", ipv4: { enabled: false } };
    const nics = [{ name: "eth0" }, nicOf("eth1"), { name: "br0", type: "ovs-bridge" }, ovs, down];
    const reported = { ...stateOf("n"), status: { currentState: { interfaces: nics } } };
    const shown = (...states: object[]) =>
      Object.fromEntries(readEvidence({ path: "x", text: JSON.stringify(list(...states)) }).nodes.get("Node/n") ?? []);
    const whole = { eth0: new Set(), eth1: new Set([4, 6]), br0: new Set([4]) };
    expect(shown(reported)).toEqual(whole);
    // A handler that fails shows what once was.
    const conditions = [{ type: "Failing", status: "True" }];
    const old = { ...stateOf("n"), status: { conditions, currentState: { interfaces: [nicOf("eth2")] } } };
    expect(shown(old)).toEqual({});
    expect(shown(reported, old)).toEqual(whole);
  });

  it("marks what DHCP and SLAAC gave for a time", () => {
    const entry = (ip: string, valid?: string, preferred?: string) => ({
      ip,
      "prefix-length": 64,
      ...(valid && { "valid-life-time": valid }),
      ...(preferred && { "preferred-life-time": preferred }),
    });
    const address = [
      entry("2001:db8::1"),
      entry("2001:db8::2", "forever", "forever"),
      entry("2001:db8::3", "2591990sec", "604790sec"),
      entry("2001:db8::4", undefined, "60sec"),
      // Deprecated by hand, so that nothing starts from it: a static address all the same.
      entry("2001:db8::5", "forever", "0sec"),
      { ip: "2001:db8::6", "prefix-length": "64", "valid-lft": "60sec" },
      { ip: "2001:db8::7", "prefix-length": "0x40", "preferred-left": "60sec" },
    ];
    const state = { ...stateOf("n"), status: { currentState: { interfaces: [{ name: "eth1", ipv6: { address } }] } } };
    const { uses } = readEvidence({ path: "nns.json", text: JSON.stringify(state) });
    expect(uses.map((use) => use.isTemporary ?? false)).toEqual([false, false, true, true, false, true, true]);
    // nmstate takes numbers as text, too.
    expect(uses.map((use) => use.prefixLength)).toEqual(uses.map(() => 64));
  });

  it("knows the file, and the line in a later document", () => {
    const text = `# dump\n---\n---\n${stringify(two[1])}`;
    const { uses } = readEvidence({ path: "nns.yaml", text, label: "a/nns.yaml" });
    expect(pointed(text, uses)).toEqual(["10.0.0.2 Node/m eth1"]);
    expect(uses[0]?.at.file).toBe("a/nns.yaml");
  });

  const failing = { type: "Failing", status: "True", reason: "QueryFailed" };
  const status = stateOf("n", "eth1 10.0.0.1").status;
  it.each<[string, object, string[]]>([
    ["no status", { status: undefined }, []],
    ["no state", { status: {} }, []],
    ["no interfaces", { status: { currentState: {} } }, []],
    ["an empty list of interfaces: a node has lo at least", { status: { currentState: { interfaces: [] } } }, []],
    [
      "a state that its handler could not renew",
      { status: { ...status, conditions: [failing] } },
      ["10.0.0.1 Node/n eth1"],
    ],
    [
      "a state that its handler did renew",
      { status: { ...status, conditions: [{ ...failing, status: "False" }] } },
      ["10.0.0.1 Node/n eth1", "all of Node/n"],
    ],
    ["a node without addresses", stateOf("n", "eth1"), ["all of Node/n"]],
  ])("%s", (_, part, expected) => {
    expect(said(JSON.stringify({ ...stateOf("n"), ...part }))).toEqual(expected);
  });

  it.each([JSON.stringify, stringify])("refuses a part of a list: nodes would be missing", (write) => {
    for (const kind of ["List", "NodeNetworkStateList"]) {
      const text = write({ ...list(stateOf("n", "eth1 10.0.0.1")), kind, metadata: { continue: "x" } });
      const inside = write(list({ ...list(stateOf("n")), kind, metadata: { continue: "x" } }));
      for (const cut of [text, inside])
        expect(issuesOf(() => readEvidence({ path: "x", text: cut }))).toEqual([
          expect.stringMatching(/^1:1 this list is cut off/),
        ]);
    }
  });

  it("refuses what no handler writes", () => {
    const text = stringify(list(stateOf("N 1", "eth1 10.0.0.1"), stateOf("m", "eth1 10.0.0.01 10.0.0.2/24")));
    expect(issuesOf(() => readEvidence({ path: "x", text })).map((issue) => issue.replace(/^\S+ /, ""))).toEqual([
      'the name of a NodeNetworkState "N 1" is no name: lower case letters, digits, - and . only',
      '"10.0.0.01" has a leading zero, which some programs read as octal',
      '"10.0.0.2/24" is not an IP address',
    ]);
  });
});

describe("readEvidence compares addresses by value, however nmstate lets them be written:", () => {
  it.each([
    ["64:ff9b::192.0.2.1", "64:ff9b::c000:201"],
    ["2001:DB8::000A", "2001:db8::a"],
    ["FE80::1", undefined],
    ["fe80:0:0:0:0:0:0:1", undefined],
    ["0:0:0:0:0:0:0:1", undefined],
    ["::0.0.0.1", undefined],
    ["127.1.2.3", undefined],
  ])("%s is %s", (ip, value) => {
    const { uses } = readEvidence({ path: "x", text: JSON.stringify(stateOf("n", `eth1 ${ip}`)) });
    expect(uses.map((use) => formatAddress(use.address))).toEqual(value === undefined ? [] : [value]);
  });
});

describe("readEvidence refuses a NodeNetworkState that may hide an address:", () => {
  const entry = { ip: "10.0.0.1", "prefix-length": 24 };
  const rows: [what: string, nic: unknown, field: string, says: string][] = [
    [
      "a misspelt list",
      { ipv4: { enabled: true, addresess: [entry] } },
      "ipv4",
      "ipv4 of interface eth1 has a list that is not called address",
    ],
    ["a list and another", { ipv4: { enabled: true, address: [], addresses: [entry] } }, "ipv4", "not called address"],
    ["a misspelt list beside DHCP", { ipv4: { dhcp: true, addresess: [entry] } }, "ipv4", "not called address"],
    ["a mapping for a list", { ipv6: { enabled: true, address: entry } }, "address", "must have a list of addresses"],
    ["null for a list", { ipv4: { enabled: true, address: null } }, "address", "must have a list of addresses"],
    [
      "text in the list",
      { ipv4: { enabled: true, address: ["10.0.0.1/24"] } },
      "address",
      "is not {ip, prefix-length}",
    ],
    ["no ip", { ipv4: { enabled: true, address: [{ IP: "10.0.0.1" }] } }, "address", "is not {ip, prefix-length}"],
    ["no length", { ipv4: { enabled: true, address: [{ ip: "10.0.0.1" }] } }, "address", "is not {ip, prefix-length}"],
    ["a list for a family", { ipv4: [entry] }, "ipv4", "ipv4 of interface eth1 must be a mapping"],
  ];
  const dumpOf = (nic: unknown) => {
    const first = { ...nicOf("eth0 192.0.2.1"), ipv6: { enabled: false } };
    const state = stateOf("n");
    return { ...state, status: { currentState: { interfaces: [first, { name: "eth1", ...(nic as object) }] } } };
  };
  it.each(rows)("%s", (_, nic, field, says) => {
    for (const text of [stringify(dumpOf(nic)), JSON.stringify(dumpOf(nic), null, 1)]) {
      const [issue = "", ...more] = issuesOf(() => readEvidence({ path: "x", text }));
      expect(more).toEqual([]);
      expect(issue).toContain("node n: ");
      expect(issue).toContain(says);
      const line = Number(issue.split(":")[0]);
      const near = text
        .split("\n")
        .slice(line - 2, line)
        .join();
      expect(near).toContain(field);
      expect(line).toBeGreaterThan(text.split("192.0.2.1")[0]?.split("\n").length ?? 0);
    }
  });

  it.each([
    ["interfaces that are no list", { interfaces: { eth1: {} } }],
    ["an interface without a name", { interfaces: [{ ipv4: { enabled: false } }] }],
    ["an interface that is text", { interfaces: ["eth1"] }],
  ])("%s", (_, currentState) => {
    const text = stringify({ ...stateOf("n"), status: { currentState } });
    expect(issuesOf(() => readEvidence({ path: "x", text }))).toHaveLength(1);
  });

  it.each([
    ["a family that is off", { ipv4: { enabled: false }, ipv6: { enabled: false } }],
    ["a family that waits for DHCP or a router", { ipv4: { enabled: true, dhcp: true }, ipv6: { autoconf: true } }],
    ["a port, which has no family", { type: "ethernet", controller: "br0" }],
    ["a NIC without a link, whose address comes back with it", { state: "down", ipv4: { enabled: true, dhcp: false } }],
    ["one that lost its link a moment ago", { state: "up", ipv6: { enabled: true, dhcp: false, autoconf: false } }],
  ])("but not %s", (_, nic) => {
    expect(said(JSON.stringify(dumpOf(nic)))).toContain("all of Node/n");
  });
});

describe("readEvidence of policies", () => {
  const onHost = (value: string) => ({ [hostnameLabel]: value });
  const known = [
    node("n", { [hostnameLabel]: "n.example.net", rack: "a" }),
    node("m", { [hostnameLabel]: "m.example.net", rack: "a" }),
    node("o", { [hostnameLabel]: "o.example.net", rack: "b" }),
  ];

  it.each<[string, object, readonly ClusterNode[], string[]]>([
    ["without nodes a hostname is a name", policyOf(onHost("n"), "eth1 10.0.0.1"), [], ["10.0.0.1 Node/n eth1"]],
    [
      "the value of the label says which node",
      policyOf(onHost("n.example.net"), "eth1 10.0.0.1"),
      known,
      ["10.0.0.1 Node/n eth1"],
    ],
    [
      "a rendered policy says which part of a hostname is the name",
      { ...policyOf(onHost("p.example.net"), "eth1 10.0.0.1"), metadata: { labels: { [childLabels.node]: "p" } } },
      known,
      ["10.0.0.1 Node/p eth1"],
    ],
    [
      "but not what another host is called",
      { ...policyOf(onHost("q.example.net"), "eth1 10.0.0.1"), metadata: { labels: { [childLabels.node]: "p" } } },
      [],
      ["10.0.0.1 Node/q.example.net eth1"],
    ],
    ["a node that is not known", policyOf(onHost("new"), "eth1 10.0.0.1"), known, ["10.0.0.1 Node/new eth1"]],
    ["other labels", policyOf({ rack: "a" }, "eth1 10.0.0.1"), known, ["10.0.0.1 Node/n eth1", "10.0.0.1 Node/m eth1"]],
    ["no node", policyOf({ rack: "c" }, "eth1 10.0.0.1"), known, []],
    [
      "no selector",
      policyOf(undefined, "eth1 10.0.0.1"),
      [node("n"), node("m")],
      ["10.0.0.1 Node/n eth1", "10.0.0.1 Node/m eth1"],
    ],
    ["no literal address, and nobody asks for whom", policyOf({ rack: "a" }, "eth1", "eth2 {{x}} $IP fe80::1"), [], []],
    [
      "what is taken away or turned off",
      policyOf(
        onHost("n"),
        { ...nicOf("eth1 10.0.0.1"), state: "absent" },
        { name: "eth2", ipv4: { ...nicOf("x 10.0.0.2").ipv4, enabled: false } },
      ),
      [],
      [],
    ],
  ])("%s", (_, policy, nodes, expected) => {
    expect(said(JSON.stringify(policy), nodes)).toEqual(expected);
    expect(said(stringify(policy), nodes)).toEqual(expected);
  });

  it("says where in JSON that kubectl applied", () => {
    const policy = policyOf(onHost("n"), "eth1 10.0.0.1");
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify(policy) };
    const text = JSON.stringify({ ...policy, metadata: { name: "p", annotations } }, null, 1);
    expect(said(text)).toEqual(["10.0.0.1 Node/n eth1"]);
    expect(readEvidence({ path: "x", text }).uses[0]?.at.line).toBeGreaterThan(6);
  });

  it.each([[[]], [[node("n")]]])("refuses a policy whose nodes are not known", (nodes) => {
    const text = stringify(policyOf({ rack: "a" }, "eth1 10.0.0.1"));
    expect(issuesOf(() => readEvidence({ path: "x", text }, nodes))).toEqual([
      "15:19 this address is configured, but for whom is not known",
    ]);
  });

  it("reads the proposal's unquoted templates as templates", () => {
    const text = stringify(policyOf(onHost("n"), "eth1 TEMPLATE 10.0.0.1")).replace("TEMPLATE", "{{ capture.a.ip }}");
    expect(said(text)).toEqual(["10.0.0.1 Node/n eth1"]);
  });
});

describe("readEvidence of CSV", () => {
  it.each<[string, string, string[]]>([
    ["plain", "n,eth1,10.0.0.1\nm,eth1,2001:db8::1\n", ["1:8 10.0.0.1 Node/n eth1", "2:8 2001:db8::1 Node/m eth1"]],
    ["a header", "node,interface,address\nn,eth1,10.0.0.1", ["2:8 10.0.0.1 Node/n eth1"]],
    ["another order", "Address, Node, Interface\n10.0.0.1, n, eth1", ["2:1 10.0.0.1 Node/n eth1"]],
    ["a prefix length", "n,eth1,10.0.0.1/24", ["1:8 10.0.0.1 Node/n eth1"]],
    ["comments and blank lines", "# fleet\r\n\r\n  \nn,eth1,10.0.0.1 # old\r\n", ["4:8 10.0.0.1 Node/n eth1"]],
    ["quotes", '"n","eth1", "10.0.0.1"', ["1:13 10.0.0.1 Node/n eth1"]],
  ])("%s", (_, text, expected) => {
    const { uses, nodes } = readEvidence({ path: "fleet", text });
    expect([uses.map(shownUse), nodes.size]).toEqual([expected, 0]);
  });

  const parts = "a line is node,interface,address, without commas or quotes inside; this one has";
  it.each<[string, string, string[]]>([
    ["too few", "n,eth1", [`1:1 ${parts} 2 parts`]],
    ["too many", "n,eth1,10.0.0.1,x", [`1:1 ${parts} 4 parts`]],
    ["a quoted comma", 'n,"a,b",10.0.0.1', [`1:1 ${parts} 4 parts`]],
    [
      "an unknown header",
      "Host,nic,ip\nn,eth1,10.0.0.1",
      ["1:1 the columns are node,interface,address or vm,network,address, not host,nic,ip"],
    ],
    [
      "a header of two columns",
      "node,ipv4 address\nn,10.0.0.1",
      ["1:1 the columns are node,interface,address or vm,network,address, not node,ipv4 address"],
    ],
    ["no address", "n,eth1,", ['1:8 "" is not an IP address']],
    [
      "a bad prefix length",
      "n,eth1,10.0.0.1/33",
      ['1:8 "10.0.0.1/33" has a prefix length that is not a number from 0 to 32'],
    ],
    ["octal", "n,eth1,010.0.0.1", ['1:8 "010.0.0.1" has a leading zero, which some programs read as octal']],
    ["no NIC", "n,,10.0.0.1", ["1:3 this line names no interface"]],
    ["no node", ",eth1,10.0.0.1", ["1:1 the name of a node is missing"]],
    [
      "everything at once",
      "N,,x\nn,eth1,10.0.0.1\nn",
      [
        '1:1 the name of a node "N" is no name: lower case letters, digits, - and . only',
        "1:3 this line names no interface",
        '1:4 "x" is not an IP address',
        `3:1 ${parts} 1 part`,
      ],
    ],
    ["nothing but a header", "node,interface,address\n", ["fleet.csv shows nobody's addresses"]],
  ])("%s", (_, text, expected) => {
    expect(issuesOf(() => readEvidence({ path: "fleet.csv", text }))).toEqual(expected);
  });
});

it.each([
  ["nothing", ""],
  ["another kind", stringify({ apiVersion: "v1", kind: "ConfigMap" })],
  ["names", "n\nm\n"],
  ["broken JSON", '{"a":'],
])("readEvidence refuses %s", (_, text) => {
  expect(issuesOf(() => readEvidence({ path: "x", text }))).toEqual(["x shows nobody's addresses"]);
});

it.each([
  ["an alias", "kind: NodeNetworkState\na: &x 1\nb: *x\n", /^3:4 YAML aliases are not allowed here$/],
  ["broken YAML", "kind: NodeNetworkState\na: [1\n", /^3:1 Flow sequence/],
  ["large YAML", `kind: NodeNetworkState\n#${"x".repeat(8 << 20)}`, /^1:1 this YAML is larger than 8 MiB$/],
])("readEvidence refuses %s", (_, text, message) => {
  expect(issuesOf(() => readEvidence({ path: "x", text }))).toEqual([expect.stringMatching(message)]);
});
