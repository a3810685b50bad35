import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { formatAddress } from "../../../src/core/address.ts";
import type { Use } from "../../../src/core/audit.ts";
import { IpamError, type Place } from "../../../src/core/errors.ts";
import { findUses } from "../../../src/schema/find-addresses.ts";
import { type ClusterNode, hostnameLabel } from "../../../src/schema/node.ts";
import { readEvidence } from "../../../src/schema/uses.ts";
import { addressArb } from "../../support/core-arbitrary.ts";
import { poolOf } from "../../support/core-text.ts";

/** `line:column address owner NIC` */
function shownUse({ address, owner, interface: nic, at }: Use): string {
  return [`${at.line}:${at.column}`, formatAddress(address), owner, nic].filter(Boolean).join(" ");
}

/** The word that stands at a place. */
function wordAt(text: string, at: Place | undefined): string | undefined {
  const line = text.split("\n")[(at?.line ?? 0) - 1] ?? "";
  return /^"?([^\s",]*)/.exec(line.slice((at?.column ?? 0) - 1))?.[1];
}

/** Uses, each of which must point to its address. */
function pointed(text: string, uses: readonly Use[]): string[] {
  expect(uses.map(({ at }) => wordAt(text, at))).toEqual(uses.map(({ address }) => formatAddress(address)));
  return uses.map((use) => shownUse(use).replace(/^\S+ /, ""));
}

function issuesOf(run: () => unknown): string[] {
  try {
    run();
    return [];
  } catch (error) {
    if (!(error instanceof IpamError)) throw error;
    expect(error.code).toBe("invalid");
    return error.issues.map(({ message, at }) => (at === undefined ? message : `${at.line}:${at.column} ${message}`));
  }
}

/** `eth1 10.0.0.1 10.0.0.2`: a NIC and its addresses. */
function nicOf(text: string) {
  const [name, ...ips] = text.split(" ");
  const address = (wanted: boolean) => ({
    enabled: true,
    address: ips.filter((ip) => ip.includes(":") === wanted).map((ip) => ({ ip, "prefix-length": 24 })),
  });
  return { name, type: "ethernet", ipv4: address(false), ipv6: address(true) };
}

function stateOf(node: string, ...nics: string[]) {
  const currentState = { "dns-resolver": { running: { server: ["10.0.0.9"] } }, interfaces: nics.map(nicOf) };
  return {
    apiVersion: "nmstate.io/v1beta1",
    kind: "NodeNetworkState",
    metadata: { name: node },
    status: { currentState },
  };
}

function policyOf(nodeSelector: Record<string, string> | undefined, ...nics: unknown[]) {
  const desiredState = { interfaces: nics.map((nic) => (typeof nic === "string" ? nicOf(nic) : nic)) };
  return {
    apiVersion: "nmstate.io/v1",
    kind: "NodeNetworkConfigurationPolicy",
    metadata: { name: "p" },
    spec: { ...(nodeSelector && { nodeSelector }), desiredState },
  };
}

function node(name: string, labels?: Record<string, string>): ClusterNode {
  return { name, labels: new Map(Object.entries(labels ?? { [hostnameLabel]: name })), bare: labels === undefined };
}

/** What the evidence says; every use points to its address in the text. */
function said(text: string, nodes?: readonly ClusterNode[]): string[] {
  const evidence = readEvidence({ path: "evidence", text }, nodes);
  return [...pointed(text, evidence.uses), ...[...evidence.nodes].map((owner) => `all of ${owner}`)];
}

const list = (...items: unknown[]) => ({ apiVersion: "v1", kind: "List", items });

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
    ["JSON documents one after the other", two.map((one) => JSON.stringify(one, null, 4)).join("\n")],
    ["a JSON array", JSON.stringify(two)],
    ["JSON parted by ---", two.map((one) => JSON.stringify(one)).join("\n---\n")],
    ["a YAML List", stringify(list(...two))],
    ["YAML documents", two.map((one) => stringify(one)).join("---\n")],
    [
      "with others between them",
      [list(two[0]), { kind: "ConfigMap" }, two[1]].map((one) => stringify(one)).join("---\n"),
    ],
  ])("%s", (_, text) => {
    expect(said(text)).toEqual(all);
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

  it("refuses what no handler writes", () => {
    const text = stringify(list(stateOf("N 1", "eth1 10.0.0.1"), stateOf("m", "eth1 10.0.0.01 10.0.0.2/24")));
    expect(issuesOf(() => readEvidence({ path: "x", text })).map((issue) => issue.replace(/^\S+ /, ""))).toEqual([
      'the name of a NodeNetworkState "N 1" is no name: lower case letters, digits, - and . only',
      '"10.0.0.01" has a leading zero, which some programs read as octal',
      '"10.0.0.2/24" is not an IP address',
    ]);
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
      "15:19 a policy configures this address, but which nodes it selects is not known",
    ]);
  });

  it("reads the seed's unquoted templates as templates", () => {
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
    ["an unknown header", "host,nic,ip\nn,eth1,10.0.0.1", ['1:10 "ip" is not an IP address']],
    ["no address", "n,eth1,", ['1:8 "" is not an IP address']],
    [
      "a bad prefix length",
      "n,eth1,10.0.0.1/33",
      ['1:8 "10.0.0.1/33" has a prefix length that is not a number from 0 to 32'],
    ],
    ["octal", "n,eth1,010.0.0.1", ['1:8 "010.0.0.1" has a leading zero, which some programs read as octal']],
    ["no NIC", "n,,10.0.0.1", ["1:3 this line names no interface"]],
    ["no node", ",eth1,10.0.0.1", ["1:1 a node's name is missing"]],
    [
      "everything at once",
      "N,,x\nn,eth1,10.0.0.1\nn",
      [
        '1:1 a node\'s name "N" is no name: lower case letters, digits, - and . only',
        "1:3 this line names no interface",
        '1:4 "x" is not an IP address',
        `3:1 ${parts} 1 parts`,
      ],
    ],
    ["nothing but a header", "node,interface,address\n", ["fleet.csv shows no node's addresses"]],
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
  expect(issuesOf(() => readEvidence({ path: "x", text }))).toEqual(["x shows no node's addresses"]);
});

it.each([
  ["an alias", "kind: NodeNetworkState\na: &x 1\nb: *x\n", /^1:1 this YAML cannot be read/],
  ["broken YAML", "kind: NodeNetworkState\na: [1\n", /^3:1 Flow sequence/],
  ["large YAML", `kind: NodeNetworkState\n#${"x".repeat(8 << 20)}`, /^1:1 this YAML is larger than 8 MiB$/],
])("readEvidence refuses %s", (_, text, message) => {
  expect(issuesOf(() => readEvidence({ path: "x", text }))).toEqual([expect.stringMatching(message)]);
});

describe("findUses", () => {
  const four = poolOf("four", "10.0.0.0/24 10.0.0.1 10.0.0.20");
  const six = poolOf("six", "2001:db8::/64");
  const found = (text: string, nodes: readonly ClusterNode[] = [], pools = [four, six]) =>
    findUses([{ path: "x", text }], pools, nodes).uses.map(shownUse);

  it.each<[string, string[]]>([
    ["a: 10.0.0.1", ["1:4 10.0.0.1"]],
    ["a: 10.0.0.1/24, b: 10.0.0.20/32", ["1:4 10.0.0.1", "1:20 10.0.0.20"]],
    ['{"a":"10.0.0.1:8080"}', ["1:7 10.0.0.1"]],
    [
      "{{ .Values.x | default 10.0.0.1 }}\n{{- if }}\n  - 10.0.0.2-10.0.0.3",
      ["1:24 10.0.0.1", "3:5 10.0.0.2", "3:14 10.0.0.3"],
    ],
    ["see 10.0.0.1.", ["1:5 10.0.0.1"]],
    ["http://10.0.0.1/x?y=10.0.0.2&z", ["1:8 10.0.0.1", "1:21 10.0.0.2"]],
    ["\n\n  x\n---\n\na: 10.0.0.1", ["6:4 10.0.0.1"]],
    ["ip=2001:db8::1, [2001:DB8:0::2]:80", ["1:4 2001:db8::1", "1:18 2001:db8::2"]],
    ["2001:db8::1: x\n2001:db8::2/64", ["1:1 2001:db8::1", "2:1 2001:db8::2"]],
    ["::ffff:10.0.0.1", ["1:8 10.0.0.1"]],
    // not addresses, not in a pool, not said
    ["10.0.0.21 192.0.2.1 2001:db9::1", []],
    ["1.10.0.0.1 10.0.0.1.2 v10.0.0.1 10.0.0.1a 10.0.0.1.example.net 10.0.0.001 10.0.0.1000", []],
    ["2001:db8::1g x2001:db8::1 2001:db8:::1 2001:db8 52:54:00:12:34:56 12:30:00", []],
    ["10.0.0.16/28 10.0.0.0/24 2001:db8::/64 2001:db8::8/125", []],
    ["# 10.0.0.1\na: 1 # 10.0.0.2\n  # 10.0.0.3", []],
    ["a: b#10.0.0.2", ["1:6 10.0.0.2"]],
    ['{"a": "# 10.0.0.1"}', ["1:10 10.0.0.1"]],
  ])("%j", (text, expected) => {
    expect(found(text)).toEqual(expected);
  });

  it("finds every address of a pool, however it is written, and no other", () => {
    fc.assert(
      fc.property(fc.array(addressArb, { maxLength: 5 }), (addresses) => {
        const wide = [poolOf("four", "0.0.0.0/0"), poolOf("six", "::/0", { gateway: "::1" })];
        const text = addresses.map((address) => `- ${formatAddress(address)}\n`).join("");
        const isInside = (text: string) => text !== "0.0.0.0" && text !== "255.255.255.255" && text !== "::";
        expect(found(text, [], wide).map((use) => use.split(" ")[1])).toEqual(
          addresses.map(formatAddress).filter(isInside),
        );
      }),
    );
  });

  const pool = `apiVersion: nmstate.io/v1\nkind: NodeIPPool\nmetadata: {name: four}\nspec: {range: {cidr: 10.0.0.0/24, start: 10.0.0.1, end: 10.0.0.20}}\n`;
  const configMap = { apiVersion: "v1", kind: "ConfigMap", data: { a: "10.0.0.2", b: "10.0.0.8" } };
  const policy = policyOf({ [hostnameLabel]: "n" }, "eth1 10.0.0.2 172.16.0.1");
  it.each<[string, string, string[]]>([
    ["pools mention nothing", pool, []],
    ["other documents of the file do", `${pool}---\na: 10.0.0.1\n`, ["10.0.0.1"]],
    ["a policy's addresses have an owner", stringify(policy), ["10.0.0.2 Node/n eth1"]],
    [
      "other addresses of a policy are mentions",
      stringify({ ...policy, routes: "10.0.0.5" }),
      ["10.0.0.2 Node/n eth1", "10.0.0.5"],
    ],
    [
      "a policy for nodes that are not known is a mention",
      stringify(policyOf({ rack: "a" }, "eth1 10.0.0.2")),
      ["10.0.0.2"],
    ],
    ["NodeNetworkStates mention nothing", stringify(stateOf("n", "eth1 10.0.0.2")), ["10.0.0.2 Node/n eth1"]],
    [
      "others in the same List do",
      JSON.stringify(list(stateOf("n", "eth1 10.0.0.2"), configMap), null, 1),
      ["10.0.0.2 Node/n eth1", "10.0.0.8"],
    ],
    ["a policy in a Helm template is text", `{{ if x }}\n${stringify(policy)}{{ end }}`, ["10.0.0.2"]],
  ])("%s", (_, text, expected) => {
    expect(pointed(text, findUses([{ path: "x", text }], [four], []).uses)).toEqual(expected);
  });

  it("tells whose whole state it read, also of those without an address of a pool", () => {
    const text = stringify(list(stateOf("n", "eth1"), stateOf("m", "eth1 192.0.2.1")));
    for (const form of [text, JSON.stringify(list(stateOf("n", "eth1"), stateOf("m")).items)])
      expect([...findUses([{ path: "x", text: form }], [four], []).nodes][0]).toBe("Node/n");
  });

  it("refuses a NodeNetworkState that cannot be read: half of it would look clean", () => {
    expect(issuesOf(() => found("kind: NodeNetworkState\nstatus: [\n"))).toHaveLength(1);
  });

  it("is linear in hostile lines", () => {
    const size = 1 << 20;
    const lines = [
      "1",
      "1.",
      "10.0.0.1 ",
      "a",
      ":",
      "a:",
      "2001:db8::",
      " #",
      '"',
      "[",
      "- ",
      "}\n{",
      "\n",
      " \n",
      "10.0.0.1 # ",
    ];
    const started = performance.now();
    for (const line of lines) {
      found(`${line.repeat(size / line.length)}10.0.0.1`);
      found(`"kind": "ConfigMap", NodeIPPoolX ${line.repeat(size / line.length)}`);
    }
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});
