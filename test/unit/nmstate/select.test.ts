import { describe, expect, it } from "vitest";
import { claimKey } from "../../../core/claim.ts";
import { claimsOf, parkKey, selectNodes } from "../../../integrations/nmstate/select.ts";
import {
  documentsOf,
  issuesIn,
  nicPolicyText,
  nodesOf,
  policyText,
  poolText,
  read,
} from "../../support/schema/text.ts";

const nowhere = () => ({ file: "", line: 0, column: 0 });

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
      "nodes:4:1 policy a selects nodes by role, but only the name of bare is known",
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
    const claims = claimsOf(policy as never, nodesOf("n1\nn2"), nowhere);
    expect(claims.map(({ owner, name, pool, interface: nic }) => `${claimKey(owner, name)} ${pool} ${nic}`)).toEqual([
      "Node/n1/a/p p eth1",
      "Node/n1/a/six six eth1",
      "Node/n2/a/p p eth1",
      "Node/n2/a/six six eth1",
    ]);
  });

  it("has no NIC where the policy names none", () => {
    const [claim] = claimsOf(policyWith("{}"), nodesOf("n1"), nowhere);
    expect(claim).toEqual({ at: expect.any(Function), owner: { kind: "Node", name: "n1" }, name: "a/x", pool: "p" });
  });
});
