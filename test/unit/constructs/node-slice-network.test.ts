import { ApiObject, Chart } from "cdk8s";
import { describe, expect, it } from "vitest";
import { NodeIPPool, NodeNetworkPolicy, NodeSliceNetwork, Nodes } from "../../../constructs/index.ts";
import {
  appOf,
  type Build,
  drift,
  linesOf,
  nic,
  nothing,
  objectsByName,
  objectsOf,
  recordAfter,
  refusal,
} from "../../support/cli/constructs-app.ts";
import { attachment, slicePool } from "../../support/objects/whereabouts-objects.ts";

const configOf = (ipam: object, name = "storage") => ({
  name,
  type: "macvlan",
  ipam: { type: "whereabouts", ...ipam },
});
const config = configOf({ range: "10.1.0.0/16", node_slice_size: "/24" });
const network: Build = (chart) => void new NodeSliceNetwork(chart, "storage", { config, nodes: Nodes.named("a", "b") });

describe("NodeSliceNetwork", () => {
  it("is a definition, and the NodeSlicePool beside it", async () => {
    expect(linesOf(await recordAfter(network))).toEqual(["10.1.0.0/24 Node/a/storage", "10.1.1.0/24 Node/b/storage"]);
    expect(await objectsOf(network)).toEqual([
      {
        apiVersion: "k8s.cni.cncf.io/v1",
        kind: "NetworkAttachmentDefinition",
        metadata: { name: "storage", namespace: "default" },
        spec: { config: JSON.stringify(config) },
      },
      {
        apiVersion: "whereabouts.cni.cncf.io/v1alpha1",
        kind: "NodeSlicePool",
        metadata: { name: "storage", namespace: "kube-system", annotations: expect.anything() },
        spec: { range: "10.1.0.0/16", sliceSize: "/24" },
        status: {
          allocations: [
            { nodeName: "a", sliceRange: "10.1.0.0/24" },
            { nodeName: "b", sliceRange: "10.1.1.0/24" },
          ],
        },
      },
    ]);
  });

  it("is for the nodes alone that its annotation selects", async () => {
    const some: Build = (chart) =>
      void new NodeSliceNetwork(chart, "storage", {
        config,
        nodes: Nodes.of({ name: "a", labels: { infra: "" } }, { name: "b", labels: {} }),
        metadata: { annotations: { "nodeippool.nmstate.io/node-selector": "!infra" } },
      });
    expect(linesOf(await recordAfter(some))).toEqual(["10.1.0.0/24 Node/b/storage"]);
  });

  it("two of one network have one NodeSlicePool, for the nodes of both; policies of other nodes get none", async () => {
    const shared: Build = (chart, app) => {
      new NodeSliceNetwork(chart, "one", { config, nodes: Nodes.named("a") });
      const other = new Chart(app, "other", { namespace: "apps" });
      new NodeSliceNetwork(other, "two", { config, nodes: Nodes.named("b") });
      const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/24" } });
      new NodeNetworkPolicy(chart, "lan", { nodes: Nodes.named("c"), desiredState: nic("eth1", pool.claim("p")) });
    };
    const objects = await objectsByName(shared);
    expect(Object.keys(objects).filter((name) => name.startsWith("NodeSlicePool"))).toEqual(["NodeSlicePool/storage"]);
    expect(objects["NodeSlicePool/storage"]).toMatchObject({
      status: { allocations: [{ nodeName: "a" }, { nodeName: "b" }] },
    });
    expect(objects["NetworkAttachmentDefinition/two"]).toMatchObject({ metadata: { namespace: "apps" } });
  });

  it("is drift where the record lacks a node", () => {
    expect(drift(appOf(network, { record: nothing }))).toContain("10.1.0.0/24  a  storage");
  });

  it("a definition and a NodeSlicePool that somebody else makes stay as they are", async () => {
    const plain: Build = (chart) => {
      const pool = new NodeIPPool(chart, "p", { range: { cidr: "10.0.0.0/24" } });
      new NodeNetworkPolicy(chart, "lan", { nodes: Nodes.named("a"), desiredState: nic("eth1", pool.claim("p")) });
      new ApiObject(chart, "net", attachment("net", { range: "10.2.0.0/16", node_slice_size: "/24" }) as never);
      new ApiObject(chart, "slices", slicePool("net", "10.2.0.0/16", "/24", { a: "10.2.0.0/24" }) as never);
    };
    const objects = await objectsByName(plain);
    expect(objects["NodeSlicePool/net"]).toMatchObject({ status: { allocations: [{ nodeName: "a" }] } });
    expect(objects["NetworkAttachmentDefinition/net"]).toBeDefined();
  });

  it.each([
    [configOf({ range: "10.1.0.0/16" }), "network/n: spec.config has no IPAM of type whereabouts with node_slice_size"],
    [configOf({ range: "10.1.0.0/16", node_slice_size: "/31" }), 'network/n: ipam: node_slice_size is "/31"'],
  ])("refuses %j", (wrong, message) => {
    const build: Build = (chart) => void new NodeSliceNetwork(chart, "n", { config: wrong, nodes: Nodes.named("a") });
    expect(refusal(() => appOf(build))).toContain(message);
  });

  it("refuses two of one network that differ", () => {
    const other = configOf({ range: "10.1.0.0/16", node_slice_size: "/25" });
    const build: Build = (chart) => {
      for (const [id, one] of Object.entries({ a: config, b: other }))
        new NodeSliceNetwork(chart, id, { config: one, nodes: Nodes.named("n") });
    };
    expect(drift(appOf(build, { record: nothing }))).toContain(
      "default/a and default/b share network storage, and differ in node_slice_size: /24 and /25",
    );
  });
});
