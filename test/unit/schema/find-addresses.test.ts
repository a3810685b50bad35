import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { formatAddress } from "../../../core/address.ts";
import { findUses } from "../../../pipeline/find-uses.ts";
import { hostnameLabel } from "../../../schema/node.ts";
import { addressArb } from "../../support/core/arbitrary.ts";
import { expectLinear } from "../../support/core/linear.ts";
import { poolOf } from "../../support/core/text.ts";
import { issuesOf, list, nicOf, pointed, policyOf, shownUse, stateOf } from "../../support/schema/uses.ts";

describe("findUses", () => {
  const four = poolOf("four", "10.0.0.0/24 10.0.0.1 10.0.0.20");
  const six = poolOf("six", "2001:db8::/64");
  const found = (text: string, pools = [four, six]) => findUses([{ path: "x", text }], pools, []).uses.map(shownUse);

  it.each<[string, string[]]>([
    ["a: 10.0.0.1", ["1:4 10.0.0.1"]],
    ["a: 10.0.0.1/24, b: 10.0.0.20/32", ["1:4 10.0.0.1", "1:20 10.0.0.20"]],
    ['{"a":"10.0.0.1:8080"}', ["1:7 10.0.0.1"]],
    [
      "{{ .Values.x | default 10.0.0.1 }}\n{{- if }}\n  - 10.0.0.2-10.0.0.3",
      ["1:24 10.0.0.1", "3:5 10.0.0.2", "3:14 10.0.0.3"],
    ],
    ["--- # a, b\na: 10.0.0.1", ["2:4 10.0.0.1"]],
    ["- a, 10.0.0.1\n- b", ["1:6 10.0.0.1"]],
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
    // a # in a string or a block scalar begins no comment
    ['script: | # 10.0.0.1\n  X="a #b" ip addr add 10.0.0.5/24\n# 10.0.0.6\n', ["2:24 10.0.0.5"]],
    ["a:\n- >-\n  # 10.0.0.5\n\n  b\n- c # 10.0.0.6\n", ["3:5 10.0.0.5"]],
    ['y: "color #fff 10.0.0.6" # 10.0.0.7', ["1:16 10.0.0.6"]],
    ["y: 'it''s\n  # 10.0.0.6' # 10.0.0.7", ["2:5 10.0.0.6"]],
    ['x: {y: "a # 10.0.0.6", # 10.0.0.7\n z: 10.0.0.8}', ["1:13 10.0.0.6", "2:5 10.0.0.8"]],
    ["a: b # 10.0.0.1\r\nc: |\r\n  # 10.0.0.2\r\n", ["3:5 10.0.0.2"]],
    // nor is a text without YAML without comments
    ["{{- if .a }} # 10.0.0.1\nb: {{ .c }} # 10.0.0.2\n{{- end }}\nd: 10.0.0.3", ["4:4 10.0.0.3"]],
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
        expect(found(text, wide).map((use) => use.split(" ")[1])).toEqual(
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
      "a policy for nodes that are not known has its addresses itself",
      stringify(policyOf({ rack: "a" }, "eth1 10.0.0.2")),
      ["10.0.0.2 NodeNetworkConfigurationPolicy/p eth1"],
    ],
    [
      "a NIC that goes uses nothing",
      stringify(policyOf({ [hostnameLabel]: "n" }, { ...nicOf("eth1 10.0.0.2"), state: "absent" }, "eth2 10.0.0.3")),
      ["10.0.0.3 Node/n eth2"],
    ],
    [
      "nor does a family that is off",
      stringify(
        policyOf({ [hostnameLabel]: "n" }, { name: "eth1", ipv4: { ...nicOf("eth1 10.0.0.2").ipv4, enabled: false } }),
      ),
      [],
    ],
    [
      "in whatever words",
      stringify(
        policyOf({ [hostnameLabel]: "n" }, { name: "eth1", ipv4: { ...nicOf("eth1 10.0.0.2").ipv4, enabled: "Off" } }),
      ),
      [],
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

  it("takes an alias in a policy for what it stands for", () => {
    const nics = "[{name: eth1, ipv4: &a {enabled: true, address: [{ip: 10.0.0.2}]}}, {name: eth2, ipv4: *a}]";
    const text = `kind: NodeNetworkConfigurationPolicy\nmetadata: {name: p}\nspec:\n  nodeSelector: {${hostnameLabel}: n}\n  desiredState:\n    interfaces: ${nics}`;
    const { uses } = findUses([{ path: "x", text }], [four], []);
    expect(uses.map((use) => [use.owner, use.interface, use.at.line])).toEqual([
      ["Node/n", "eth1", 6],
      ["Node/n", "eth2", 6],
    ]);
  });

  it("tells whose whole state it read, also of those without an address of a pool", () => {
    const text = stringify(list(stateOf("n", "eth1"), stateOf("m", "eth1 192.0.2.1")));
    for (const form of [text, JSON.stringify(list(stateOf("n", "eth1"), stateOf("m")).items)])
      expect([...findUses([{ path: "x", text: form }], [four], []).nodes.keys()][0]).toBe("Node/n");
  });

  it.each([
    [stringify({ ...policy, kind: "NodeNetworkConfigurationPolcy" }), "2:7"],
    [JSON.stringify(list({ ...policy, kind: "NodeNetworkConfigurationPolcy" })), "1:81"],
  ])("refuses a kind that is nearly ours: its addresses would be mentions", (text, place) => {
    expect(issuesOf(() => found(text))).toEqual([
      `${place} unknown kind NodeNetworkConfigurationPolcy; did you mean NodeNetworkConfigurationPolicy?`,
    ]);
  });

  it("refuses a part of a list of policies or of states", () => {
    const text = JSON.stringify({ ...list(policy), metadata: { continue: "x" } });
    expect(issuesOf(() => found(text))).toEqual([expect.stringMatching(/^1:1 this list is cut off/)]);
  });

  it("refuses a NodeNetworkState that cannot be read: half of it would look clean", () => {
    expect(issuesOf(() => found("kind: NodeNetworkState\nstatus: [\n"))).toHaveLength(1);
  });

  it.each([
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
  ])("is linear in %j", (line) => {
    const lines = (size: number) => line.repeat(size / line.length);
    expectLinear(
      (size) => `${lines(size)}10.0.0.1`,
      (text) => found(text),
    );
    expectLinear(
      (size) => `"kind": "ConfigMap", NodeIPPoolX ${lines(size)}`,
      (text) => found(text),
    );
  });
});
