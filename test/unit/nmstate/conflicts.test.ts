import { describe, expect, it } from "vitest";
import { unwrap } from "../../../core/errors.ts";
import { plan } from "../../../core/plan/plan.ts";
import { nmstate } from "../../../integrations/nmstate/plan.ts";
import { readFolder } from "../../../pipeline/folder.ts";
import { applyPlan } from "../../../state/apply.ts";
import { recordOf } from "../../support/core/text.ts";
import { documentsOf, nicPolicyText, nodesOf, policyText, poolText, sourcesOf } from "../../support/schema/text.ts";

const pools = documentsOf(
  poolText(),
  poolText("  range: {cidr: 10.1.0.0/24}", "q"),
  poolText("  range: {cidr: 2001:db8::/64}", "six"),
);
const on = (nodes: string) => `  nodeSelector: {kubernetes.io/hostname: ${nodes}}\n`;

/** What is in conflict once these policies have their addresses, beside these lines; `withBefore`: also by what was recorded before. */
function conflicts(policies: readonly string[], lines: readonly string[] = [], withBefore = false): string[] {
  const manifests = readFolder(sourcesOf(documentsOf(pools, ...policies)));
  const facts = { nodes: nodesOf("n1\nn2"), pools: new Map(manifests.pools.map((pool) => [pool.name, pool])) };
  const model = unwrap(nmstate.read(manifests));
  const before = recordOf(lines, manifests.pools);
  const claims = nmstate.claims(model, facts);
  const proposed = plan({ pools: manifests.pools, claims, snapshot: before });
  const snapshot = applyPlan(before, proposed) ?? before;
  const holdings = { snapshot, set: "default", ...(withBefore && { before }) };
  return (nmstate.conflicts?.(model, facts, claims, holdings) ?? []).map(({ message }) => message);
}

describe("one address list of a NIC", () => {
  it("has addresses of two policies: each would remove the other's", () => {
    expect(conflicts([nicPolicyText("a"), nicPolicyText("b", ["q"])])).toEqual([
      expect.stringMatching(/^policies a and b both set the IPv4 addresses of eth1 on .*n1; nmstate replaces the/),
    ]);
  });

  it.each([
    ["the same NIC, family and node", "10.0.0.9 Node/n1/z/x if=eth1 set=other", 1],
    ["another NIC", "10.0.0.9 Node/n1/z/x if=eth2 set=other", 0],
    ["another family", "2001:db8::9 Node/n1/z/x if=eth1 set=other pool=six", 0],
    ["another node", "10.0.0.9 Node/n9/z/x if=eth1 set=other", 0],
    ["nobody knows which NIC", "10.0.0.9 Node/n1/z/x set=other", 0],
    ["what an import recorded", "10.0.0.9 Node/n1/imported/10.0.0.9 if=eth1 set=imported", 0],
  ])("beside a line of another claim set: %s", (_, line, count) => {
    expect(conflicts([nicPolicyText("a")], [line])).toHaveLength(count);
  });

  it("names every pair, once", () => {
    const issues = conflicts([
      nicPolicyText("a"),
      nicPolicyText("b", ["q"]),
      nicPolicyText("c", ["p"], "eth2"),
      nicPolicyText("d", ["q"], "eth2"),
    ]);
    expect(issues.map((issue) => issue.slice(0, 16))).toEqual(["policies a and b", "policies c and d"]);
  });

  it.each([
    ["another NIC", [nicPolicyText("a"), nicPolicyText("b", ["q"], "eth2")]],
    ["another family", [nicPolicyText("a"), nicPolicyText("b", ["six"])]],
    ["another node", [nicPolicyText("a", ["p"], "eth1", on("n1")), nicPolicyText("b", ["q"], "eth1", on("n2"))]],
    ["one policy, two pools", [nicPolicyText("a", ["p", "q"])]],
    ["two policies, one pool", [nicPolicyText("a"), nicPolicyText("b", ["p"], "eth2")]],
  ])("%s is fine", (_, policies) => {
    expect(conflicts(policies)).toEqual([]);
  });

  it.each([
    ["dhcp: true", "ipv4: {enabled: true, dhcp: true}", 1],
    ["state: absent", "state: absent", 1],
    ["an address of its own", "ipv4: {enabled: true, address: [{ip: 10.9.0.1, prefix-length: 24}]}", 1],
    ["the very address of the record", "ipv4: {enabled: true, address: [{ip: 10.0.0.1, prefix-length: 24}]}", 0],
    ["nothing of addresses", "mtu: 9000", 0],
    ["the other family alone", "ipv6: {enabled: false}", 0],
  ])("beside a policy by hand with %s", (_, text, count) => {
    const hand = policyText(`${on("n1")}  desiredState:\n    interfaces:\n    - {name: eth1, ${text}}`, "hand");
    expect(conflicts([nicPolicyText("a", ["p"], "eth1", on("n1")), hand])).toHaveLength(count);
  });
});

describe("a policy that gives an address to another NIC", () => {
  const moved = "policy a gives the address of eth1 to eth2, and nothing takes it off eth1 (n1)";
  const besides = (entry: string) =>
    nicPolicyText("a", ["p"], "eth2", on("n1")).replace("    interfaces:\n", `    interfaces:\n    - ${entry}\n`);
  const hand = (entry: string) => policyText(`${on("n1")}  desiredState:\n    interfaces:\n    - ${entry}`, "hand");
  const a = nicPolicyText("a", ["p"], "eth2", on("n1"));
  const onEth1 = "10.0.0.1 Node/n1/a/p if=eth1";
  it.each<[string, string[], string[], string[]]>([
    ["and does not mention the old NIC", [a], [onEth1], [moved]],
    ["releasing there", [a], [`${onEth1} releasing`], [moved]],
    [
      "and the old NIC is the one below its VLAN",
      [besides("{name: eth3, type: vlan, vlan: {base-iface: eth1, id: 2}}")],
      [onEth1],
      [moved],
    ],
    ["and has the other family off", [besides("{name: eth1, ipv6: {enabled: false}}")], [onEth1], [moved]],
    ["and turns the old one off", [besides("{name: eth1, ipv4: {enabled: false}}")], [onEth1], []],
    ["and says that the old one is absent", [besides("{name: eth1, type: ethernet, state: absent}")], [onEth1], []],
    ["and ignores the old one", [besides("{name: eth1, state: ignore}")], [onEth1], []],
    [
      "and the old one is a port",
      [besides("{name: br1, type: linux-bridge, bridge: {port: [{name: eth1}]}}")],
      [onEth1],
      [],
    ],
    ["and another policy turns the old one off", [a, hand("{name: eth1, ipv4: {enabled: false}}")], [onEth1], []],
    ["and another policy has the old one now", [a, nicPolicyText("b", ["q"], "eth1", on("n1"))], [onEth1], []],
    [
      "and that one is found by its MAC address",
      [a.replace("state: up", "state: up\n      identifier: mac-address\n      mac-address: 02:00:00:00:00:01")],
      [onEth1],
      [],
    ],
    ["and it was on that one before", [a], ["10.0.0.1 Node/n1/a/p if=eth2"], []],
    ["and it is not known where it was", [a], ["10.0.0.1 Node/n1/a/p"], []],
    ["and it is another node's", [a], ["10.0.0.1 Node/n2/a/p if=eth1"], []],
  ])("%s", (_, policies, lines, expected) => expect(conflicts(policies, lines, true)).toEqual(expected));

  it("is right once that is recorded", () => expect(conflicts([a], [onEth1])).toEqual([]));
});

describe("a policy of the name in another claim set", () => {
  const has = (what: string) => `policy a has addresses in claim set b, too: ${what}`;
  it.each<[string, string[], string[]]>([
    ["on the same node", ["10.0.0.9 Node/n1/a/y if=eth2 set=b"], [has("10.0.0.9 of n1")]],
    ["releasing", ["10.0.0.9 Node/n1/a/y if=eth2 set=b releasing"], [has("10.0.0.9 of n1")]],
    [
      "on several nodes",
      ["10.0.0.8 Node/n1/a/y if=eth2 set=b", "10.0.0.9 Node/n2/a/y if=eth2 set=b"],
      [has("10.0.0.8 of n1 and 1 more")],
    ],
    ["of a program, whose claims are those of no policy", ["10.0.0.9 Node/n1/a set=b"], []],
    ["on other nodes", ["10.0.0.9 Node/n9/a/x set=b"], []],
    ["of another name", ["10.0.0.8 Node/n1/aa/x set=b", "10.0.0.9 Node/n1/b/a set=b"], []],
  ])("%s", (_, lines, expected) => expect(conflicts([nicPolicyText("a")], lines)).toEqual(expected));
});
