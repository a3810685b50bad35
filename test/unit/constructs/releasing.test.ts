import { Chart } from "cdk8s";
import { describe, expect, it } from "vitest";
import { NodeIPPool, NodeNetworkPolicy, Nodes } from "../../../constructs/index.ts";
import {
  appOf,
  type Build,
  linesOf,
  nic,
  objectsByName,
  recordAfter,
  synthesised,
} from "../../support/cli/constructs-app.ts";

const labelled = (...workers: string[]) =>
  Nodes.of(
    ...["n1", "n2"].map((name) => ({
      name,
      labels: { "kubernetes.io/hostname": name, ...(workers.includes(name) ? { role: "worker" } : {}) },
    })),
  );
const nncp = (name: string) => `NodeNetworkConfigurationPolicy/${name}`;

/** Policy `a` for workers, with a route; policy `b` for all nodes. Any of them may be left out. */
const app =
  (nodes: Nodes, ...policies: string[]): Build =>
  (chart) => {
    const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/24" }, gateway: "10.0.0.1" });
    const eth1 = pool.claim("eth1");
    const config = [{ destination: "192.0.2.0/24", "next-hop-address": eth1.gateway, "next-hop-interface": "eth1" }];
    if (policies.includes("a"))
      new NodeNetworkPolicy(chart, "a", {
        nodes,
        nodeSelector: { role: "worker" },
        desiredState: { ...nic("eth1", eth1), routes: { config } },
      });
    if (policies.includes("b"))
      new NodeNetworkPolicy(chart, "b", { nodes, desiredState: nic("eth2", pool.claim("x")) });
  };

describe("an address that is given up", () => {
  it("is taken off a node that the policy is for no more", async () => {
    const record = await recordAfter(app(labelled("n1", "n2"), "a"));
    const objects = await objectsByName(app(labelled("n2"), "a"), { record });
    expect(Object.keys(objects)).toEqual(["NodeIPPool/p", nncp("a--n1"), nncp("a--n2")]);
    expect(objects[nncp("a--n1")].spec).toEqual({
      nodeSelector: { "kubernetes.io/hostname": "n1" },
      desiredState: {
        routes: { config: [{ destination: "192.0.2.0/24", "next-hop-interface": "eth1", state: "absent" }] },
        interfaces: [{ name: "eth1", ipv4: { enabled: false } }],
      },
    });
  });

  it("is taken off every node whose policy is gone from the app", async () => {
    const record = await recordAfter(app(labelled("n1"), "a", "b"));
    const objects = await objectsByName(app(labelled("n1"), "b"), { record });
    expect(Object.keys(objects).sort()).toEqual(["NodeIPPool/p", nncp("a--n1"), nncp("b--n1"), nncp("b--n2")]);
    expect(objects[nncp("a--n1")].spec.desiredState).toEqual({
      interfaces: [{ name: "eth1", ipv4: { enabled: false } }],
    });
  });

  it("needs no object where the node is gone as well; the address stays releasing", async () => {
    const record = await recordAfter(app(Nodes.named("n1", "n2"), "b"));
    const after = await recordAfter(app(Nodes.named("n2"), "b"), { record });
    expect(linesOf(after)).toEqual(["10.0.0.3 Node/n2/b/x", "10.0.0.2 Node/n1/b/x releasing"]);
    const objects = synthesised(appOf(app(Nodes.named("n2"), "b"), { record: after }));
    expect(objects.map(({ metadata }) => metadata.name)).toEqual(["p", "b--n2"]);
  });

  it("comes back to the node while nobody else has it", async () => {
    const all = app(labelled("n1", "n2"), "a");
    const record = await recordAfter(all);
    const without = await recordAfter(app(labelled("n2"), "a"), { record });
    expect(linesOf(await recordAfter(all, { record: without }))).toEqual(linesOf(record));
  });

  it("is taken off again when the app is synthesised with more in it", async () => {
    const nodes = labelled("n1");
    const record = await recordAfter(app(nodes, "a", "b"));
    const before = await recordAfter(app(nodes, "b"), { record });
    const gone = appOf(app(nodes, "b"), { record: before });
    const once = synthesised(gone);
    new NodeNetworkPolicy(gone.charts[0] as Chart, "c", { desiredState: nic("eth3") });
    expect(synthesised(gone).map(({ metadata }) => metadata.name)).toEqual([
      ...once.map(({ metadata }) => metadata.name).filter((name) => name !== "a--n1"),
      "c",
      "a--n1",
    ]);
  });

  it("goes into a chart, though a pool of another app is in none", async () => {
    const build =
      (...names: string[]): Build =>
      (chart, root) => {
        const pool = new NodeIPPool(root, "a-pool", { range: { cidr: "10.0.0.0/24" }, external: true });
        for (const name of names)
          new NodeNetworkPolicy(chart, name, { nodes: labelled(), desiredState: nic(name, pool.claim("x")) });
      };
    const record = await recordAfter(build("eth1", "eth2"));
    expect(Object.keys(await objectsByName(build("eth1"), { record }))).toContain(nncp("eth2--n1"));
  });

  it("does not go with the chart that the policy was in", async () => {
    const inChart =
      (...policies: string[]): Build =>
      (_, root) =>
        app(labelled("n1"), ...policies)(new Chart(root, "z"), root);
    const record = await recordAfter(inChart("a", "b"));
    const objects = await objectsByName(
      (chart, root) => {
        new NodeNetworkPolicy(chart, "other", { desiredState: nic("eth4") });
        inChart("b")(chart, root);
      },
      { record },
    );
    expect(Object.keys(objects)).toContain(nncp("a--n1"));
  });
});
