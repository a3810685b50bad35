import { describe, expect, it } from "vitest";
import { claimKey } from "../../../src/core/claim.ts";
import { claimsOf, parkKey, refuseSharedNics, selectNodes } from "../../../src/nmstate/select.ts";
import type { Policy } from "../../../src/schema/policy.ts";
import { lineOf } from "../../support/core-text.ts";
import {
  documentsOf,
  issuesIn,
  nicPolicyText,
  nodesOf,
  policyText,
  poolText,
  read,
} from "../../support/schema-text.ts";

const nodes = nodesOf(
  `
w1 kubernetes.io/hostname=w1,role=worker,zone=a
w2 kubernetes.io/hostname=w2,role=worker,zone=b
c1 kubernetes.io/hostname=host-c1,role=control,empty=
bare`.trimStart(),
);

const policyWith = (nodeSelector: string) => {
  const spec = `  nodeSelector: ${nodeSelector}\n  capture: {x: ippool.p.allocate}`;
  const [policy] = read(documentsOf(poolText(), policyText(spec))).policies;
  if (policy === undefined) throw new Error("no policy");
  return policy;
};
const selected = (nodeSelector: string, from = nodes) =>
  selectNodes(policyWith(nodeSelector), from).map(({ name }) => name);

describe("selectNodes", () => {
  const known = nodes.filter(({ bare }) => !bare);
  it.each([
    ["{}", ["w1", "w2", "c1"]],
    ["{role: worker}", ["w1", "w2"]],
    ["{role: worker, zone: b}", ["w2"]],
    ["{role: nobody}", []],
    ['{empty: ""}', ["c1"]],
    ['{zone: ""}', []],
    ["{kubernetes.io/hostname: host-c1}", ["c1"]],
    ["{kubernetes.io/hostname: c1}", []],
    [`{role: worker, ${parkKey}: parked}`, ["w1", "w2"]],
    [`{${parkKey}: parked}`, ["w1", "w2", "c1"]],
  ])("%s", (nodeSelector, names) => {
    expect(selected(nodeSelector, known)).toEqual(names);
  });

  it("~ is no selector at all", () => {
    expect(selected("", known)).toEqual(["w1", "w2", "c1"]);
  });

  it("a bare name is its own hostname label", () => {
    expect(selected("{}")).toEqual(["w1", "w2", "c1", "bare"]);
    expect(selected("{kubernetes.io/hostname: bare}")).toEqual(["bare"]);
  });

  it("a bare name under any other selector is invalid, one issue for all of them", () => {
    const more = [...nodes, ...nodesOf("bare-2")];
    expect(issuesIn(() => selected("{role: worker}", more))).toEqual([
      "policy a selects nodes by role, but only the name of bare is known",
    ]);
  });

  it("whatever the rest of the selector says: the answer must not hang on its order", () => {
    for (const order of ["{kubernetes.io/hostname: w1, role: worker}", "{role: worker, kubernetes.io/hostname: w1}"]) {
      const refused = issuesIn(() => selected(order));
      expect(refused).toEqual(issuesIn(() => selected("{kubernetes.io/hostname: w1, role: worker}")));
    }
  });
});

describe("claimsOf", () => {
  it("is one claim for each node and capture, named by policy and capture", () => {
    const text = documentsOf(
      poolText(),
      poolText("  range: {cidr: 2001:db8::/64}", "six"),
      nicPolicyText("a", ["p", "six"]),
    );
    const [policy] = read(text).policies;
    const claims = claimsOf(policy as never, nodesOf("n1\nn2"));
    expect(claims.map(({ owner, name, pool, interface: nic }) => `${claimKey(owner, name)} ${pool} ${nic}`)).toEqual([
      "Node/n1/a/p p eth1",
      "Node/n1/a/six six eth1",
      "Node/n2/a/p p eth1",
      "Node/n2/a/six six eth1",
    ]);
  });

  it("has no NIC where the policy names none", () => {
    const [claim] = claimsOf(policyWith("{}"), nodesOf("n1"));
    expect(claim).toEqual({ owner: { kind: "Node", name: "n1" }, name: "a/x", pool: "p" });
  });
});

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
