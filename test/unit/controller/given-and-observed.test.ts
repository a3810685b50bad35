import { describe, expect, it } from "vitest";
import { emptySnapshot, formatBlock } from "../../../core/index.ts";
import { capi } from "../../../integrations/capi/in-cluster.ts";
import { metal3InCluster } from "../../../integrations/metal3/in-cluster.ts";
import { nmstateInCluster } from "../../../integrations/nmstate/in-cluster.ts";
import { asBag, type Bag } from "../../../schema/objects.ts";
import { file } from "../../support/real/metal3-controller.ts";
import { SimController } from "../../support/sim/controller.ts";

const begin = () => {
  const integrations = [nmstateInCluster, capi("v1beta2"), metal3InCluster("metal3")];
  const sim = new SimController(undefined, undefined, undefined, integrations);
  sim.pool("p", "10.9.0.0/24", "10.9.0.20");
  return { sim, lines: () => sim.record.allocations.map((line) => `${formatBlock(line)} ${line.claim}`) };
};
const named = { name: "a", namespace: "metal3" };
const poolRef = { apiGroup: "nmstate.io", kind: "NodeIPPool", name: "p" };
const claim = {
  apiVersion: "ipam.cluster.x-k8s.io/v1beta2",
  kind: "IPAddressClaim",
  metadata: named,
  spec: { poolRef },
};
const infra = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "nodeippool-infra", namespace: "metal3" },
  data: { "infra.yaml": file(["n0"]) },
};

describe("an owner keeps its address although its own node reports it, too", () => {
  it("Cluster API: after clusterctl move (the pivot of a management cluster)", async () => {
    const { sim, lines } = begin();
    const labels = { "app.kubernetes.io/managed-by": "nodeippool-controller" };
    const metadata = { ...named, labels, finalizers: ["nmstate.io/protect-address"] };
    const spec = { claimRef: { name: "a" }, poolRef, address: "10.9.0.7", prefix: 24 };
    sim.create({ apiVersion: "ipam.cluster.x-k8s.io/v1beta2", kind: "IPAddress", metadata, spec } as never);
    sim.node("m1");
    sim.shows("m1", "10.9.0.7");
    sim.create(claim as never);
    await sim.pass(20_000);
    expect(lines()).toEqual(["10.9.0.7 IPAddressClaim/metal3:a/address"]);
  });

  it("Metal3: a Secret that was planned before is taken over", async () => {
    const { sim, lines } = begin();
    const network = {
      id: "lan",
      network_id: "lan",
      type: "ipv4",
      link: "em0",
      ip_address: "10.0.0.15",
      netmask: "255.255.255.0",
      routes: [],
    };
    const networkData = Buffer.from(JSON.stringify({ links: [], networks: [network], services: [] })).toString(
      "base64",
    );
    const metadata = {
      name: "controllers-n0",
      namespace: "metal3",
      labels: { "nodeippool.nmstate.io/owner": "controllers.n0" },
    };
    sim.create({ apiVersion: "v1", kind: "Secret", metadata, data: { networkData } } as never);
    sim.node("controllers-n0");
    sim.shows("controllers-n0", "10.0.0.15");
    sim.create(infra as never);
    await sim.pass(5000);
    expect(lines()).toEqual(["10.0.0.15 Host/controllers.n0/lan"]);
  });

  it.each([
    ["Cluster API", claim, "m1", "10.9.0.1"],
    ["Metal3", infra, "controllers-n0", "10.0.0.10"],
  ])("%s: the record is lost", async (_, object, node, ip) => {
    const { sim, lines } = begin();
    sim.create(object as never);
    await sim.pass(3000);
    sim.node(node);
    sim.shows(node, ip);
    await sim.pass(3000);
    const before = lines();
    sim.record = emptySnapshot;
    sim.engine.resync();
    await sim.pass(20_000);
    expect(lines()).toEqual(before);
  });

  const [machines, of] = ["cluster.x-k8s.io/machine", "cluster.x-k8s.io/cluster-namespace"];
  it.each<[string, Bag, boolean]>([
    ["a machine of Cluster API in the namespace of the claim", { [machines]: "a", [of]: "metal3" }, false],
    ["a machine of Cluster API in another namespace", { [machines]: "a", [of]: "other" }, true],
    ["no machine of Cluster API", {}, true],
  ])("and that is a collision unless the cluster says so: the node is %s", async (_, annotations, isCollision) => {
    const { sim } = begin();
    const hasCollision = () => JSON.stringify(sim.object("NodeIPPool", "p")?.status).includes("IPCollision");
    sim.create(claim as never);
    await sim.pass(3000);
    sim.node("m1");
    sim.shows("m1", "10.9.0.1");
    await sim.pass(3000);
    expect(hasCollision()).toBe(true);
    sim.change("Node", "m1", (one) => ({ ...one, metadata: { ...asBag(one.metadata), annotations } }));
    await sim.pass(3000);
    expect(hasCollision()).toBe(isCollision);
    sim.shows("m2", "10.9.0.1");
    await sim.pass(3000);
    expect(hasCollision()).toBe(true);
  });

  it("and that of a host is none on the node of its name", async () => {
    const { sim } = begin();
    sim.create(infra as never);
    await sim.pass(3000);
    const told = () => sim.said.filter((text) => text.includes("IPCollision"));
    const [line] = sim.lines();
    expect(line).toBe("10.0.0.10 Host/controllers.n0/lan");
    sim.node("controllers-n0");
    sim.shows("controllers-n0", "10.0.0.10");
    await sim.pass(3000);
    expect(told()).toEqual([]);
    sim.shows("worker", "10.0.0.10");
    await sim.pass(3000);
    expect(told()).not.toEqual([]);
  });
});
