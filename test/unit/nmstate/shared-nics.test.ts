import { describe, expect, it } from "vitest";
import { claimsOf } from "../../../integrations/nmstate/select.ts";
import { refuseSharedNics } from "../../../integrations/nmstate/shared-nics.ts";
import type { Policy } from "../../../schema/policy.ts";
import { lineOf } from "../../support/core-text.ts";
import { documentsOf, issuesIn, nicPolicyText, nodesOf, poolText, read } from "../../support/schema-text.ts";

describe("refuseSharedNics", () => {
  const pools = documentsOf(
    poolText(),
    poolText("  range: {cidr: 10.1.0.0/24}", "q"),
    poolText("  range: {cidr: 2001:db8::/64}", "six"),
  );
  const claimsOn = (policies: readonly Policy[]) => policies.flatMap((policy) => claimsOf(policy, nodesOf("n1\nn2")));
  const refused = (...policies: string[]) => {
    const { policies: found, pools: defined } = read(documentsOf(pools, ...policies));
    return issuesIn(() => refuseSharedNics(claimsOn(found), defined));
  };
  const on = (nodes: string) => `  nodeSelector: {kubernetes.io/hostname: ${nodes}}\n`;

  it("two policies for one NIC and family: each would wipe the other's addresses", () => {
    expect(refused(nicPolicyText("a"), nicPolicyText("b", ["q"]))).toEqual([
      expect.stringMatching(/^policies a and b both set the IPv4 addresses of eth1 on .*n1; nmstate replaces the/),
    ]);
  });

  it.each([
    ["the same NIC, family and node", "10.0.0.9 Node/n1/z/x if=eth1 set=other", 1],
    ["another NIC", "10.0.0.9 Node/n1/z/x if=eth2 set=other", 0],
    ["another family", "2001:db8::9 Node/n1/z/x if=eth1 set=other", 0],
    ["another node", "10.0.0.9 Node/n9/z/x if=eth1 set=other", 0],
    ["nobody knows which NIC", "10.0.0.9 Node/n1/z/x set=other", 0],
    ["what an import recorded", "10.0.0.9 Node/n1/z/x if=eth1 set=imported", 0],
    ["of the same set", "10.0.0.9 Node/n1/z/x if=eth1 set=default", 0],
  ])("a line of another claim set: %s", (_, line, count) => {
    const { policies, pools: defined } = read(documentsOf(pools, nicPolicyText("a")));
    const issues = issuesIn(() => refuseSharedNics(claimsOn(policies), defined, [lineOf(line)]));
    expect(issues).toHaveLength(count);
  });

  it("names every pair, once", () => {
    const issues = refused(
      nicPolicyText("a"),
      nicPolicyText("b", ["q"]),
      nicPolicyText("c", ["p"], "eth2"),
      nicPolicyText("d", ["q"], "eth2"),
    );
    expect(issues.map((issue) => issue.slice(0, 16))).toEqual(["policies a and b", "policies c and d"]);
  });

  it.each([
    ["another NIC", [nicPolicyText("a"), nicPolicyText("b", ["q"], "eth2")]],
    ["another family", [nicPolicyText("a"), nicPolicyText("b", ["six"])]],
    ["another node", [nicPolicyText("a", ["p"], "eth1", on("n1")), nicPolicyText("b", ["q"], "eth1", on("n2"))]],
    ["one policy, two pools", [nicPolicyText("a", ["p", "q"])]],
    ["two policies, one pool", [nicPolicyText("a"), nicPolicyText("b", ["p"], "eth2")]],
  ])("%s is fine", (_, policies) => {
    expect(refused(...policies)).toEqual([]);
  });
});
